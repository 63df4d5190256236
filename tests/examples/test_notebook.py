"""The notebook: its cells run from top to bottom, on less data and without a kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "training.ipynb"
SIZES = "INTERACTIONS, EPOCHS = 1000, 8"


@pytest.fixture
def cells() -> list[str]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["language"]) == (4, "python")
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in code), "clear the outputs: they are another machine's"
    return ["".join(cell["source"]) for cell in code]


def test_trains_plots_and_follows(cells, tmp_path, monkeypatch, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    assert SIZES in cells[0]
    names = {}
    for number, cell in enumerate(cells, start=1):
        exec(compile(cell.replace(SIZES, "INTERACTIONS, EPOCHS = 40, 1"), f"cell {number}", "exec"), names)
    for picture in ("curves.svg", "interaction.svg"):
        assert "</svg>" in (tmp_path / "runs" / "notebook" / picture).read_text()
    output = capsys.readouterr().out
    assert "epoch 1: " in output
    assert "put it back in third place -> " in output
    before = names["run"].history
    exec(cells[2], names)  # once more: the run is finished, and stays as it is
    assert names["run"].history == before

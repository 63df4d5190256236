"""Worlds are found by name, in Python and in files, and a reference does all that a name does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import SMALL, run
from lamps import Lamps, interactions

from sestra import Agent
from sestra.data import locate, scone, sources
from sestra.errors import InputError
from sestra.worlds import WORLDS, World, get_world
from sestra.worlds.alchemy import grammar
from sestra.worlds.alchemy.drawing import DRAWING
from sestra.worlds.alchemy.world import Alchemy

PACKAGE = Path(__file__).parents[2]
LAMPS = f"{PACKAGE / 'tests' / 'lamps.py'}:Lamps"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for split, seed in (("train", 1), ("dev", 2)):
        scone.write(folder / f"lamps-{split}.tsv", Lamps(), interactions(20, seed=seed))
    return folder


def test_one_instance_per_class():
    assert get_world("alchemy") is get_world("sestra.worlds.alchemy.world:Alchemy") is get_world(get_world("alchemy"))
    assert type(get_world("alchemy")) is Alchemy
    assert WORLDS.reference(Alchemy) == "alchemy"


def test_registered_in_python(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(WORLDS, "_registered", {})
    monkeypatch.setattr(WORLDS, "_references", {})
    WORLDS.register("my-lamps", Lamps)
    assert WORLDS.names() == ["alchemy", "scene", "tangrams", "my-lamps"]
    assert type(get_world("my-lamps")) is Lamps
    assert WORLDS.reference(Lamps) == LAMPS, "found from anywhere"
    assert get_world(LAMPS) is get_world("my-lamps")
    assert scone.world_of("my-lamps-train.tsv") == "my-lamps"
    with pytest.raises(InputError, match=r"expected a subclass of sestra\.worlds\.World"):
        WORLDS.register("nothing", dict)


def test_a_class_that_no_other_process_finds_has_its_name_alone(monkeypatch: pytest.MonkeyPatch):
    class Inner(Lamps):
        """Defined in a function."""

    monkeypatch.setattr(WORLDS, "_registered", {})
    monkeypatch.setattr(WORLDS, "_references", {})
    with pytest.raises(InputError, match="is not defined at the top level of a file"):
        WORLDS.reference(Inner)
    WORLDS.register("inner", Inner)
    assert WORLDS.reference(Inner) == "inner"


SCRIPT = """
import sestra
from sestra.worlds import WORLDS
from lamps import Lamps, interactions


class Kitchen(Lamps):
    pass


if __name__ == "__main__":
    WORLDS.register("kitchen", Kitchen)
    sestra.train("kitchen", interactions(20, seed=1), out="run", epochs=1, embedding=4, hidden=6)
"""


def test_a_run_of_a_registered_world_is_evaluated_by_another_process(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "kitchen.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(PACKAGE), str(PACKAGE / "tests")))}
    subprocess.run([sys.executable, "kitchen.py"], cwd=tmp_path, check=True, env=environment, capture_output=True)
    status, output, errors = run(capsys, "evaluate", tmp_path / "run", "--data", data)
    assert (status, errors) == (0, "")
    assert "Inst" in output


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        ("chess", "unknown world 'chess'; expected one of alchemy, scene, tangrams"),
        ("", "'' is not the name of a world"),
        ("nowhere.py:Shelf", "nowhere.py: no such file"),
        (LAMPS.replace(":Lamps", ":Beakers"), "has no 'Beakers' in it"),
        (LAMPS.replace(":Lamps", ":interactions"), "expected a subclass of sestra.worlds.World"),
    ],
)
def test_what_is_no_world_is_refused(reference: str, complaint: str):
    with pytest.raises(InputError) as caught:
        get_world(reference)
    assert complaint in str(caught.value)


def test_data_of_a_world_in_a_file(data: Path):
    assert [*locate.files(data)] == [("lamps", "train"), ("lamps", "dev")]
    loaded, source = sources.load(LAMPS, "dev", data)
    assert source.name == "lamps-dev.tsv"
    assert loaded == interactions(20, seed=2)


def test_a_world_in_a_file_is_trained_followed_and_drawn(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path, tmp_path: Path
):
    assert run(capsys, "data", "check", "--world", LAMPS, data / "lamps-dev.tsv")[0] == 0
    monkeypatch.chdir(Path(__file__).parents[1])
    run_folder = tmp_path / "run"
    assert run(capsys, "train", "--world", "lamps.py:Lamps", "--data", data, "--out", run_folder, *SMALL)[0] == 0
    monkeypatch.chdir(tmp_path)
    assert json.loads((run_folder / "config.json").read_text())["world"] == LAMPS, "found from anywhere"
    assert run(capsys, "evaluate", run_folder, "--data", data)[0] == 0
    trace = Agent.from_pretrained(run_folder).follow("1:_ 2:_ 3:r", ["light one red"])
    assert trace.world == "lamps"
    trace.draw("trace.svg")
    assert "light one red" in Path("trace.svg").read_text()
    status, _, err = run(capsys, "run", "--world", "scene", "--agent", run_folder, "--state", "1:_ 2:_ 3:r", "put out three")
    assert status == 2
    assert "acts in lamps, not in scene" in err


def test_parts_are_optional():
    lamps: World[str] = Lamps()
    parts = (lamps.drawing(), lamps.grammar(), lamps.phrases(), lamps.features(), lamps.state_encoder(), lamps.analysis())
    assert parts == (None,) * 6


def test_parts_lie_beside_the_module_world():
    class Mine(Alchemy):
        """Derived from a world that has all parts."""

    for world in (Alchemy(), Mine()):
        assert world.drawing() is DRAWING
        assert world.grammar() is grammar
        assert world.features() is not None
        assert world.state_encoder().__name__ == "BeakerEncoder"


def test_importing_worlds_imports_no_world():
    program = (
        "import sys, sestra.worlds; print(sorted(name for name in sys.modules if name.startswith('sestra.worlds.') or name == 'torch'))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "['sestra.worlds.base', 'sestra.worlds.registry']\n"

"""What the tests of the examples share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import run
from lamps import Lamps, interactions
from lifecycle import BROKEN, EXAMPLES, Lifecycle
from small_runs import measure

from sestra.data.batch import encode_turns
from sestra.data.sources import Source
from sestra.learning.config import TrainConfig
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.learning.trainer import Trainer
from sestra.worlds import WORLDS


@pytest.fixture
def lifecycle(capsys: pytest.CaptureFixture[str], small_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lifecycle:
    monkeypatch.chdir(tmp_path)
    return Lifecycle(capsys, monkeypatch, small_data, tmp_path)


@pytest.fixture
def accuracy_on_lamps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[TrainConfig], float]:
    """Trains on a toy world for a few seconds and measures on unseen instructions, in percent."""
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)

    def train(config: TrainConfig) -> float:
        training = Trainer(config, interactions(300, seed=1), RunFolder(tmp_path / "lamps"))
        training.folder.create(config, training.vocabulary, Source("lamps", "0"))
        training.run()
        trained = load_trained(training.folder)
        unseen = encode_turns(interactions(100, seed=2), trained.vocabulary, trained.tables)
        return measure(trained.policy, trained.tables, unseen).inst.percent

    return train


@pytest.fixture
def check_broken(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("class Plain:\n    pass\n\n\nFUNCTION = lambda: None\n")
    (tmp_path / "wrong.py").write_text("class Thing(:\n")
    (tmp_path / "needy.py").write_text("import nowhere\n")

    def check(reference: str, kind: str) -> None:
        example = EXAMPLES / f"own_{kind}.py"
        for command in ("train", "sweep"):
            status, output, errors = run(capsys, command, f"--{kind}", reference.format(example=example), "--out", "run")
            assert (status, output) == (2, "")
            assert errors.startswith((f"sestra: {kind} '", f"sestra: unknown {kind} '"))
            assert BROKEN[reference] in errors
            assert errors.count("\n") == 1
        assert not (tmp_path / "run").exists()

    return check

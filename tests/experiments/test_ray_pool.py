"""The grid on Ray: killed drivers and workers, failures, budgets; what is resumed ends in the same bits."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import run, start
from lamps import Lamps
from small_runs import state_of

from sestra.cli import main
from sestra.data import scone
from sestra.experiments import ray_pool as ray_runs
from sestra.experiments import records
from sestra.experiments.trials import NOTE, registered
from sestra.learning.run_folder import RunFolder
from sestra.worlds import WORLDS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("started_ray")]
NAMES = ["lamps-supervised-1", "lamps-sestra-1"]
EPOCHS = 24


def arguments(data: Path, base: Path, *more: str) -> list[str]:
    grid = ["--worlds", "lamps", "--systems", "supervised", "sestra", "--seeds", "1", "--epochs", str(EPOCHS)]
    return ["paper", "run", *grid, "--data", str(data), "--runs", str(base / "runs"), "--results", str(base / "results"), *more]


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory) -> dict[str, tuple]:
    """What runs leave that nobody interrupted, made by the command for one run."""
    base = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(WORLDS._registered, "lamps", Lamps)
        for name in NAMES:
            learner = name.removeprefix("lamps-").removesuffix("-1")
            flags = ["--world", "lamps", "--learner", learner, "--data", str(data), "--epochs", str(EPOCHS)]
            assert main(["train", *flags, "--out", str(base / name)]) == 0
    return {name: state_of(RunFolder(base / name)) for name in NAMES}


def states(base: Path) -> dict[str, tuple]:
    return {name: state_of(RunFolder(base / "runs" / name)) for name in NAMES}


def times(base: Path, name: str) -> list[float]:
    """The seconds at the end of each epoch so far: another time if it was trained again."""
    try:
        found: list[float] = json.loads((base / "runs" / name / "times.json").read_text())
    except FileNotFoundError:
        return []
    return found


def until(condition: Callable[[], object], seconds: float = 200) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_grid_is_run_and_then_left_alone(capsys, data, tmp_path, whole):
    status, output, _ = run(capsys, *arguments(data, tmp_path))
    assert status == 0
    assert "2 of 2 runs are finished, 2 of them now" in output
    assert states(tmp_path) == whole
    found = records.read_all(tmp_path / "results")
    assert [record["name"] for record in found] == sorted(NAMES)
    assert all(record["splits"]["dev"]["data"]["name"] == "lamps-dev.tsv" for record in found)
    status, output, _ = run(capsys, *arguments(data, tmp_path), "--json")
    assert status == 0
    assert json.loads(output) == {"already": NAMES, "ended": [], "stopped": [], "failed": {}, "different": {}}
    status, output, _ = run(capsys, "paper", "list", *arguments(data, tmp_path)[2:], "--json")
    assert [row["state"] for row in json.loads(output)["runs"]] == [f"finished after epoch {EPOCHS}"] * 2


def test_killed_worker(capsys, data, tmp_path, whole):
    """SIGKILL in the middle of a run: it is continued from its checkpoint."""
    name = "lamps-sestra-1"
    kept = []

    def kill() -> None:
        until(lambda: len(times(tmp_path, name)) >= 2)
        kept.extend(times(tmp_path, name))
        os.kill(json.loads((tmp_path / "runs" / name / NOTE).read_text())["pid"], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    status, _, errors = run(capsys, *arguments(data, tmp_path))
    killer.join()
    assert status == 0
    assert f"{name}: " in errors
    assert "tried again from its last checkpoint" in errors
    assert states(tmp_path) == whole
    assert 2 <= len(kept) <= EPOCHS
    assert times(tmp_path, name)[: len(kept)] == kept, "no finished epoch was trained again"


def test_killed_driver(capsys, data, tmp_path, whole):
    """SIGKILL: its workers go with it, and the same command continues where they were."""
    driver = start(arguments(data, tmp_path, "--cpus", "2"), stderr=(tmp_path / "errors").open("w"))
    try:
        until(lambda: driver.poll() is not None or any(times(tmp_path, name) for name in NAMES))
        assert driver.poll() is None, (tmp_path / "errors").read_text()
        notes = [tmp_path / "runs" / name / NOTE for name in NAMES]
        workers = [json.loads(note.read_text())["pid"] for note in notes if note.exists()]
    finally:
        driver.kill()
        driver.wait()
    assert workers
    until(lambda: all(gone(pid) for pid in workers))
    kept = {name: times(tmp_path, name) for name in NAMES}
    assert any(len(epochs) < EPOCHS for epochs in kept.values())
    status, output, _ = run(capsys, *arguments(data, tmp_path))
    assert status == 0
    assert "2 of 2 runs are finished" in output
    assert states(tmp_path) == whole
    assert all(times(tmp_path, name)[: len(epochs)] == epochs for name, epochs in kept.items())


def test_budget(capsys, data, tmp_path):
    status, output, _ = run(capsys, *arguments(data, tmp_path, "--budget", "0s"))
    assert status == 0
    assert "0 of 2 runs are finished, 0 of them now; 2 stopped, to be continued by the same command" in output
    assert records.read_all(tmp_path / "results") == []
    assert times(tmp_path, NAMES[0]) == []


class Moody(Lamps):
    """Fails until it has been asked often enough; only workers ask, and only through files."""

    name = "moody"
    diary = Path()
    patience = 1

    def edit(self, content, edit):
        attempts = int(self.diary.read_text())
        if attempts < self.patience:
            self.diary.write_text(str(attempts + 1))
            raise RuntimeError("not in the mood")
        return super().edit(content, edit)


class Hopeless(Moody):
    name = "hopeless"
    patience = 3


@pytest.mark.parametrize("world", [Moody, Hopeless])
def test_failing_trial(capsys, monkeypatch, data, tmp_path, world):
    """It is tried again so many times; the world is this module's, and reaches the workers by value."""
    monkeypatch.setattr(world, "diary", tmp_path / "diary")
    monkeypatch.setitem(WORLDS._registered, world.name, world)
    (tmp_path / "diary").write_text("0")
    (tmp_path / "data").mkdir()
    for split in ("train", "dev"):
        scone.write(tmp_path / "data" / f"{world.name}-{split}.tsv", world(), scone.read(data / f"lamps-{split}.tsv", Lamps()))
    flags = ["--worlds", world.name, "--systems", "supervised", "--seeds", "1", "--epochs", "1", "--max-failures", "2"]
    where = ["--data", tmp_path / "data", "--runs", tmp_path / "runs", "--results", tmp_path / "results"]
    status, output, errors = run(capsys, "paper", "run", *flags, *where, "--json")
    report = json.loads(output)
    assert errors.count("RuntimeError: not in the mood; it is tried again") == min(2, world.patience)
    if world is Hopeless:
        assert status == 1
        assert report["failed"]["hopeless-supervised-1"].endswith("failed 3 times, the last time with: RuntimeError: not in the mood")
        assert not list((tmp_path / "results").glob("*.json"))
    else:
        assert status == 0
        assert report["ended"] == ["moody-supervised-1"]


def test_what_is_the_inputs_fault_is_not_tried_again(capsys, data, tmp_path):
    folder = tmp_path / "runs" / NAMES[0]
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{")
    status, output, errors = run(capsys, *arguments(data, tmp_path), "--json")
    assert status == 1
    assert "tried again" not in errors
    report = json.loads(output)
    assert "config.json: is not JSON" in report["failed"][NAMES[0]]
    assert report["ended"] == [NAMES[1]]


def test_without_scone_the_grid_is_on_generated_data(capsys, no_scone, tmp_path):
    flags = ["--worlds", "tangrams", "--systems", "sestra", "--seeds", "1", "--runs", tmp_path / "runs", "--results", tmp_path / "results"]
    status, output, errors = run(capsys, "paper", "run", *flags, "--budget", "0s", "--json")
    assert status == 0
    assert "SCONE was not found" in errors
    assert json.loads(output)["stopped"] == ["tangrams-sestra-1-generated"]


def test_ray_is_named_where_it_is_missing(capsys, monkeypatch, data, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    status, _, errors = run(capsys, *arguments(data, tmp_path))
    assert status == 2
    assert "pip install 'sestra[sweep]'" in errors


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--budget", "soon"], "expected a time such as 90m"),
        (["--budget", ""], "expected a time such as 90m"),
        (["--cpus", "0"], "--cpus 0: expected a whole number of at least 1"),
        (["--max-failures", "-1"], "--max-failures -1: expected a whole number of at least 0"),
        (["--seeds", "0"], "--seeds 0"),
        (["--worlds", "mars"], "unknown world 'mars'"),
        (["--systems", "sesame"], "unknown system 'sesame'"),
        (["--epochs", "0"], "--epochs 0"),
    ],
)
def test_wrong_flags(capsys, data, tmp_path, flags, complaint):
    status, _, errors = run(capsys, *arguments(data, tmp_path), *flags)
    assert status == 2
    assert complaint in errors
    assert not (tmp_path / "runs").exists()


def test_own_worlds_are_pickled_by_value(started_ray):
    assert registered()["world"] == {"lamps": Lamps}
    assert b"light" not in started_ray.cloudpickle.dumps(Lamps)
    with ray_runs.sent_by_value(started_ray, Lamps):
        assert b"light" in started_ray.cloudpickle.dumps(Lamps), "the class itself, not where to import it from"

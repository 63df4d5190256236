"""One trial, in this process: it is an ordinary run, it stops between epochs, and it adopts what it finds."""

from __future__ import annotations

import dataclasses
import itertools
import json
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import run
from small_runs import state_of

from sestra.data.sources import Source
from sestra.experiments import records, trials
from sestra.experiments.grid import SYSTEMS, Trial
from sestra.experiments.trials import Conditions, Job, work_on
from sestra.learning import checkpoint
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.run_folder import RunFolder

SMALL = {"epochs": 3, "policy": AttentionConfig(embedding=4, hidden=6)}
FLAGS = ["--dropout", "0", "--epochs", "3", "--embedding", "4", "--hidden", "6"]


def small(system: str = "sestra", **changes) -> Trial:
    config = SYSTEMS[system].config("lamps", 1).changed(**{**SMALL, **changes})
    return Trial(f"lamps-{system}-1", config, system)


def job(trial: Trial, runs: Path, data: Path, **conditions) -> Job:
    common = Conditions(runs, data, **conditions)
    return Job.of(trial, common, common.load("lamps")[1])


@pytest.mark.usefixtures("no_export")
@pytest.mark.parametrize("system", ["sestra", "supervised"])
def test_same_bits_as_train(capsys, data, tmp_path, system):
    outcome = work_on(job(small(system), tmp_path / "runs", data))
    assert outcome.state == "ended"
    assert run(capsys, "train", "--world", "lamps", "--learner", system, "--data", data, "--out", tmp_path / "train", *FLAGS)[0] == 0
    assert state_of(RunFolder(tmp_path / "runs" / f"lamps-{system}-1")) == state_of(RunFolder(tmp_path / "train"))


def test_record(capsys, data, tmp_path):
    folder = tmp_path / "runs" / "lamps-sestra-1"
    record = work_on(job(small(), tmp_path / "runs", data)).record
    assert run(capsys, "export", folder)[0] == 0
    status, output, _ = run(capsys, "evaluate", folder, "--data", data, "--json", "--out", tmp_path / "evaluated.json")
    assert status == 0
    evaluated = json.loads(output)
    assert json.loads((folder / "results.json").read_text()) == evaluated
    assert record["splits"].keys() == {"dev"}
    assert record["splits"]["dev"] == {name: evaluated[name] for name in records.FIGURES}
    assert (record["epochs"], record["ended"], record["generated"], record["different"]) == (3, "all 3 epochs", False, {})
    assert record["validation"]["inst"] == record["curve"]["inst"][record["best_epoch"] - 1]
    assert all(len(curve) == 3 for curve in record["curve"].values())
    assert record["model"] == {"name": "model.safetensors", "sha256": checkpoint.checksum(folder / "model.safetensors")}
    assert work_on(job(small(), tmp_path / "again", data)).record["model"] == record["model"], "the same weights, the same checksum"
    assert not (folder / trials.NOTE).exists()
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    assert records.read(path) == record
    del record["model"]
    path.write_text(json.dumps(record))
    assert records.read(path) == record, "as older records are"


@pytest.mark.usefixtures("no_export")
def test_run_of_train_is_adopted(capsys, data, tmp_path):
    assert run(capsys, "train", "--world", "lamps", "--data", data, "--out", tmp_path / "lamps-sestra-1", *FLAGS)[0] == 0
    before = state_of(RunFolder(tmp_path / "lamps-sestra-1"))
    outcome = work_on(job(small(), tmp_path, data))
    assert (outcome.state, outcome.record["different"]) == ("ended", {})
    assert state_of(RunFolder(tmp_path / "lamps-sestra-1")) == before


@pytest.mark.usefixtures("no_export")
def test_run_with_other_settings_counts_as_what_it_is(capsys, data, tmp_path):
    flags = [*FLAGS, "--epochs", "2", "--entropy", "0.3"]
    assert run(capsys, "train", "--world", "lamps", "--data", data, "--out", tmp_path / "lamps-sestra-1", *flags)[0] == 0
    outcome = work_on(job(small(), tmp_path, data))
    assert outcome.record["different"] == {"entropy": [0.1, 0.3], "epochs": [3, 2]}
    assert outcome.record["config"]["learner"] == {"name": "sestra", "entropy": 0.3}
    outcome = work_on(job(small(), tmp_path, data, strict=True))
    assert outcome.state == "failed"
    assert "entropy is 0.3, not 0.1" in outcome.message


@contextmanager
def clock():
    """Every look at it takes a second."""
    ticks = itertools.count(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "time", SimpleNamespace(time=lambda: next(ticks)))
        yield


def test_budget_ends_between_epochs_and_the_rest_comes_later(data, tmp_path):
    whole = work_on(job(small(epochs=6), tmp_path / "whole", data))
    with clock():
        assert work_on(job(small(epochs=6), tmp_path / "parts", data, deadline=0)).state == "stopped"
    assert not RunFolder(tmp_path / "parts" / "lamps-sestra-1").checkpoints()
    with clock():
        assert work_on(job(small(epochs=6), tmp_path / "parts", data, deadline=8)).state == "stopped"
    epochs = len(RunFolder(tmp_path / "parts" / "lamps-sestra-1").metrics.read_text().splitlines())
    assert 1 <= epochs < 6
    outcome = work_on(job(small(epochs=6), tmp_path / "parts", data))
    assert outcome.state == whole.state == "ended"
    assert state_of(RunFolder(tmp_path / "parts" / "lamps-sestra-1")) == state_of(RunFolder(tmp_path / "whole" / "lamps-sestra-1"))


def test_plateau_ends_a_run(data, tmp_path):
    outcome = work_on(job(small(epochs=100, learning_rate=1e-9), tmp_path, data, plateau=2))
    assert outcome.state == "ended"
    assert outcome.record["epochs"] == outcome.record["best_epoch"] + 2
    assert outcome.record["ended"] == "no better for 2 epochs"
    again = work_on(job(small(epochs=100, learning_rate=1e-9), tmp_path, data, plateau=2))
    assert again.record["epochs"] == outcome.record["epochs"]


def test_other_data_than_the_drivers_is_refused(data, tmp_path):
    outcome = work_on(dataclasses.replace(job(small(), tmp_path, data), source=Source("lamps-train.tsv", "f" * 64)))
    assert outcome.state == "failed"
    assert "other data than the driver" in outcome.message
    assert not (tmp_path / "lamps-sestra-1" / "config.json").exists()


def test_locked_run_is_left_alone(monkeypatch, data, tmp_path):
    import filelock

    (tmp_path / "lamps-sestra-1").mkdir()
    monkeypatch.setattr(trials, "LOCK_TIMEOUT", 0.05)
    with filelock.FileLock(tmp_path / "lamps-sestra-1" / "lock"):
        outcome = work_on(job(small(), tmp_path, data))
    assert outcome.state == "failed"
    assert "another process works on this run" in outcome.message


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda record: [record], "has no name"),
        (lambda record: {name: value for name, value in record.items() if name != "curve"}, "has no curve"),
        (lambda record: {**record, "config": {"world": "lamps", "sesame": 1}}, "unknown field 'sesame'"),
    ],
)
def test_damaged_records_are_named(data, tmp_path, change, complaint):
    from fake import record

    path = tmp_path / "one.json"
    path.write_text(json.dumps(change(record("scene", "sestra"))))
    with pytest.raises(trials.InputError, match=r"one\.json") as error:
        records.read(path)
    assert complaint in str(error.value)

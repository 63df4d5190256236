"""``sestra train``, ``evaluate`` and ``export`` as a user types them, on a small generated data set."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from commands import run

from sestra import __version__, checkpoint
from sestra.cli import main
from sestra.config import AttentionConfig, TrainConfig
from sestra.data import scone
from sestra.data.synthetic import generate
from sestra.runs import RunFolder
from sestra.worlds import get_world

ROOT = Path(__file__).parent.parent
SMALL = ["--epochs", "1", "--hidden", "8", "--embedding", "6", "--execution-horizon", "5"]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for world in ("scene", "tangrams"):
        for split, count, seed in (("train", 20, 1), ("dev", 8, 2)):
            scone.write(folder / f"{world}-{split}.tsv", get_world(world), generate(world, count, seed=seed))
    return folder


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory) -> Path:
    """A finished run on Scene; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    assert main(["train", "--world", "scene", "--data", str(data), "--out", str(folder), *SMALL]) == 0
    return folder


@pytest.fixture
def copied(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "copy"))


# From one end to the other.


@pytest.mark.parametrize("learner", ["sestra", "supervised"])
def test_train_evaluate_export(capsys, data, tmp_path, learner):
    out, agent = tmp_path / "run", tmp_path / "agents" / "mine"
    status, output, _ = run(
        capsys, "train", "--world", "tangrams", "--learner", learner, "--data", data, "--out", out, "--seed", "3", "--json", *SMALL
    )
    assert status == 0
    report = json.loads(output)
    assert (report["world"], report["learner"], report["seed"], report["epochs"]) == ("tangrams", learner, 3, 1)
    assert report["best"]["epoch"] == 1
    assert {"inst", "utts3", "utts5", "reward", "objective", "seconds"} <= report["best"].keys()
    assert {path.name for path in out.iterdir()} >= {"config.json", "vocab.json", "data.json", "metrics.jsonl", "model.safetensors"}

    status, output, _ = run(capsys, "evaluate", out, "--split", "dev", "--data", data, "--json")
    assert status == 0
    assert len(output.splitlines()) == 1
    report = json.loads(output)
    assert (report["world"], report["split"]) == ("tangrams", "dev")
    assert all(0 <= report[name] <= 100 for name in ("inst", "utts3", "utts5"))
    assert report["counts"]["inst"][1] == 40
    assert report["counts"]["utts5"][1] == report["counts"]["utts3"][1] == 8
    assert report["inst"] == pytest.approx(100 * report["counts"]["inst"][0] / 40)
    assert report["intervals"]["inst"][0] <= report["inst"] <= report["intervals"]["inst"][1]
    assert len(report["by_turn"]) == 5
    assert (report["seed"], report["version"], report["data"]["name"]) == (3, __version__, "tangrams-dev.tsv")
    assert len(report["data"]["sha256"]) == 64
    assert json.loads((out / "results.json").read_text()) == report

    status, output, _ = run(capsys, "export", out, "--to", agent)
    assert status == 0
    assert str(agent) in output
    status, output, _ = run(capsys, "evaluate", agent, "--data", data, "--json")
    assert status == 0
    assert json.loads(output)["counts"]["inst"][1] == 40
    assert not (agent / "results.json").exists()  # what ships is not written to


def test_evaluate_prints_a_table_turns_and_errors(capsys, data, trained, tmp_path):
    status, output, _ = run(
        capsys, "evaluate", trained, "--data", data, "--by", "turn", "--errors", "2", "--out", tmp_path / "results.json"
    )
    assert status == 0
    for text in ("Inst", "3utts", "5utts", "Inst, turn 5", "95% interval", "expected", "reached"):
        assert text in output
    assert output.count("expected") == 2
    assert (tmp_path / "results.json").exists()
    status, output, _ = run(capsys, "evaluate", trained, "--data", data, "--errors", "1000", "--json", "--out", tmp_path / "results.json")
    report = json.loads(output)
    right, of = report["counts"]["inst"]
    assert len(report["errors"]) == of - right
    for error in report["errors"]:
        assert error["expected"] != error["reached"]
        assert get_world("scene").parse(error["start"])


def test_evaluate_on_train(capsys, data, trained, tmp_path):
    status, output, _ = run(capsys, "evaluate", trained, "--data", data, "--split", "train", "--json", "--out", tmp_path / "results.json")
    assert status == 0
    assert json.loads(output)["counts"]["inst"][1] == 100


def test_short_interactions_give_json_that_others_can_read(capsys, trained, tmp_path):
    """With fewer than three turns there is no 3utts."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    scone.write(tmp_path / "scene-dev.tsv", get_world("scene"), generate("scene", 3, seed=1, turns=2))
    status, output, _ = run(capsys, "evaluate", trained, "--data", tmp_path, "--json", "--out", tmp_path / "results.json")
    assert status == 0
    assert json.loads(output, parse_constant=refuse)["counts"]["utts3"] == [0, 0]
    json.loads((tmp_path / "results.json").read_text(), parse_constant=refuse)


def test_progress_and_settings(capsys, data, tmp_path):
    status, output, errors = run(
        capsys, "train", "--world", "scene", "--data", data, "--out", tmp_path / "run", "--no-initial-state", "--dropout", "0.2", *SMALL
    )
    assert status == 0
    assert "sestra evaluate" in output
    assert "epoch   1" in errors
    assert "5utts" in errors
    config = RunFolder(tmp_path / "run").config()
    assert (config.policy.hidden, config.policy.dropout, config.policy.initial_state) == (8, 0.2, False)
    assert (config.horizon, config.verbosity) == (7, 0.2)  # those of Scene


def test_tensorboard(capsys, data, tmp_path):
    pytest.importorskip("tensorboard")
    status, _, _ = run(capsys, "train", "--world", "scene", "--data", data, "--out", tmp_path / "run", "--tensorboard", *SMALL)
    assert status == 0
    assert list((tmp_path / "run" / "tensorboard").glob("events*"))


def test_generated_data_where_there_is_no_scone(capsys, no_scone, monkeypatch, tmp_path):
    """And evaluation then says what it measured on."""
    monkeypatch.setattr("sestra.data.synthetic.TRAIN", 10)
    monkeypatch.setattr("sestra.data.synthetic.DEV", 4)
    status, _, errors = run(capsys, "train", "--world", "scene", "--out", tmp_path / "run", *SMALL)
    assert status == 0
    assert "generated interactions" in errors
    status, output, _ = run(capsys, "evaluate", tmp_path / "run", "--json")
    assert json.loads(output)["data"]["name"] == "generated dev"
    assert run(capsys, "evaluate", tmp_path / "run", "--split", "test")[0] == 2


# Help.


def test_every_setting_is_a_flag_with_its_help():
    code = """
import sys
from sestra.cli import main
try:
    main(["train", "--world", "scene", "--help"])
finally:
    print(sorted(set(sys.modules) & {"torch", "numpy", "tensorboard"}), file=sys.stderr)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stderr.strip() == "[]"
    for name in (field.name for kind in (TrainConfig, AttentionConfig) for field in dataclasses.fields(kind) if field.name != "policy"):
        assert f"--{name.replace('_', '-')}" in done.stdout or f"--no-{name.replace('_', '-')}" in done.stdout, name
    assert "0.07" in done.stdout  # Scene's entropy, not Alchemy's


# What goes wrong.


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--epochs", "0"], "--epochs 0"),
        (["--dropout", "2"], "--dropout 2"),
        (["--world", "mars"], "mars"),
        (["--learner", "magic"], "magic"),
        (["--preset", "best"], "best"),
        (["--hidden", "-1"], "--hidden -1"),
        (["--learning-rate", "nan"], "nan"),
        (["--epochs", "many"], "many"),
        (["--batch-size", "0"], "--batch-size 0"),
        (["--seed", "-1"], "--seed -1"),
        (["--speed", "3"], "speed"),
        (["--world"], "world"),
    ],
)
def test_bad_flags(capsys, data, tmp_path, flags, message):
    base = [] if "--world" in flags else ["--world", "scene"]
    status, output, errors = run(capsys, "train", "--data", data, "--out", tmp_path / "run", *base, *flags)
    assert status == 2
    assert message in output + errors
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_written(capsys, data, tmp_path):
    (tmp_path / "file").write_text("in the way")
    status, _, errors = run(capsys, "train", "--world", "scene", "--data", data, "--out", tmp_path / "file" / "run", *SMALL)
    assert status == 2
    assert "--out" in errors


def test_a_folder_that_disappears(capsys, data, tmp_path, monkeypatch):
    """As when a disk is full or unmounted: the run says so, and does not fall over."""
    from sestra.training import Training

    train = Training.update

    def update(self, batch):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        return train(self, batch)

    monkeypatch.setattr(Training, "update", update)
    status, _, errors = run(capsys, "train", "--world", "scene", "--data", data, "--out", tmp_path / "run", *SMALL)
    assert status == 2
    assert "cannot be written" in errors


def test_data_without_a_known_goal_in_between(capsys, tmp_path):
    """As in train-orig, but every interaction is so: there is nothing to train on."""
    world = get_world("scene")
    slices = [
        dataclasses.replace(one, states=(one.states[0], None, one.states[2]), instructions=one.instructions[:2])
        for one in generate("scene", 10, seed=1)
    ]
    scone.write(tmp_path / "scene-train.tsv", world, slices)
    status, _, errors = run(capsys, "train", "--world", "scene", "--data", tmp_path, "--out", tmp_path / "run", *SMALL)
    assert status == 2
    assert "scene" in errors


def test_starting_over_and_resuming_nothing(capsys, data, trained, tmp_path):
    before = {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()}
    status, _, errors = run(capsys, "train", "--world", "scene", "--data", data, "--out", trained, *SMALL)
    assert status == 2
    assert "--resume" in errors
    assert {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()} == before
    status, _, errors = run(capsys, "train", "--resume", "--data", data, "--out", tmp_path / "nothing")
    assert status == 2
    assert "no run to resume" in errors
    assert not (tmp_path / "nothing").exists()


def test_resuming_with_other_data(capsys, data, copied, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    scone.write(other / "scene-train.tsv", get_world("scene"), generate("scene", 20, seed=9))
    status, _, errors = run(capsys, "train", "--resume", "--data", other, "--out", copied)
    assert status == 2
    assert "was trained on" in errors
    assert "--data" in errors
    assert run(capsys, "train", "--resume", "--data", data, "--out", copied)[0] == 0


@pytest.mark.parametrize("how", ["truncated", "flipped"])
def test_resuming_from_damaged_checkpoints(capsys, data, tmp_path, how):
    out = tmp_path / "run"
    flags = [*SMALL[2:], "--epochs", "2"]
    assert run(capsys, "train", "--world", "scene", "--data", data, "--out", out, *flags)[0] == 0
    newest, before = RunFolder(out).checkpoints()
    expected = {name: tensor.clone() for name, tensor in checkpoint.load(newest)[0].items()}  # not of the file that is then damaged
    for path in (newest, before):
        content = bytearray(path.read_bytes())
        content[-9] ^= 1
        path.write_bytes(content[:-50] if how == "truncated" else content)
        status, _, errors = run(capsys, "train", "--resume", "--data", data, "--out", out)
        message = "".join(errors.split())  # a terminal breaks lines where it likes
        assert str(newest) in message
        if path == newest:
            assert status == 0
            assert "passedover" in message
            found = checkpoint.load(newest)[0]
            assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())
            newest.write_bytes(content[:-50] if how == "truncated" else content)
        else:
            assert status == 2
            assert str(before) in message
            assert "nocheckpointisleft" in message


def test_evaluating_what_is_no_run(capsys, data, tmp_path):
    for nothing in (tmp_path, tmp_path / "none", "no-such-agent"):
        status, _, errors = run(capsys, "evaluate", nothing, "--data", data)
        assert status == 2
        assert "neither the folder of a run" in errors
        assert run(capsys, "export", nothing, "--to", tmp_path / "to")[0] == 2
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.json", "config.json"])
def test_evaluating_a_damaged_run(capsys, data, copied, name):
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(content[: len(content) // 2])
    status, _, errors = run(capsys, "evaluate", copied, "--data", data)
    assert status == 2
    assert name in errors
    assert not (copied / "results.json").exists()


@pytest.mark.parametrize(
    "flags", [["--errors", "-1"], ["--errors", "some"], ["--split", "train-orig"], ["--split", "summer"], ["--by", "moon"], ["--out", "."]]
)
def test_bad_flags_of_evaluate(capsys, data, copied, flags):
    assert run(capsys, "evaluate", copied, "--data", data, *flags)[0] == 2


def test_evaluating_slices_without_a_known_goal_in_between(capsys, trained, tmp_path):
    slices = [
        dataclasses.replace(one, states=(one.states[0], None, one.states[2]), instructions=one.instructions[:2])
        for one in generate("scene", 3, seed=1)
    ]
    scone.write(tmp_path / "scene-train-orig.tsv", get_world("scene"), slices)
    status, _, errors = run(
        capsys, "evaluate", trained, "--data", tmp_path, "--split", "train-orig", "--json", "--out", tmp_path / "results.json"
    )
    assert status == 2
    assert "no instruction's start and goal are both known" in errors.replace("\n", " ")
    assert not (tmp_path / "results.json").exists()


def test_exporting_what_was_not_measured(capsys, copied, tmp_path):
    status, _, errors = run(capsys, "export", copied, "--to", tmp_path / "to")
    assert status == 2
    assert "results.json" in errors


def test_exporting_to_where_nothing_can_be_made(capsys, data, copied, tmp_path):
    assert run(capsys, "evaluate", copied, "--data", data, "--json")[0] == 0
    (tmp_path / "file").write_text("in the way")
    status, _, errors = run(capsys, "export", copied, "--to", tmp_path / "file" / "to")
    assert status == 2
    assert "--to" in errors


# Ctrl-C.


def test_interrupted_run_stops_cleanly_and_resumes(capsys, data, tmp_path):
    out = tmp_path / "run"
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from sestra.cli import main; sys.exit(main())"
    flags = ["train", "--world", "scene", "--data", str(data), "--out", str(out), *SMALL[2:], "--epochs", "100000"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    try:
        until = time.monotonic() + 60
        while not (out / "metrics.jsonl").exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "Stopped in epoch" in errors
    assert "--resume" in errors
    assert not list(out.rglob("*.part"))
    folder = RunFolder(out)
    reached = checkpoint.load(folder.checkpoints()[0])[1]["epoch"]
    content = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps({**content, "epochs": reached + 1}))  # so that it ends
    status, output, _ = run(capsys, "train", "--resume", "--data", data, "--out", out, "--json")
    assert status == 0
    assert json.loads(output)["epochs"] == reached + 1


def test_a_run_that_another_process_works_on_is_left_alone(capsys, data, tmp_path):
    assert run(capsys, "train", "--world", "scene", "--data", data, "--out", tmp_path / "run", *SMALL)[0] == 0
    before = (tmp_path / "run" / "metrics.jsonl").read_bytes()
    with RunFolder(tmp_path / "run").alone():
        status, _, errors = run(capsys, "train", "--data", data, "--out", tmp_path / "run", "--resume")
    assert status == 2
    assert "another process works on this run" in errors
    assert (tmp_path / "run" / "metrics.jsonl").read_bytes() == before


def test_exporting_what_is_exported_already(capsys, tmp_path):
    status, _, errors = run(capsys, "export", "alchemy", "--to", tmp_path / "to")
    assert status == 2
    assert "alchemy: is exported already" in errors
    assert not (tmp_path / "to").exists()


def test_a_teacher_is_found_from_anywhere_and_named_on_the_card(capsys, data, trained, tmp_path, monkeypatch):
    monkeypatch.chdir(trained.parent)
    flags = ["--world", "scene", "--data", str(data), "--out", str(tmp_path / "student"), *SMALL]
    assert run(capsys, "train", "--teacher", trained.name, *flags)[0] == 0
    assert RunFolder(tmp_path / "student").config().teacher == str(trained.resolve())
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "evaluate", "student", "--data", data)[0] == 0
    assert run(capsys, "export", "student", "--to", "agent")[0] == 0
    assert f"taught by `{trained.name}` (share 0.7)" in (tmp_path / "agent" / "CARD.md").read_text()

"""``sestra train`` as a user types it, on a small generated data set; and from there to an exported agent."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from commands import SMALL, run

from sestra import __version__
from sestra.data import scone
from sestra.data.synthetic import generate
from sestra.learning import checkpoint
from sestra.learning.config import GROUPS, preset
from sestra.learning.run_folder import RunFolder
from sestra.worlds import get_world

ROOT = Path(__file__).parent.parent.parent


# From one end to the other.


@pytest.mark.parametrize("learner", ["sestra", "supervised"])
def test_train_evaluate_export(capsys, small_data, tmp_path, learner):
    out, agent = tmp_path / "run", tmp_path / "agents" / "mine"
    status, output, _ = run(
        capsys, "train", "--world", "tangrams", "--learner", learner, "--data", small_data, "--out", out, "--seed", "3", "--json", *SMALL
    )
    assert status == 0
    report = json.loads(output)
    assert (report["world"], report["learner"], report["seed"], report["epochs"]) == ("tangrams", learner, 3, 1)
    assert report["best"]["epoch"] == 1
    assert {"inst", "utts3", "utts5", "reward", "objective", "seconds"} <= report["best"].keys()
    assert {path.name for path in out.iterdir()} >= {
        "config.json",
        "vocab.json",
        "data.json",
        "metrics.jsonl",
        "model.safetensors",
        "agent",
    }
    assert {path.name for path in (out / "agent").iterdir()} == {"agent.json", "vocab.json", "encode-1.onnx", "step-1.onnx"}

    status, output, _ = run(capsys, "evaluate", out, "--split", "dev", "--data", small_data, "--json")
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
    status, output, _ = run(capsys, "evaluate", agent, "--data", small_data, "--json")
    assert status == 0
    assert json.loads(output)["counts"]["inst"][1] == 40
    assert not (agent / "results.json").exists()  # what ships is not written to


@pytest.mark.usefixtures("no_export")
def test_progress_and_settings(capsys, small_data, tmp_path):
    flags = ["--no-initial-state", "--dropout", "0.2", *SMALL]
    status, output, errors = run(capsys, "train", "--world", "scene", "--data", small_data, "--out", tmp_path / "run", *flags)
    assert status == 0
    assert "sestra evaluate" in output
    assert "epoch   1" in errors
    assert "5utts" in errors
    config = RunFolder(tmp_path / "run").config()
    assert (config.policy.hidden, config.policy.dropout, config.policy.initial_state) == (8, 0.2, False)
    assert (config.rollout.horizon, config.rollout.verbosity) == (7, 0.2)  # those of Scene


@pytest.mark.usefixtures("no_export")
@pytest.mark.parametrize(("flag", "expected"), [("--initial-state", True), ("--no-initial-state", False), (None, True)])
def test_both_forms_of_a_switch_are_accepted_whatever_its_default(capsys, small_data, tmp_path, flag, expected):
    """The default of --initial-state is True."""
    flags = [*([flag] if flag else []), "--rename-symbols", "--no-rename-symbols", *SMALL]
    status, _, errors = run(capsys, "train", "--world", "scene", "--data", small_data, "--out", tmp_path / "run", *flags)
    assert status == 0, errors
    config = RunFolder(tmp_path / "run").config()
    assert (config.policy.initial_state, config.data.rename_symbols) == (expected, False)


def test_tensorboard(capsys, small_data, tmp_path):
    pytest.importorskip("tensorboard")
    status, _, _ = run(capsys, "train", "--world", "scene", "--data", small_data, "--out", tmp_path / "run", "--tensorboard", *SMALL)
    assert status == 0
    assert list((tmp_path / "run" / "tensorboard").glob("events*"))


def test_tensorboard_where_it_is_missing(capsys, small_data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    status, _, errors = run(capsys, "train", "--world", "scene", "--data", small_data, "--out", tmp_path / "run", "--tensorboard", *SMALL)
    assert status == 2
    assert "pip install 'sestra[train]'" in errors
    assert not (tmp_path / "run").exists()


def test_an_accuracy_that_there_is_none_of_is_not_shown():
    """Of interactions with two instructions there is none of the first three."""
    from sestra.cli.progress import accuracies

    assert accuracies({"inst": 50.0, "utts3": math.nan, "utts5": 25.04}) == ["Inst 50.0", "5utts 25.0"]


def test_clock_of_the_batches_starts_anew_with_each_epoch():
    from sestra.cli.progress import ProgressBars

    bars = ProgressBars()
    for done in (1, 2, 1):
        bars.on_batch_end(done, 2, 0.0)
    task = bars.bars.tasks[bars.batches]
    assert (task.completed, task.total, task.finished) == (1, 2, False)


PLUGINS = """
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Tiny:
    '''A tiny policy.'''

    width: int = 6
    '''Size of everything.'''

    def build(self, tables, vocabulary):
        from sestra.learning.policies.attention import AttentionPolicy
        from sestra.learning.policies.attention_config import AttentionConfig

        return AttentionPolicy(AttentionConfig(embedding=self.width, hidden=self.width), tables, vocabulary)


@dataclass(frozen=True)
class Gentle:
    '''Likelihood of the actions that were taken, times a factor.'''

    factor: float = 1.0
    '''How gentle it is.'''

    uses_demonstrations: ClassVar = True
    on_policy: ClassVar = False

    def objective(self, execution, rewards):
        from sestra.learning.learners.base import taken

        return self.factor * taken(execution.log_probs, execution)
"""


def test_own_policy_and_learner_in_a_file(capsys, small_data, tmp_path, monkeypatch):
    from sestra.agent import Agent

    (tmp_path / "my.py").write_text(PLUGINS)
    monkeypatch.chdir(tmp_path)
    flags = ["train", "--world", "scene", "--policy", "my.py:Tiny", "--learner", "my.py:Gentle"]
    status, output, _ = run(capsys, *flags, "--help")
    assert status == 0
    assert "Size of everything. (default: 6)" in output
    assert "--factor FLOAT" in output
    where = ["--data", str(small_data), "--out", "run"]
    status, output, _ = run(
        capsys, *flags, *where, "--width", "8", "--factor", "0.5", "--epochs", "1", "--execution-horizon", "5", "--json"
    )
    assert status == 0
    assert json.loads(output)["learner"] == f"{tmp_path / 'my.py'}:Gentle"
    stored = json.loads((tmp_path / "run" / "config.json").read_text())
    assert stored["policy"] == {"name": f"{tmp_path / 'my.py'}:Tiny", "width": 8}
    assert stored["learner"] == {"name": f"{tmp_path / 'my.py'}:Gentle", "factor": 0.5}
    assert run(capsys, "train", "--resume", *where)[0] == 0
    assert run(capsys, "evaluate", "run", "--data", small_data)[0] == 0
    assert run(capsys, "export", "run", "--to", "agent")[0] == 0
    assert "my.py:Tiny`) for the world *scene*" in " ".join((tmp_path / "agent" / "README.md").read_text().split())
    agent = Agent.from_pretrained(tmp_path / "agent")
    assert agent.training["config"]["policy"]["width"] == 8
    assert agent.follow("1:__ 2:ry 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:b_", ["the person leaves"]).turns
    assert run(capsys, *flags, *where[:2], "--out", "other", "--width", "0.5")[0] == 2


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


def test_a_teacher_is_found_from_anywhere_and_named_on_the_card(capsys, small_data, small_run, tmp_path, monkeypatch):
    monkeypatch.chdir(small_run.parent)
    flags = ["--world", "scene", "--data", str(small_data), "--out", str(tmp_path / "student"), *SMALL]
    assert run(capsys, "train", "--teacher", small_run.name, *flags)[0] == 0
    assert RunFolder(tmp_path / "student").config().teacher == str(small_run.resolve())
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "evaluate", "student", "--data", small_data)[0] == 0
    assert run(capsys, "export", "student", "--to", "agent")[0] == 0
    card = " ".join((tmp_path / "agent" / "README.md").read_text().split())
    assert f"distilled from `{small_run.name}`" in card


# Help.


FEW = ["world", "policy", "learner", "preset", "seed", "epochs", "batch-size", "learning-rate", "out", "resume", "data"]


@pytest.mark.parametrize("policy", ["attention", "objects"])
def test_every_setting_is_a_flag_with_its_help(capsys, monkeypatch, policy):
    monkeypatch.setenv("COLUMNS", "100")
    brief, everything = (run(capsys, "train", "--world", "scene", "--policy", policy, flag)[1] for flag in ("--help", "--help-all"))
    config = preset("default", "scene", policy=policy)
    rare = {each.name for group in GROUPS for each in dataclasses.fields(getattr(config, group)) if each.metadata.get("rare")}
    for name in config.flat():
        flag = f"--{name.replace('_', '-')}"
        found = [flag in text or flag.replace("--", "--no-") in text for text in (brief, everything)]
        assert found == [name not in rare, True], name
    assert "--version" not in everything
    top = brief[: brief.index("data options")]
    assert all(f"--{name}" in top for name in FEW)
    assert "--horizon" not in top
    if policy == "attention":
        assert "0.07" in brief  # Scene's entropy, not Alchemy's


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
def test_bad_flags(capsys, small_data, tmp_path, flags, message):
    base = [] if "--world" in flags else ["--world", "scene"]
    status, output, errors = run(capsys, "train", "--data", small_data, "--out", tmp_path / "run", *base, *flags)
    assert status == 2
    assert message in output + errors
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_written(capsys, small_data, tmp_path):
    (tmp_path / "file").write_text("in the way")
    status, _, errors = run(capsys, "train", "--world", "scene", "--data", small_data, "--out", tmp_path / "file" / "run", *SMALL)
    assert status == 2
    assert "--out" in errors


def test_a_folder_that_disappears(capsys, small_data, tmp_path, monkeypatch):
    """As when a disk is full or unmounted: the run says so, and does not fall over."""
    from sestra.learning.trainer import Trainer

    train = Trainer.update

    def update(self, batch):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        return train(self, batch)

    monkeypatch.setattr(Trainer, "update", update)
    status, _, errors = run(capsys, "train", "--world", "scene", "--data", small_data, "--out", tmp_path / "run", *SMALL)
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


def test_starting_over_and_resuming_nothing(capsys, small_data, small_run, tmp_path):
    before = {path: path.read_bytes() for path in small_run.rglob("*") if path.is_file()}
    status, _, errors = run(capsys, "train", "--world", "scene", "--data", small_data, "--out", small_run, *SMALL)
    assert status == 2
    assert "--resume" in errors
    assert {path: path.read_bytes() for path in small_run.rglob("*") if path.is_file()} == before
    status, _, errors = run(capsys, "train", "--resume", "--data", small_data, "--out", tmp_path / "nothing")
    assert status == 2
    assert "no run to resume" in errors
    assert not (tmp_path / "nothing").exists()


def test_resuming_with_other_data(capsys, small_data, copied_run, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    scone.write(other / "scene-train.tsv", get_world("scene"), generate("scene", 20, seed=9))
    status, _, errors = run(capsys, "train", "--resume", "--data", other, "--out", copied_run)
    assert status == 2
    assert "was trained on" in errors
    assert "--data" in errors
    assert run(capsys, "train", "--resume", "--data", small_data, "--out", copied_run)[0] == 0


@pytest.mark.parametrize("how", ["truncated", "flipped"])
def test_resuming_from_damaged_checkpoints(capsys, small_data, tmp_path, how):
    out = tmp_path / "run"
    flags = [*SMALL[2:], "--epochs", "2"]
    assert run(capsys, "train", "--world", "scene", "--data", small_data, "--out", out, *flags)[0] == 0
    newest, before = RunFolder(out).checkpoints()
    expected = {name: tensor.clone() for name, tensor in checkpoint.load(newest)[0].items()}  # not of the file that is then damaged
    for path in (newest, before):
        content = bytearray(path.read_bytes())
        content[-9] ^= 1
        path.write_bytes(content[:-50] if how == "truncated" else content)
        status, _, errors = run(capsys, "train", "--resume", "--data", small_data, "--out", out)
        message = "".join(errors.split())  # a terminal breaks lines where it likes
        assert str(newest) in message
        if path == newest:
            assert status == 0
            assert "skipped" in message
            found = checkpoint.load(newest)[0]
            assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())
            newest.write_bytes(content[:-50] if how == "truncated" else content)
        else:
            assert status == 2
            assert str(before) in message
            assert "nocheckpointisleft" in message


@pytest.mark.parametrize("what", ["objective", "gradient", "weights"])
def test_a_run_that_diverges_is_stopped_and_keeps_its_last_checkpoint(capsys, small_data, tmp_path, monkeypatch, what):
    from sestra.learning.trainer import Trainer

    out, update = tmp_path / "run", Trainer.update

    def diverge(self, batch):
        if self.progress.epoch == 1:
            parameter = next(self.policy.parameters())
            if what == "weights":
                self.optimiser.register_step_post_hook(lambda *_: parameter.data.fill_(torch.inf))
            elif what == "gradient":
                parameter.register_hook(lambda gradient: gradient * torch.nan)
            else:
                parameter.data.fill_(torch.nan)
        return update(self, batch)

    monkeypatch.setattr(Trainer, "update", diverge)
    flags = ["train", "--world", "scene", "--data", small_data, "--out", out, *SMALL[2:], "--epochs", "3"]
    status, _, errors = run(capsys, *flags)
    assert status == 2
    [line] = [line for line in errors.splitlines() if line.startswith("sestra: ")]
    assert f"in epoch 2, batch 1, the {'objective' if what == 'objective' else f'norm of the {what}'} is" in line
    assert "a lower --learning-rate" in line
    assert "--max-grad-norm" in line
    (newest,) = RunFolder(out).checkpoints()
    assert all(tensor.isfinite().all() for tensor in checkpoint.load(newest)[0].values())
    monkeypatch.setattr(Trainer, "update", update)
    assert run(capsys, "train", "--resume", "--data", small_data, "--out", out)[0] == 0


# Ctrl-C, and another process.


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_stops_cleanly_and_resumes(capsys, small_data, tmp_path, monkeypatch, number):
    out = tmp_path / "run"
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from sestra.cli import main; sys.exit(main())"
    flags = ["train", "--world", "scene", "--data", str(small_data), "--out", str(out), *SMALL[2:], "--epochs", "100000"]
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
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 128 + number, errors
    assert "Traceback" not in errors
    assert "Stopped after epoch" in errors
    assert "--resume" in errors
    assert not list(out.rglob("*.part"))
    folder = RunFolder(out)
    reached = checkpoint.load(folder.checkpoints()[0])[1]["epoch"]
    monkeypatch.setattr(
        "sestra.learning.trainer.Trainer.unfinished", property(lambda self: self.progress.epoch <= reached)
    )  # so that it ends
    status, output, _ = run(capsys, "train", "--resume", "--data", small_data, "--out", out, "--json")
    assert status == 0
    assert json.loads(output)["epochs"] == reached + 1


def test_a_run_that_another_process_works_on_is_left_alone(capsys, small_data, tmp_path):
    assert run(capsys, "train", "--world", "scene", "--data", small_data, "--out", tmp_path / "run", *SMALL)[0] == 0
    before = (tmp_path / "run" / "metrics.jsonl").read_bytes()
    with RunFolder(tmp_path / "run").locked():
        status, _, errors = run(capsys, "train", "--data", small_data, "--out", tmp_path / "run", "--resume")
    assert status == 2
    assert "another process works on this run" in errors
    assert (tmp_path / "run" / "metrics.jsonl").read_bytes() == before

"""A run that was stopped or killed ends, when it is resumed, in the same bits as one that was not."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from lamps import Lamps, interactions
from small_runs import start, state_of

from sestra.errors import InputError
from sestra.learning.learners.contextual_bandit import ContextualBandit
from sestra.learning.learners.policy_gradient import PolicyGradient
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.run_folder import RunFolder
from sestra.learning.trainer import Trainer
from sestra.worlds import WORLDS

ROOT = Path(__file__).parent.parent.parent
SETTINGS = {
    "sestra": {"ema_decay": 0.9, "final_lr_fraction": 0.5, "max_grad_norm": 1.0},
    "supervised": {"learner": "supervised", "optimiser": "adam"},
    "policy-gradient": {
        "learner": PolicyGradient(credit="return-to-go", discount=0.5),
        "batch_order": "random",
        "normalisation": "per-step",
    },
    "actor-critic": {"learner": "actor-critic", "ema_decay": 0.9, "max_grad_norm": 1.0},
    "sestra-estimator": {"learner": "sestra-estimator", "optimiser": "adam"},
    "lols": {"learner": "lols"},
    "contextual-bandit": {"learner": ContextualBandit(entropy_in_reward=True), "horizon_penalty": False, "max_grad_norm": 1.0},
}


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)


def finished(path: Path, *parts: int, **changes) -> RunFolder:
    """A run that was stopped after so many epochs, and each time resumed from its folder."""
    run = start(path, **changes)
    for until in parts:
        run.callback = Stop(until)
        with pytest.raises(InterruptedError):
            run.run()
        run = Trainer(run.folder.config(), interactions(30, seed=1), run.folder)
        assert run.resume() == []
        assert run.progress.epoch == until
    run.run()
    return run.folder


@pytest.mark.parametrize("learner", SETTINGS)
def test_stopped_and_resumed_after_any_batch_ends_in_the_same_bits(tmp_path, learner):
    """As by Ctrl-C or SIGTERM: a checkpoint is written within the epoch."""
    whole = finished(tmp_path / "whole", epochs=2, **SETTINGS[learner])
    run, stops = start(tmp_path / "parts", epochs=2, **SETTINGS[learner]), 0
    while run.unfinished:
        run.callback = StopAfterBatches(run, stops % 3 + 1)
        run.run()
        stops += 1
        run = Trainer(run.folder.config(), interactions(30, seed=1), run.folder)
        assert run.resume() == []
    assert stops > 3
    assert state_of(run.folder) == state_of(whole)


class StopAfterBatches:
    """Asks the run to stop after so many batches."""

    def __init__(self, run: Trainer, count: int) -> None:
        self.run, self.count = run, count

    def on_batch_end(self, done, total, objective):
        self.count -= 1
        self.run.stop_requested = not self.count

    def on_epoch_end(self, record):
        pass


def test_checkpoints_within_an_epoch(tmp_path):
    whole = finished(tmp_path / "whole")
    run = start(tmp_path / "often")
    run.checkpoint_seconds = 0.0
    run.callback = StopAfterBatches(run, 5)
    run.run()
    assert [path.name for path in run.folder.checkpoints()] == ["epoch-0000-batch-5.safetensors", "epoch-0000-batch-4.safetensors"]
    damage(run.folder.checkpoints()[0], "flipped")
    again = Trainer(run.config, interactions(30, seed=1), run.folder)
    assert len(again.resume()) == 1
    again.run()
    assert state_of(run.folder) == state_of(whole)


class Stop:
    """Stops the run amid the epoch after the given one."""

    def __init__(self, until: int) -> None:
        self.until, self.epochs = until, None

    def on_batch_end(self, done, total, objective):
        if self.epochs == self.until and done == 2:
            raise InterruptedError

    def on_epoch_end(self, record):
        self.epochs = record["epoch"]


@pytest.mark.parametrize("learner", SETTINGS)
def test_resumed_run_ends_in_the_same_bits(tmp_path, learner):
    whole = finished(tmp_path / "whole", epochs=5, **SETTINGS[learner])
    parts = finished(tmp_path / "parts", 1, 3, epochs=5, **SETTINGS[learner])
    assert state_of(parts) == state_of(whole)


def damage(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    if how == "flipped":
        content[-5] ^= 4
    elif how == "truncated":
        content = content[: len(content) // 2]
    else:
        content = b""
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["flipped", "truncated", "emptied"])
def test_damaged_checkpoint_is_named_and_the_one_before_it_used(tmp_path, how):
    run = start(tmp_path)
    run.run()
    expected = state_of(run.folder)
    newest, before = run.folder.checkpoints()
    damage(newest, how)
    again = Trainer(run.config, interactions(30, seed=1), run.folder)
    complaints = again.resume()
    assert len(complaints) == 1
    assert str(newest) in complaints[0]
    assert "damaged" in complaints[0]
    assert again.progress.epoch == 2
    again.run()
    assert state_of(run.folder) == expected
    damage(newest, how)
    damage(before, how)
    with pytest.raises(InputError, match="no checkpoint is left") as error:
        Trainer(run.config, interactions(30, seed=1), run.folder).resume()
    assert str(newest) in str(error.value)
    assert str(before) in str(error.value)


def test_checkpoint_of_another_network_is_refused(tmp_path):
    run = start(tmp_path)
    run.run()
    other = replace(run.config, policy=AttentionConfig(embedding=4, hidden=7))
    with pytest.raises(InputError, match="does not fit"):
        Trainer(other, interactions(30, seed=1), run.folder).resume()


def test_checkpoint_of_an_earlier_version_is_refused(tmp_path):
    """Which had no manifest."""
    run = start(tmp_path, epochs=1)
    run.run()
    (run.folder.path / "run.json").unlink()
    with pytest.raises(InputError, match="an earlier version of sestra began the run"):
        Trainer(run.config, interactions(30, seed=1), run.folder).resume()


def test_run_without_a_checkpoint_begins_at_the_beginning(tmp_path):
    run = start(tmp_path)
    assert run.resume() == []
    assert run.progress.epoch == 0


def test_two_checkpoints_are_kept(tmp_path):
    run = start(tmp_path, epochs=5)
    run.run()
    assert [path.name for path in run.folder.checkpoints()] == ["epoch-0005.safetensors", "epoch-0004.safetensors"]


# Killed by SIGKILL. One process loads torch, then forks a child for each run: so a run costs a fraction of a second.

KILLER = """
import os, random, signal, sys, time
from pathlib import Path
import torch
import torch._dynamo  # which every optimiser loads
from lamps import Lamps, interactions
from small_runs import start
from sestra.learning.run_folder import RunFolder
from sestra.learning.trainer import Trainer
from sestra.worlds import WORLDS

torch.set_num_threads(1)
WORLDS.register("lamps", Lamps)
base, settings = Path(sys.argv[1]), eval(sys.argv[2])


def begin(name, learner, dies_before=None):
    pid = os.fork()
    if pid:
        return pid
    status = 99
    try:
        log = os.open(base / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1), os.dup2(log, 2)
        if dies_before is not None:
            replace, count = Path.replace, [0]
            def doomed(self, target):
                count[0] += 1
                if count[0] == dies_before:
                    os.kill(os.getpid(), signal.SIGKILL)
                return replace(self, target)
            Path.replace = doomed
        folder = RunFolder(base / name)
        if folder.exists():
            training = Trainer(folder.config(), interactions(12, seed=1), folder)
            training.resume()
        else:
            training = start(folder.path, count=12, epochs=2, **settings[learner])
        training.run()
        status = 0
    finally:
        sys.stdout.flush()
        os._exit(status)


def wait(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


rng = random.Random(1)
killed = []
for learner in settings:
    began = time.perf_counter()
    assert wait(begin(f"{learner}-whole", learner)) == 0
    length = time.perf_counter() - began
    for _ in range(4):
        pid = begin(f"{learner}-random", learner)
        until = time.perf_counter() + rng.uniform(0.05, 0.6) * length
        while time.perf_counter() < until and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            time.sleep(0.001)
        os.kill(pid, signal.SIGKILL)
        killed.append(wait(pid) == -signal.SIGKILL)
    assert wait(begin(f"{learner}-random", learner)) == 0
write = 3  # the first two are settings without which there is no run yet
while True:
    status = wait(begin(f"sestra-write-{write}", "sestra", dies_before=write))
    if status != -signal.SIGKILL:
        assert status == 0, status
        break
    assert wait(begin(f"sestra-write-{write}", "sestra")) == 0
    write += 1
print(sum(killed), write - 1)
"""


def test_killed_at_any_moment_and_resumed_ends_in_the_same_bits(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(tmp_path), repr({name: SETTINGS[name] for name in ("sestra", "supervised")})],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + (tmp_path / "log").read_text()
    kills, writes = map(int, done.stdout.split())
    assert kills
    assert writes >= 3 + 2 * 2  # three settings, then at least a checkpoint and the metrics of each epoch
    wholes = {learner: state_of(RunFolder(tmp_path / f"{learner}-whole")) for learner in ("sestra", "supervised")}
    others = [path for path in tmp_path.glob("*-*") if not path.name.endswith("whole")]
    assert len(others) == 2 + writes - 1
    different = [path.name for path in sorted(others) if state_of(RunFolder(path)) != wholes[path.name.partition("-")[0]]]
    assert not different, "killed at a random moment, or just before its n-th write, and then resumed"

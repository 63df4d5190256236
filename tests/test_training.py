"""Training: what is held out, when it stops, which model is kept, and that a killed run resumes to the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from lamps import Lamps, interactions

from sestra import checkpoint, training
from sestra.config import AttentionConfig, TrainConfig
from sestra.data import scone
from sestra.data.scone import Interaction
from sestra.data.sources import Source
from sestra.data.synthetic import generate
from sestra.errors import InputError
from sestra.evaluation import Accuracy, Evaluation
from sestra.runs import RunFolder
from sestra.training import Training, split_validation
from sestra.worlds import WORLDS, get_world

ROOT = Path(__file__).parent.parent
TINY = TrainConfig(
    world="lamps", learning_rate=0.005, horizon=3, epochs=3, batch_size=10, policy=AttentionConfig(embedding=4, hidden=6, dropout=0.1)
)


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS, "lamps", Lamps)


def start(path: Path, config: TrainConfig = TINY, count: int = 30, **changes) -> Training:
    config = replace(config, **changes)
    made = Training(config, interactions(count, seed=1), RunFolder(path))
    made.folder.create(config, made.vocabulary, Source("lamps", "0"))
    return made


# The validation part.


@pytest.mark.parametrize(("count", "size"), [(3657, 256), (3352, 235), (4189, 293), (100, 7), (5, 1), (2, 1)])
def test_seven_per_cent_are_held_out(count, size):
    every = [Interaction(str(number), (), ()) for number in range(count)]
    train, validation = split_validation(every, 0.07, "alchemy")
    assert len(validation) == size
    assert len(train) == count - size
    assert {one.id for one in train} | {one.id for one in validation} == {one.id for one in every}
    assert [one.id for one in train] == sorted((one.id for one in train), key=int)


def test_what_is_held_out_depends_on_the_world_alone(tmp_path):
    every = [Interaction(str(number), (), ()) for number in range(500)]
    torch.manual_seed(1)
    first = split_validation(every, 0.07, "scene")[1]
    torch.manual_seed(2)
    assert split_validation(every, 0.07, "scene")[1] == first
    assert split_validation(every, 0.07, "tangrams")[1] != first
    assert [int(one.id) for one in first] != list(range(35))
    runs = [Training(replace(TINY, seed=seed), interactions(60, seed=1), RunFolder(tmp_path)) for seed in (1, 2)]
    assert torch.equal(runs[0].validation.words, runs[1].validation.words)
    assert not torch.equal(runs[0].policy.joined.weight, runs[1].policy.joined.weight)


def test_one_interaction_is_too_few():
    with pytest.raises(InputError, match="at least 2"):
        split_validation([Interaction("a", (), ())], 0.07, "lamps")


def test_words_of_validation_are_not_known(tmp_path):
    data = interactions(30, seed=1)
    held_out = split_validation(data, 0.07, "lamps")[1]
    marked = [replace(one, instructions=tuple(f"{text} zebra" for text in one.instructions)) if one in held_out else one for one in data]
    assert "zebra" not in Training(TINY, marked, RunFolder(tmp_path)).vocabulary.words
    assert "zebra" in Training(TINY, [*marked, *marked], RunFolder(tmp_path)).vocabulary.words


# Patience and the best model.


def scripted(monkeypatch, figures: list[tuple[float, float]]) -> None:
    """Validation that measures the given rewards and 5utts, the last of them for ever."""
    remaining = iter(figures)
    latest = [figures[0]]

    def measured(*_, **__) -> Evaluation:
        latest[0] = next(remaining, latest[0])
        reward, utts5 = latest[0]
        counted = Accuracy(round(utts5), 100)
        nothing = torch.zeros(0, dtype=torch.bool)
        return Evaluation(counted, counted, counted, (), reward, nothing, nothing)

    monkeypatch.setattr(training, "evaluate", measured)


@pytest.mark.parametrize(
    ("patience", "rewards", "epochs"),
    [
        (50.0, [0.0], 1 + 51),  # 50 * 1.005 = 50.25: 51 epochs without improvement
        (2.0, [0.0, 1.0, 1.0], 2 + 3),  # 2 * 1.005^2 = 2.02; as good is no improvement
        (2.0, [0.0, -1.0, -1.0, 3.0], 4 + 3),  # the third epoch would have been the last but one
        (1.0, [5.0, 4.0, 3.0], 1 + 2),
        (0.0, [5.0], 1),
    ],
)
def test_patience(monkeypatch, tmp_path, patience, rewards, epochs):
    scripted(monkeypatch, [(reward, 0) for reward in rewards])
    run = start(tmp_path, patience=patience, epochs=200, count=4)
    progress = run.run()
    assert progress.epoch == epochs
    best = max(rewards)
    improvements = sum(reward > max(rewards[:number], default=-9) for number, reward in enumerate(rewards))
    assert progress.best_reward == best
    assert progress.improvements == improvements
    last = len(rewards) - 1 - rewards[::-1].index(best) if rewards.count(best) == 1 else rewards.index(best)
    assert progress.patience == pytest.approx(patience * 1.005**improvements - (epochs - 1 - last))


def test_epochs_are_the_most_whatever_patience_says(monkeypatch, tmp_path):
    scripted(monkeypatch, [(float(number), 0) for number in range(9)])
    assert start(tmp_path, epochs=4, count=4).run().epoch == 4


class Weights:
    """Remembers the policy's weights after each epoch."""

    def __init__(self, run: Training) -> None:
        self.run, self.after, self.rates = run, [], []
        run.watch = self

    def batch(self, done, total, objective):
        self.rates.append(self.run.optimiser.param_groups[0]["lr"])

    def epoch(self, record):
        self.after.append({name: value.clone() for name, value in self.run.average.state_dict().items()})


@pytest.mark.parametrize("averaging", [0.0, 0.5])
def test_best_model_is_the_first_with_the_highest_5utts(monkeypatch, tmp_path, averaging):
    scripted(monkeypatch, [(3.0, 10), (2.0, 30), (9.0, 20), (1.0, 30)])
    run = start(tmp_path, epochs=4, averaging=averaging)
    weights = Weights(run)
    progress = run.run()
    assert (progress.best_epoch, progress.best_score) == (2, 30)
    tensors, info = checkpoint.load(run.folder.model)
    assert info["epoch"] == 2
    assert info["validation"]["utts5"] == 30
    assert all(torch.equal(tensors[name], value) for name, value in weights.after[1].items())
    assert not torch.equal(tensors["joined.weight"], weights.after[3]["joined.weight"])


def test_no_model_of_the_warm_up_is_chosen(monkeypatch, tmp_path):
    """It was not trained by the learner that was asked for; but a run that stops in its warm-up has a model."""
    scripted(monkeypatch, [(3.0, 10), (2.0, 50), (9.0, 20), (1.0, 30)])
    run = start(tmp_path, epochs=4, warm_up=2)
    models = []
    monkeypatch.setattr(run, "_save", lambda: models.append(checkpoint.load(run.folder.model)[1]["epoch"]))
    assert run.run().best_epoch == 4
    assert models == [1, 2, 3, 4]


# Updates.


def test_step_size_decays_along_a_half_cosine(tmp_path):
    run = start(tmp_path, epochs=4, decay=0.1)
    weights = Weights(run)
    run.run()
    rates = weights.rates
    total = len(rates) // 4
    assert rates[0] == 0.005
    assert rates[2 * total] == pytest.approx(0.005 * 0.55)
    assert rates == sorted(rates, reverse=True)
    assert 0.0005 < rates[-1] < 0.0007
    constant = start(tmp_path / "other", epochs=1)
    weights = Weights(constant)
    constant.run()
    assert set(weights.rates) == {0.005}


def test_clip_limits_the_gradient(tmp_path):
    norms = []
    for clip in (0.0, 1e-3):
        run = start(tmp_path / str(clip), clip=clip)
        run.update(run.train.select(torch.arange(10)))
        norms.append(sum(parameter.grad.square().sum() for parameter in run.policy.parameters() if parameter.grad is not None) ** 0.5)
    assert norms[0] > 1e-2
    assert norms[1] == pytest.approx(1e-3, rel=1e-3)


def test_average_of_weights(tmp_path):
    """It leaves the first weights behind quickly, then keeps the given share; and it has no part in the gradient."""
    run = start(tmp_path, averaging=0.3)
    expected = run.policy.joined.weight.detach().clone()
    for number in range(1, 9):
        run.update(run.train.select(torch.arange(10)))
        keep = min(0.3, number / (number + 10))
        expected = keep * expected + (1 - keep) * run.policy.joined.weight.detach()
        torch.testing.assert_close(run.average.joined.weight.detach(), expected)
    for parameter in run.average.parameters():
        assert parameter.grad_fn is None, "the average must not hold on to the history of all updates"


@pytest.mark.parametrize("optimiser", ["rmsprop", "adam"])
def test_same_seed_same_bits(tmp_path, optimiser):
    runs = [start(tmp_path / str(number), optimiser=optimiser, seed=seed, epochs=2) for number, seed in enumerate((1, 1, 2))]
    finals = []
    for number in range(3):  # one after the other: all draw from torch's generator
        run = Training(runs[number].config, interactions(30, seed=1), runs[number].folder)
        run.run()
        finals.append(run.policy.state_dict())
    assert all(torch.equal(value, finals[1][name]) for name, value in finals[0].items())
    assert not torch.equal(finals[0]["joined.weight"], finals[2]["joined.weight"])


def test_metrics_are_json_that_others_can_read(tmp_path):
    """Even where a figure is undefined: these interactions have two turns, so no 3utts."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    run = start(tmp_path, epochs=2)
    run.run()
    lines = run.folder.metrics.read_text().splitlines()
    assert [json.loads(line, parse_constant=refuse)["epoch"] for line in lines] == [1, 2]


# Resuming.


def state_of(folder: RunFolder) -> tuple:
    """All that a run leaves behind, but for seconds."""

    def timeless(records):
        return [{key: value for key, value in record.items() if key != "seconds"} for record in records]

    model, chosen = checkpoint.load(folder.model)
    newest = folder.checkpoints()[0]
    tensors, progress = checkpoint.load(newest)
    progress["history"] = timeless(progress["history"])
    metrics = timeless(json.loads(line) for line in folder.metrics.read_text().splitlines())
    settings = [(folder.path / name).read_text() for name in ("config.json", "vocab.json", "data.json")]
    every = {f"model {name}": value for name, value in model.items()} | tensors
    # As text: a figure that is not a number would not equal itself.
    rest = json.dumps([chosen, newest.name, progress, metrics, settings], sort_keys=True)
    return {name: value.numpy().tobytes() for name, value in every.items()}, rest


SETTINGS = {
    "sestra": {"averaging": 0.9, "decay": 0.5, "clip": 1.0},
    "supervised": {"learner": "supervised", "optimiser": "adam"},
}


def finished(path: Path, *parts: int, **changes) -> RunFolder:
    """A run that was stopped after so many epochs, and each time resumed from its folder."""
    run = start(path, **changes)
    for until in parts:
        run.watch = Stop(until)
        with pytest.raises(InterruptedError):
            run.run()
        run = Training(run.folder.config(), interactions(30, seed=1), run.folder)
        assert run.resume() == []
        assert run.progress.epoch == until
    run.run()
    return run.folder


class Stop:
    """Stops the run amid the epoch after the given one."""

    def __init__(self, until: int) -> None:
        self.until, self.epochs = until, None

    def batch(self, done, total, objective):
        if self.epochs == self.until and done == 2:
            raise InterruptedError

    def epoch(self, record):
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
    again = Training(run.config, interactions(30, seed=1), run.folder)
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
        Training(run.config, interactions(30, seed=1), run.folder).resume()
    assert str(newest) in str(error.value)
    assert str(before) in str(error.value)


def test_checkpoint_of_another_network_is_refused(tmp_path):
    run = start(tmp_path)
    run.run()
    other = replace(run.config, policy=AttentionConfig(embedding=4, hidden=7))
    with pytest.raises(InputError, match="does not fit"):
        Training(other, interactions(30, seed=1), run.folder).resume()


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
import sestra.cli.train, sestra.training
from sestra.cli import main
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

torch.set_num_threads(1)
compile_world(get_world("scene"))
base = Path(sys.argv[1])
flags = {"sestra": sys.argv[2].split(), "supervised": sys.argv[3].split()}


def begin(folder, learner, dies_before=None):
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
        resume = ["--resume"] if (base / folder / "config.json").exists() else []
        status = main(["train", "--out", str(base / folder), "--learner", learner, *resume, *flags[learner]])
    finally:
        sys.stdout.flush()
        os._exit(status)


def wait(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


rng = random.Random(1)
killed = []
for learner in flags:
    began = time.perf_counter()
    assert wait(begin(f"{learner}-whole", learner)) == 0
    length = time.perf_counter() - began
    for _ in range(4):
        pid = begin(f"{learner}-random", learner)
        until = time.perf_counter() + rng.uniform(0.1, 0.9) * length
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
    (tmp_path / "data").mkdir()
    scone.write(tmp_path / "data" / "scene-train.tsv", get_world("scene"), generate("scene", 16, seed=1))
    flags = f"--data {tmp_path / 'data'} --world scene --epochs 2 --hidden 8 --embedding 6 --dropout 0.1 --execution-horizon 4"
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(tmp_path), f"{flags} --averaging 0.9 --decay 0.3 --clip 1", flags],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + (tmp_path / "log").read_text()
    kills, writes = map(int, done.stdout.split())
    assert kills >= 2
    assert writes >= 3 + 2 * 2  # three settings, then at least a checkpoint and the metrics of each epoch
    wholes = {learner: state_of(RunFolder(tmp_path / f"{learner}-whole")) for learner in ("sestra", "supervised")}
    others = [path for path in tmp_path.glob("*-*") if not path.name.endswith("whole")]
    assert len(others) == 2 + writes - 1
    different = [path.name for path in sorted(others) if state_of(RunFolder(path)) != wholes[path.name.partition("-")[0]]]
    assert not different, "killed at a random moment, or just before its n-th write, and then resumed"

"""Training with a teacher: what is learnt from its choices, and which teachers are refused."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from commands import run
from lamps import Lamps, interactions
from plain_policy import PlainConfig
from small_runs import TINY, measure, start, state_of

from sestra.agent import folder as agent_folder
from sestra.agent.decoding import forced, roll_out
from sestra.agent.runtime import Ensemble
from sestra.data.batch import encode_turns
from sestra.errors import InputError
from sestra.learning import trainer
from sestra.learning.config import TrainConfig
from sestra.learning.execution import Execution
from sestra.learning.export import export_run
from sestra.learning.learners import distillation
from sestra.learning.learners.base import average
from sestra.learning.learners.distillation import Teacher
from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.learning.trainer import Trainer
from sestra.worlds import WORLDS
from sestra.worlds.reward import rewards

OBJECTS = TINY.changed(
    learner="best-action",
    optimiser="adam",
    epochs=8,
    batch_size=20,
    oracle_fraction=0.5,
    policy=ObjectConfig(embedding=12, size=24, heads=2),
)
PLAIN = TINY.changed(policy=PlainConfig(size=8))
"""Of teachers: a policy that is exported in little time."""


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)


@pytest.fixture
def teacher(tmp_path) -> Path:
    """A run with a policy after one epoch, which is sure of nothing, and its agent."""
    return trained(tmp_path / "teacher", PLAIN, epochs=1)


def trained(path: Path, config: TrainConfig, count: int = 30, **changes) -> Path:
    run = start(path, config, count, **changes)
    run.run()
    export_run(run.folder, run.validation)
    return path


@pytest.mark.parametrize(
    ("weight", "normalisation"), [(0.0, "per-execution"), (0.25, "per-execution"), (0.25, "per-step"), (1.0, "per-step")]
)
def test_the_likelihood_of_the_teachers_choices_has_a_weight_in_the_objective(tmp_path, teacher, weight, normalisation, monkeypatch):
    monkeypatch.setattr(trainer, "DISTILLATION_WEIGHT", weight)
    student = start(tmp_path / "student", teacher=str(teacher), learner="best-action", normalisation=normalisation)
    batch = student.train.select(np.arange(6))
    runtime = agent_folder.read(teacher / "agent").runtime()
    value, execution, *_ = student.update(batch)
    mine = execution.log_probs.detach()
    told = []
    for row, length in enumerate(execution.lengths.tolist()):
        alone = batch.select(np.array([row]))
        theirs = roll_out(runtime, student.tables, alone, length, forced(execution.actions[:length, row].unsqueeze(0).numpy()))
        products = [
            float(log_prob) * math.exp(probability)
            for step in range(length)
            for log_prob, probability in zip(mine[step, row], theirs.log_probs[step, 0], strict=True)
        ]
        told.append(sum(products) / (length if normalisation == "per-execution" else float(execution.lengths.float().mean())))
    values = student.learner.objective(execution, rewards_of(student, execution, batch.goal))
    observed = average(values, execution, normalisation).mean()
    assert value == pytest.approx((1 - weight) * float(observed.detach()) + weight * sum(told) / len(told), abs=1e-5)


def rewards_of(run, execution, goals):
    states, settings = execution.states.numpy(), run.config.rollout
    goals, last = np.broadcast_to(goals, states.shape), np.arange(len(states))[:, None] == settings.horizon - 1
    observed = rewards(run.tables, states, goals, verbosity=settings.verbosity, shaping=settings.shaping, at_horizon=last)
    return torch.from_numpy(observed)


def test_a_teacher_alone_teaches_the_lamps(tmp_path, monkeypatch):
    """Its choices are all that is learnt from; the rewards have no share in the objective."""
    teacher = trained(tmp_path / "teacher", OBJECTS.changed(policy=PlainConfig(size=32)), 300)
    monkeypatch.setattr(trainer, "DISTILLATION_WEIGHT", 1.0)
    taught = start(tmp_path / "student", OBJECTS, 300, learning_rate=0.003, seed=2, teacher=str(teacher))
    taught.run()
    unseen = encode_turns(interactions(100, seed=2), taught.vocabulary, taught.tables)
    student = load_trained(taught.folder).policy
    assert measure(load_trained(RunFolder(teacher)).policy, taught.tables, unseen).inst.percent > 80
    assert measure(student, taught.tables, unseen).inst.percent > 85


def test_resumed_to_the_same_bits(tmp_path, teacher):
    whole = start(tmp_path / "whole", epochs=2, teacher=str(teacher))
    whole.run()
    cut = start(tmp_path / "cut", epochs=2, teacher=str(teacher))
    cut.callback = StopAfterOne()
    with pytest.raises(InterruptedError):
        cut.run()
    again = Trainer(cut.folder.config(), interactions(30, seed=1), cut.folder)
    assert again.resume() == []
    again.run()
    assert state_of(cut.folder) == state_of(whole.folder)


class StopAfterOne:
    def on_batch_end(self, done, total, objective): ...

    def on_epoch_end(self, record):
        raise InterruptedError


def test_another_teacher_in_the_place_of_the_first_is_noticed(tmp_path, teacher):
    run = start(tmp_path / "student", epochs=2, teacher=str(teacher))
    run.callback = StopAfterOne()
    with pytest.raises(InterruptedError):
        run.run()
    shutil.rmtree(teacher)
    trained(teacher, PLAIN, epochs=1, seed=2)
    again = Trainer(run.folder.config(), interactions(30, seed=1), run.folder)
    with pytest.raises(InputError, match="is not the one that the run began with"):
        again.resume()


def test_what_the_learner_can_never_do_is_not_learnt(tmp_path, monkeypatch):
    """The object policy's scores of such actions are fixed; what a teacher would give them must not draw the others down."""
    scores = torch.tensor([[[0.0, 1.0, -1e4]]], requires_grad=True)
    choices = torch.tensor([[[0.5, 0.25, 0.25]]])
    alive = torch.ones(1, 1, dtype=torch.bool)
    state, action = torch.zeros(1, 1, 1, dtype=torch.long), torch.zeros(1, 1, dtype=torch.long)

    monkeypatch.setattr(distillation, "roll_out", lambda *_: SimpleNamespace(log_probs=choices.log().numpy()))
    run = start(tmp_path / "run")
    execution = Execution(state, scores.log_softmax(-1), action, alive, state[0], alive[0])
    Teacher(Ensemble([]), run.tables, "").likelihood(run.train, execution).sum().backward()
    shares = scores.detach().softmax(-1)[0, 0, :2]
    assert torch.allclose(scores.grad[0, 0], torch.cat([choices[0, 0, :2] - 0.75 * shares, torch.zeros(1)]), atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"teacher": "nobody"}, "--teacher nobody: is no agent"),
        ({"teacher": "alchemy"}, "--teacher alchemy: has another world than this run"),
        ({"min_word_count": 1000}, "has another vocabulary than this run"),
    ],
)
def test_teachers_that_cannot_teach(tmp_path, teacher, changes, complaint):
    config = TINY.changed(**{"teacher": str(teacher), **changes})
    with pytest.raises(InputError, match=complaint):
        Trainer(config, interactions(30, seed=1), RunFolder(tmp_path / "student"))


def test_no_folder_is_left_by_a_run_whose_teacher_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("SCONE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    status, _, complaints = run(capsys, "train", "--world", "scene", "--teacher", "alchemy", "--out", tmp_path / "student")
    assert status != 0
    assert "name one trained on the same data" in complaints
    assert not (tmp_path / "student").exists()

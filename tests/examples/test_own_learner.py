"""The example of a learner does what docs/your-own-learner.md says of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from lifecycle import BROKEN, EXAMPLES

from sestra.learning.config import configure
from sestra.learning.execution import Execution
from sestra.learning.learners.registry import LEARNERS

REFERENCE = f"{EXAMPLES / 'own_learner.py'}:Margin"
STEPS, BATCH, ACTIONS = 3, 4, 5


@pytest.fixture
def execution() -> Execution:
    generator = torch.Generator().manual_seed(1)
    alive = torch.arange(STEPS).unsqueeze(1) < torch.tensor([1, 2, 3, 3])  # [steps, batch]
    empty = torch.zeros(STEPS, BATCH, dtype=torch.long)
    log_probs = torch.randn(STEPS, BATCH, ACTIONS, generator=generator, dtype=torch.double).log_softmax(-1)
    return Execution(empty.unsqueeze(2), log_probs, empty, alive, empty[0].unsqueeze(1), alive[0])


@pytest.mark.parametrize("margin", [0.0, 0.5, 2.0])
def test_objective_is_the_equation(execution, margin):
    rewards = torch.randint(-2, 3, execution.log_probs.shape, generator=torch.Generator().manual_seed(2)).double()
    expected = torch.zeros(STEPS, BATCH, dtype=torch.double)
    for step, row in execution.alive.nonzero().tolist():
        observed, logs = rewards[step, row].tolist(), execution.log_probs[step, row].tolist()
        highest = max(observed)
        violation = max(log + margin * (highest - reward) for log, reward in zip(logs, observed, strict=True))
        expected[step, row] = max(log for log, reward in zip(logs, observed, strict=True) if reward == highest) - violation
    learner = LEARNERS.get(REFERENCE)(margin=margin)
    torch.testing.assert_close(learner.objective(execution, rewards) * execution.alive, expected)


def test_nothing_is_gained_beyond_the_margin(execution):
    rewards = torch.zeros_like(execution.log_probs)
    rewards[..., 0] = 1
    sure = torch.zeros_like(execution.log_probs)
    sure[..., 0] = 3
    learner = LEARNERS.get(REFERENCE)(margin=2.0)
    assert not learner.objective(replace(execution, log_probs=sure.log_softmax(-1)), rewards).any()


def test_it_learns(accuracy_on_lamps):
    flags = {"world": "lamps", "preset": "paper", "epochs": 8, "batch_size": 20, "learning_rate": 0.005, "horizon": 3}
    config = configure({**flags, "learner": REFERENCE, "embedding": 12, "hidden": 24, "dropout": 0.0, "batch_order": "length"})
    assert accuracy_on_lamps(config) > 90


def test_from_training_to_an_exported_agent(lifecycle):
    exported = lifecycle.check("--learner", REFERENCE, "--margin", "0.5", "--hidden", "8", "--embedding", "6")
    stored = json.loads((lifecycle.folder / "run" / "config.json").read_text())["learner"]
    assert stored == {"name": REFERENCE, "margin": 0.5}
    assert exported.training["config"]["learner"] == stored
    assert f"learner `{REFERENCE}`" in " ".join(exported.card.split())


def test_a_value_that_makes_no_sense(lifecycle):
    printed = lifecycle.sestra("train", "--world", "scene", "--learner", REFERENCE, "--margin", "-1", status=2)
    assert "--margin -1.0: expected a number from 0 to 1,000,000" in printed


@pytest.mark.parametrize("reference", BROKEN)
def test_wrong_references(check_broken, reference):
    check_broken(reference, "learner")

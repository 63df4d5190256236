"""Each objective's gradient against the one computed action by action in plain Python, on a tiny world."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from lamps import Lamps, interactions
from torch import nn

from sestra.errors import InputError
from sestra.learning.config import TrainConfig
from sestra.learning.decoding import OracleGuided, sampled
from sestra.learning.exploration import Exploration
from sestra.learning.learners.registry import LEARNERS
from sestra.learning.learners.sestra import Sestra
from sestra.learning.policies.base import Encoded, Policy, Step
from sestra.learning.rollout import roll_out
from sestra.learning.run_folder import RunFolder
from sestra.learning.trainer import Trainer
from sestra.worlds import STOP, WORLDS

VERBOSITY, ENTROPY, HORIZON, BATCH = 0.15, 0.3, 4, 12
WITHOUT_ENTROPY = {"supervised", "best-action", "dagger"}
WITH_CRITIC = {"actor-critic", "mean-actor-critic", "sestra-estimator"}


class Logits(Policy):
    """A policy whose scores are its parameters: one for every action at every step of every turn in the batch."""

    def __init__(self, batch: int, steps: int, actions: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.scores = nn.Parameter(torch.randn(batch, steps, actions, generator=generator))
        with torch.no_grad():
            self.scores[..., -1] += 1  # STOP now and then, so that executions differ in length

    def encode(self, inputs):
        return Encoded((), (torch.arange(len(inputs.words)), torch.zeros(len(inputs.words), dtype=torch.long)))

    def step(self, memory, carry, states, previous, *, return_attention=False):
        row, number = carry
        return Step(self.scores[row, number], (row, number + 1))


@pytest.fixture
def training(monkeypatch, tmp_path):
    """Makes a run on lamps whose policy is its scores, and whose optimiser adds the gradient itself."""
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)

    def make(learner: str, seed: int, **changes) -> Trainer:
        weights = {} if learner in WITHOUT_ENTROPY else {"entropy": ENTROPY}
        config = TrainConfig(world="lamps", seed=seed).changed(
            learner=learner, horizon=HORIZON, verbosity=VERBOSITY, batch_size=BATCH, **weights, **changes
        )
        made = Trainer(config, interactions(30, seed=seed), RunFolder(tmp_path))
        made.policy = Logits(BATCH, HORIZON, made.tables.actions, seed)
        made.optimiser = torch.optim.SGD(made.policy.parameters(), lr=1.0)
        if made.critic:
            made.critic.network = Logits(BATCH, HORIZON, made.tables.actions, seed + 100)
            made.critic.optimiser = torch.optim.SGD(made.critic.network.parameters(), lr=1.0)
        return made

    return make


# Section 5 in plain Python.


def reward(world, state, goal, action, last):
    after = world.apply(state, action)
    if action == STOP:
        problem = 1.0 if after == goal else -1.0
    elif last:
        problem = -1.0  # the horizon: this action ends the execution without STOP
    else:
        problem = -VERBOSITY - (after == state)
    return problem + world.state_distance(state, goal) - world.state_distance(after, goal)


def probabilities(scores):
    exponentials = [math.exp(score) for score in scores]
    return [value / sum(exponentials) for value in exponentials]


def gradient_of_probability(pi, action):
    """By each score."""
    return [pi[action] * ((action == other) - pi[other]) for other in range(len(pi))]


def gradient_of_log(pi, action):
    return [(action == other) - pi[other] for other in range(len(pi))]


def gradient_of_entropy(pi):
    """H = -sum_a pi_a log pi_a, so dH = -sum_a (1 + log pi_a) d pi_a."""
    total = [0.0] * len(pi)
    for action, p in enumerate(pi):
        for other, change in enumerate(gradient_of_probability(pi, action)):
            total[other] -= (1 + math.log(p)) * change
    return total


def by_hand(learner, world, start, goal, scores, actions, settings, estimates=None, branch=None):
    """The gradient by the scores of each of its steps of what an execution contributes: the sum over its steps.

    Where there is a critic, also the gradient by its estimates.
    """
    critic = []
    states, state = [], start
    for action in actions:
        states.append(state)
        state = world.apply(state, world.actions[action])
    last = [number == HORIZON - 1 and settings.get("horizon_penalty", True) for number in range(len(actions))]
    received = [reward(world, s, goal, world.actions[a], at_end) for s, a, at_end in zip(states, actions, last, strict=True)]
    rows = []
    for number, (state, action) in enumerate(zip(states, actions, strict=True)):
        pi = probabilities(scores[number])
        to_go = sum(settings.get("discount", 1.0) ** later * r for later, r in enumerate(received[number:]))
        if learner in WITH_CRITIC:
            wanted = received[number] if learner == "sestra-estimator" else to_go
            critic.append([(wanted - q) * (other == action) for other, q in enumerate(estimates[number])])
        if learner == "actor-critic":
            expected = sum(p * q for p, q in zip(pi, estimates[number], strict=True))
            row = [(to_go - expected) * change for change in gradient_of_log(pi, action)]
        elif learner in WITH_CRITIC or learner == "lols":
            row = [0.0] * len(pi)
            for other in range(len(pi)):
                if learner in WITH_CRITIC:
                    value = estimates[number][other]
                else:
                    value = len(actions) * rolled_out(world, states, actions, goal, number, other) if number == branch else 0.0
                row = [x + value * change for x, change in zip(row, gradient_of_probability(pi, other), strict=True)]
        elif learner == "dagger":
            row = gradient_of_log(pi, demonstration(world, state, goal)[0])
        elif learner == "sestra":
            row = [0.0] * len(pi)
            for other, name in enumerate(world.actions):
                r = reward(world, state, goal, name, last[number])
                row = [x + r * change for x, change in zip(row, gradient_of_probability(pi, other), strict=True)]
        elif learner == "best-action":
            observed = [reward(world, state, goal, name, last[number]) for name in world.actions]
            best = [other for other, r in enumerate(observed) if r > max(observed) - 1e-9]
            total = sum(pi[other] for other in best)
            changes = [gradient_of_probability(pi, other) for other in best]
            row = [sum(change) / total for change in zip(*changes, strict=True)]  # d log sum = sum d / sum
        else:
            if learner == "policy-gradient" and settings.get("credit") == "return-to-go":
                credit = to_go
            else:
                credit = {"policy-gradient": sum(received), "contextual-bandit": received[number], "supervised": 1.0}[learner]
            if settings.get("entropy_in_reward"):
                credit -= ENTROPY * sum(p * math.log(p) for p in pi)
            row = [credit * change for change in gradient_of_log(pi, action)]
        if learner not in WITHOUT_ENTROPY:
            row = [x + ENTROPY * change for x, change in zip(row, gradient_of_entropy(pi), strict=True)]
        rows.append(row)
    return rows, critic


def rolled_out(world, states, actions, goal, branch, tried):
    """The rewards from a step on, if another action is taken there and a demonstration follows, within the horizon."""
    state, total, left = states[branch], 0.0, [tried]
    for number in range(branch, HORIZON):
        action = world.actions[left.pop(0)]
        total += reward(world, state, goal, action, number == HORIZON - 1)
        if action == STOP:
            break
        state = world.apply(state, action)
        left = left or demonstration(world, state, goal)
    return total


def demonstration(world, start, goal):
    """Everything out that must go, then everything lit, each from the left; then STOP."""
    out = [f"out {n}" for n, (now, wanted) in enumerate(zip(start, goal, strict=True), start=1) if now not in ("_", wanted)]
    lit = [f"light {n} {wanted}" for n, (now, wanted) in enumerate(zip(start, goal, strict=True), start=1) if wanted not in ("_", now)]
    return [world.action_indices[world.parse_action(text)] for text in [*out, *lit, "stop"]]


PER_STEP: dict[str, Any] = {"normalisation": "per-step"}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((learner, {}) for learner in LEARNERS.names()),
    *((learner, PER_STEP) for learner in LEARNERS.names()),
    ("actor-critic", {"discount": 0.5}),
    ("mean-actor-critic", {"discount": 0.5}),
    ("policy-gradient", {"credit": "return-to-go", "discount": 0.5}),
    ("policy-gradient", {"credit": "return-to-go", "discount": 1.0, "horizon_penalty": False}),
    ("policy-gradient", {"credit": "return-to-go", "discount": 0.0}),
    ("contextual-bandit", {"entropy_in_reward": True}),
    ("contextual-bandit", {"entropy_in_reward": True, "horizon_penalty": False, **PER_STEP}),
    ("sestra", {"horizon_penalty": False, **PER_STEP}),
]


@pytest.mark.parametrize(("learner", "settings"), VARIANTS)
def test_gradient_equals_enumeration_over_all_actions(training, monkeypatch, learner, settings):
    if learner == "lols":  # roll-outs that do not depend on chance; where executions are branched does
        settings = settings | {"reference_fraction": 1.0}
    branches = record_branches(monkeypatch)
    seen: set[tuple[int, bool]] = set()
    for seed in range(4):
        run = training(learner, seed, **settings)
        world, tables = run.tables.world, run.tables
        turns = run.train.select(np.arange(BATCH))
        if learner == "supervised":  # goals up to three actions away, so that demonstrations differ in length
            goal = np.random.default_rng(seed).integers(3, size=turns.goal.shape)
            goal = np.where(tables.steps_to_go(turns.initial, goal)[:, None] < HORIZON, goal, turns.goal)
            turns = turns.__class__(**{**vars(turns), "goal": goal})
        before = run.policy.scores.detach().clone()
        estimates = run.critic.network.scores.detach().clone() if run.critic else None
        execution = run.update(turns).execution
        found = run.policy.scores.detach() - before
        wanted = torch.zeros_like(found)
        wanted_of_critic = torch.zeros_like(found)
        for row, (start, goal) in enumerate(zip(tables.decode(turns.initial), tables.decode(turns.goal), strict=True)):
            length = int(execution.lengths[row])
            actions = execution.actions[:length, row].tolist()
            if learner == "supervised":
                assert actions == demonstration(world, start, goal)
            seen.add((length, actions[-1] == tables.stop))
            steps = int(execution.lengths.sum()) if settings.get("normalisation") == "per-step" else BATCH * length
            actor, critic = by_hand(
                learner, world, start, goal, before[row].tolist(), actions, settings,
                estimates[row].tolist() if run.critic else None, branches[-1][row] if branches else None,
            )  # fmt: skip
            wanted[row, :length] = torch.tensor(actor) / steps
            if run.critic:
                wanted_of_critic[row, :length] = torch.tensor(critic) / steps
        torch.testing.assert_close(found, wanted, atol=2e-6, rtol=1e-4)
        if run.critic:
            torch.testing.assert_close(run.critic.network.scores.detach() - estimates, wanted_of_critic, atol=1e-6, rtol=1e-4)
    assert {length for length, _ in seen} == set(range(1, HORIZON + 1)) or learner == "supervised"
    assert len(seen) > 2
    if learner != "supervised":  # the horizon cut some executions off, and at the horizon others stopped by themselves
        assert {(HORIZON, False), (HORIZON, True)} <= seen


def record_branches(monkeypatch) -> list[list[int]]:
    """Of each batch, the step in which each execution was branched; filled in as batches are explored."""
    found: list[list[int]] = []
    explore = Exploration.branch_returns

    def recorded(self, fraction):
        returns = explore(self, fraction)  # [steps, batch, actions]
        assert ((returns != 0).any(-1).sum(0) == 1).all()
        found.append((returns != 0).any(-1).int().argmax(0).tolist())
        return returns

    monkeypatch.setattr(Exploration, "branch_returns", recorded)
    return found


def test_roll_outs_follow_the_policy(training, monkeypatch):
    """With a policy that is certain of everything, the returns are those of its own executions."""
    branches, run = record_branches(monkeypatch), training("lols", 0, reference_fraction=0.0)
    turns = run.train.select(np.arange(BATCH))
    run.policy.scores = nn.Parameter(1e6 * run.policy.scores.detach())
    choices = run.policy.scores.argmax(-1).tolist()  # [batch][steps]
    observed = run.execute(turns, run.learner)
    world, tables, count = run.tables.world, run.tables, 0
    for row, (start, goal) in enumerate(zip(tables.decode(turns.initial), tables.decode(turns.goal), strict=True)):
        branch = branches[-1][row]
        for tried in range(tables.actions):
            state, total = start, 0.0
            for step in range(HORIZON):
                action = world.actions[tried if step == branch else choices[row][step]]
                if step >= branch:
                    total += reward(world, state, goal, action, step == HORIZON - 1)
                    count += 1
                if action == STOP:
                    break
                state = world.apply(state, action)
            assert observed.rewards[branch, row, tried].item() == pytest.approx(total, abs=1e-5)
    assert observed.observations == count
    assert len(set(branches[-1])) > 1


@pytest.mark.parametrize(
    ("learner", "per_step"),
    [("sestra", 10), ("best-action", 10), ("policy-gradient", 1), ("sestra-estimator", 1), ("supervised", 1), ("dagger", 1)],
)
def test_observations_are_counted(training, learner, per_step):
    run = training(learner, 0)
    update = run.update(run.train.select(np.arange(BATCH)))
    assert run.tables.actions == 10
    assert update.observations == per_step * int(update.execution.alive.sum())


def test_an_objective_with_one_value_per_execution_is_refused(training, monkeypatch):
    run = training("sestra", 0)
    monkeypatch.setattr(Sestra, "objective", lambda _, execution, __: execution.log_probs.sum((0, 2)))
    with pytest.raises(
        InputError, match=r"learner 'sestra': its objective gives a tensor of the shape \(12,\); expected one value per step"
    ):
        run.update(run.train.select(np.arange(BATCH)))


@pytest.mark.parametrize("learner", ["sestra", "policy-gradient", "contextual-bandit", "supervised"])
def test_finished_executions_have_no_gradient_after_their_end(training, learner):
    run = training(learner, 4)
    before = run.policy.scores.detach().clone()
    execution = run.update(run.train.select(np.arange(BATCH))).execution
    changed = (run.policy.scores.detach() != before).any(-1)  # [batch, steps]
    for row, length in enumerate(execution.lengths.tolist()):
        assert changed[row].tolist() == [number < length for number in range(HORIZON)]


def test_an_update_rises(training):
    """The value that is reported is the objective, and a small step along the gradient makes it larger."""
    run = training("supervised", 0)
    run.optimiser = torch.optim.SGD(run.policy.parameters(), lr=0.1)
    turns = run.train.select(np.arange(BATCH))
    values = [run.update(turns)[0] for _ in range(5)]
    assert values == sorted(values)
    assert values[0] < values[-1] < 0


def test_sampling_follows_the_policy(training):
    """Over many turns the first action is drawn as often as its probability says."""
    run = training("sestra", 0)
    count = 6000
    turns = run.train.select(np.zeros(count, np.int64))
    policy = Logits(1, 1, run.tables.actions, seed=3)
    policy.scores = nn.Parameter(policy.scores.detach().expand(count, 1, -1))
    execution = roll_out(policy, run.tables, turns, 1, sampled(torch.Generator().manual_seed(0)))
    shares = torch.bincount(execution.actions[0], minlength=run.tables.actions) / count
    expected = policy.scores[0, 0].softmax(-1)
    spread = (expected * (1 - expected) / count).sqrt()
    assert ((shares - expected).abs() < 4.5 * spread).all()


@pytest.mark.parametrize(
    ("learner", "led"), [("best-action", True), ("sestra", True), ("policy-gradient", False), ("contextual-bandit", False)]
)
def test_only_learners_that_observe_every_action_may_be_guided(training, learner, led):
    run = training(learner, 0, oracle_fraction=1.0)
    turns = run.train.select(np.arange(BATCH))
    execution, _, own, _ = run.execute(turns, run.learner)
    best = run.tables.optimal_actions(execution.states[0].numpy(), turns.goal)
    assert best[np.arange(BATCH), execution.actions[0].numpy()].all() == led
    assert own.any() != led


def test_guided_executions_take_a_shortest_way(training):
    run = training("best-action", 0)
    turns = run.train.select(np.arange(BATCH))
    togo = torch.from_numpy(run.tables.steps_to_go(turns.initial, turns.goal))
    for share in (1.0, 0.5, 0.0):
        policy = Logits(BATCH, 8, run.tables.actions, seed=5)
        execution = roll_out(policy, run.tables, turns, 8, OracleGuided(run.tables, turns.goal, share, torch.Generator().manual_seed(1)))
        shortest = (execution.lengths == togo + 1) & (execution.final == torch.from_numpy(turns.goal)).all(-1)
        assert {1.0: shortest.all(), 0.5: 3 <= shortest.sum() < BATCH, 0.0: shortest.sum() < 4}[share]

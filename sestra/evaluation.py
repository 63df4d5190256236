"""Task completion as the paper measures it: single instructions, the first three of an interaction, whole interactions."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import torch
from torch import Tensor

from sestra.data.batching import Turns, batches
from sestra.policies.base import Policy
from sestra.reward import take_actions
from sestra.rollout import greedy, roll_out
from sestra.worlds.tables import Tables

LONG = 8
"""Actions that few executions go beyond."""


@dataclass(frozen=True)
class Accuracy:
    """A share of successes, with its 95% interval."""

    successes: int
    trials: int

    @property
    def percent(self) -> float:
        return 100 * self.successes / self.trials if self.trials else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval, in percent."""
        if not self.trials:
            return float("nan"), float("nan")
        z = NormalDist().inv_cdf(0.975)
        share, shrink = self.successes / self.trials, 1 + z * z / self.trials
        centre = (share + z * z / (2 * self.trials)) / shrink
        spread = z / shrink * ((share * (1 - share) + z * z / (4 * self.trials)) / self.trials) ** 0.5
        return 100 * (centre - spread), 100 * (centre + spread)

    @classmethod
    def of(cls, success: Tensor) -> Accuracy:
        return cls(int(success.sum()), success.numel())


@dataclass(frozen=True)
class Evaluation:
    """What a policy reached, and how often it was right."""

    inst: Accuracy
    utts3: Accuracy
    utts5: Accuracy
    by_turn: tuple[Accuracy, ...]
    """Single instructions, by their place in the interaction."""
    reward: float
    """Mean over single instructions of the sum of an execution's rewards."""
    reached: Tensor  # [turns, slots]: from the annotated start state
    success: Tensor  # [turns]


@torch.no_grad()
def evaluate(policy: Policy, tables: Tables, turns: Turns, *, horizon: int, verbosity: float = 0.0, batch_size: int = 96) -> Evaluation:
    """Execute every instruction from its annotated start, then every interaction from its start state, greedily."""
    reached, reward = execute(policy, tables, turns, horizon, verbosity=verbosity, batch_size=batch_size)
    success = (reached == turns.goal).all(-1)  # [turns]
    utts3, utts5 = follow_interactions(policy, tables, turns, reached, horizon=horizon, batch_size=batch_size)
    numbers = range(int(turns.turn.max()) + 1)
    by_turn = tuple(Accuracy.of(success[turns.turn == number]) for number in numbers)
    return Evaluation(Accuracy.of(success), Accuracy.of(utts3), Accuracy.of(utts5), by_turn, float(reward.mean()), reached, success)


@torch.no_grad()
def follow_interactions(
    policy: Policy, tables: Tables, turns: Turns, reached: Tensor, *, horizon: int, batch_size: int = 96
) -> tuple[Tensor, Tensor]:
    """Whether the state is right after three turns and after the last, each turn starting where the one before it ended.

    ``reached`` says where the turns end from their annotated starts: until something has gone wrong, that is where they start.
    Interactions with a state that nobody annotated are left out.
    """
    whole = turns.whole.nonzero().squeeze(-1)
    turns, reached = turns.select(whole), reached[whole]
    interactions = int(turns.interaction.max()) + 1 if len(turns) else 0
    history = torch.zeros(interactions, *turns.history.shape[1:], dtype=torch.long)  # [interactions, turns, slots]
    right = torch.zeros(interactions, dtype=torch.bool)  # [interactions]
    followed = turns.interaction.unique()
    after_three = right[:0]  # [interactions that have three turns]
    for number in range(int(turns.turn.max()) + 1 if len(turns) else 0):
        rows = (turns.turn == number).nonzero().squeeze(-1)
        these, ended = turns.select(rows), reached[rows]  # ended: [rows, slots]
        if number == 0:
            history[these.interaction] = these.history
        course = history[these.interaction]  # [rows, turns, slots]
        astray = (course != these.history).flatten(1).any(1).nonzero().squeeze(-1)
        if len(astray):
            ended[astray], _ = execute(
                policy, tables, these.select(astray).starting_from(course[astray]), horizon, batch_size=batch_size
            )  # fmt: skip
        history[these.interaction, number + 1 :] = ended.unsqueeze(1)
        right[these.interaction] = (ended == these.goal).all(-1)
        if number == 2:
            after_three = right[these.interaction]
    return after_three, right[followed]


def execute(
    policy: Policy, tables: Tables, turns: Turns, horizon: int, *, verbosity: float = 0.0, batch_size: int = 96
) -> tuple[Tensor, Tensor]:
    """Final states and total rewards of greedy executions, in the turns' order.

    The few that go on for long are begun anew, all together, so that they keep nobody waiting.
    """
    results = [_execute_batch(policy, tables, batch, min(horizon, LONG), verbosity) for batch in batches(turns, batch_size)]
    back = turns.lengths.argsort(stable=True).argsort()
    final, total, stopped = (torch.cat(column)[back] for column in zip(*results, strict=True))  # [turns, slots], [turns], [turns]
    going = (~stopped).nonzero().squeeze(-1)
    if horizon > LONG and len(going):
        for rows in going.split(batch_size):
            final[rows], total[rows], _ = _execute_batch(policy, tables, turns.select(rows), horizon, verbosity)
    return final, total


def _execute_batch(policy: Policy, tables: Tables, turns: Turns, horizon: int, verbosity: float) -> tuple[Tensor, Tensor, Tensor]:
    execution = roll_out(policy, tables, turns, horizon, greedy)
    states, goals = execution.states.flatten(0, 1).numpy(), turns.goal.repeat(len(execution.states), 1).numpy()  # [steps * batch, slots]
    at_horizon = np.zeros(len(states), dtype=np.bool_)
    _, reward, _ = take_actions(tables, states, goals, execution.actions.flatten().numpy(), verbosity=verbosity, at_horizon=at_horizon)
    total = (torch.from_numpy(reward).view_as(execution.alive) * execution.alive).sum(0)  # [batch]
    return execution.final, total, execution.stopped

"""Task completion as the paper measures it: single instructions, the first three of an interaction, whole interactions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sestra.data.batch import Turns, batches
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import greedy, roll_out
from sestra.metrics import Accuracy
from sestra.worlds.reward import take_actions
from sestra.worlds.tables import Tables


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
def evaluate(
    policy: Policy, tables: Tables, turns: Turns, *, horizon: int, verbosity: float = 0.0, batch_size: int | None = None
) -> Evaluation:
    """Execute every instruction greedily from its annotated start, and every interaction from its start state.

    Until something has gone wrong the two are the same. From then on a turn is executed a second time, from where the interaction has come
    to, beside the first. Interactions with a state that nobody annotated are not followed.
    """
    reached, reward = torch.empty_like(turns.goal), torch.empty(len(turns), dtype=torch.double)  # [turns, slots], [turns]
    interactions = int(turns.interaction.max()) + 1
    course = turns.history.new_zeros(interactions, *turns.history.shape[1:])  # [interactions, turns, slots]: where each turn begins
    right = torch.zeros(interactions, dtype=torch.bool)  # [interactions]
    after_three = right[:0]  # [interactions that have three turns]
    numbers = range(int(turns.turn.max()) + 1)
    for number in numbers:
        rows = (turns.turn == number).nonzero().squeeze(1)
        these = turns.select(rows)
        if number == 0:
            course[these.interaction] = these.history
        come = course[these.interaction]  # [rows, turns, slots]
        astray = ((come != these.history).flatten(1).any(1) & these.whole).nonzero().squeeze(1)
        both = these.select(torch.cat([torch.arange(len(rows)), astray])).starting_from(torch.cat([these.history, come[astray]]))
        final, total = execute(policy, tables, both, horizon, verbosity=verbosity, batch_size=batch_size)
        ended, strayed = final.split([len(rows), len(astray)])  # [rows, slots], [astray, slots]
        reached[rows], reward[rows] = ended, total[: len(rows)]
        ended = ended.index_copy(0, astray, strayed)  # [rows, slots]
        course[these.interaction, number + 1 :] = ended.unsqueeze(1)
        right[these.interaction] = (ended == these.goal).all(-1)
        if number == 2:
            after_three = right[these.interaction[these.whole]]
    success = (reached == turns.goal).all(-1)  # [turns]
    return Evaluation(
        inst=Accuracy.of(success),
        utts3=Accuracy.of(after_three),
        utts5=Accuracy.of(right[turns.interaction[turns.whole].unique()]),
        by_turn=tuple(Accuracy.of(success[turns.turn == number]) for number in numbers),
        reward=float(reward.mean()),
        reached=reached,
        success=success,
    )


def execute(
    policy: Policy, tables: Tables, turns: Turns, horizon: int, *, verbosity: float = 0.0, batch_size: int | None = None
) -> tuple[Tensor, Tensor]:
    """Final states and total rewards of greedy executions, in the turns' order; by default as many at once as suit the policy."""
    results = [_execute_batch(policy, tables, batch, horizon, verbosity) for batch in batches(turns, batch_size or policy.at_once)]
    back = turns.lengths.argsort(stable=True).argsort()
    final, total = (torch.cat(column)[back] for column in zip(*results, strict=True))  # [turns, slots], [turns]
    return final, total


def _execute_batch(policy: Policy, tables: Tables, turns: Turns, horizon: int, verbosity: float) -> tuple[Tensor, Tensor]:
    execution = roll_out(policy, tables, turns, horizon, greedy)
    states, goals = execution.states.flatten(0, 1).numpy(), turns.goal.repeat(len(execution.states), 1).numpy()  # [steps * batch, slots]
    at_horizon = np.zeros(len(states), dtype=np.bool_)
    _, reward, _ = take_actions(tables, states, goals, execution.actions.flatten().numpy(), verbosity=verbosity, at_horizon=at_horizon)
    total = (torch.from_numpy(reward).view_as(execution.alive) * execution.alive).sum(0)  # [batch]
    return execution.final, total

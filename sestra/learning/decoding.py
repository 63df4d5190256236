"""How actions are chosen from a policy's scores: greedily, sampled, guided by an oracle, given beforehand, or by beam search."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from sestra.data.batch import Turns
from sestra.learning.policies.base import Inputs, Policy, select, select_rows
from sestra.worlds.tables import Integers, Tables

SMALLEST_UNIFORM = 2.0**-25
"""Lower bound of uniform draws, less than any that torch makes above 0, so that their logarithm is finite."""
Choose = Callable[[Tensor, Integers, int], Tensor]
"""Chooses actions ``[batch]`` from logits ``[batch, actions]``, the states ``[batch, slots]`` and the number of the step."""


def greedy(logits: Tensor, _states: Integers, _step: int) -> Tensor:
    """The most probable action."""
    return logits.argmax(-1)  # [batch]


def sampled(generator: torch.Generator) -> Choose:
    """Draw each action from the policy's distribution, by an exponential race (the Gumbel-max trick)."""

    def choose(logits: Tensor, _states: Integers, _step: int) -> Tensor:
        uniform = torch.rand(logits.shape, generator=generator).clamp_(min=SMALLEST_UNIFORM)  # [batch, actions]
        return (logits.softmax(-1) / -uniform.log()).argmax(-1)  # [batch]; torch's own exponential noise takes three times as long

    return choose


def forced(actions: Tensor) -> Choose:
    """The given actions, ``[batch, steps]``."""
    return lambda _logits, _states, step: actions[:, step]


class OracleGuided:
    """Samples actions; a fraction of the executions sample only from the actions on shortest paths to the goal."""

    def __init__(self, tables: Tables, goals: Integers, fraction: float, generator: torch.Generator) -> None:
        self.tables, self.goals, self.sample = tables, goals, sampled(generator)
        self.guided = torch.rand(len(goals), generator=generator) < fraction  # [batch]
        self._states: Integers | None = None  # the last states that were asked about, and the optimal actions there
        self._optimal_actions = torch.empty(0)

    def __call__(self, logits: Tensor, states: Integers, step: int) -> Tensor:
        optimal = self._optimal(states)  # [batch, actions]
        excluded = self.guided.unsqueeze(1) & ~optimal & optimal.any(1, keepdim=True)
        return self.sample(logits.masked_fill(excluded, -torch.inf), states, step)

    def certain(self, states: Integers) -> Tensor:
        """Which executions have only one action to sample from, whatever the policy's scores are, ``[batch]``."""
        return self.guided & (self._optimal(states).sum(1) == 1)

    def _optimal(self, states: Integers) -> Tensor:
        if self._states is not states:
            self._states, self._optimal_actions = states, torch.from_numpy(self.tables.optimal_actions(states, self.goals))
        return self._optimal_actions  # [batch, actions]


def beam_search(policy: Policy, tables: Tables, turns: Turns, horizon: int, width: int) -> Tensor:
    """The actions of the best execution of each turn, ``[batch, horizon]``, padded by STOP.

    Of all continuations by one action, the ``width`` most probable ones are kept; those among them that end in STOP are finished. A turn
    is done when no unfinished execution is more probable than the best finished one. If none has finished at the horizon, the best
    unfinished one is taken.
    """
    batch, encoded = len(turns), policy.encode(Inputs.of(turns))
    first = torch.arange(batch).unsqueeze(1) * width  # [batch, 1]: where each turn's beam begins
    rows = torch.arange(batch).repeat_interleave(width)  # [batch * width]: the turn of each row
    memory, carry = select(policy, encoded.memory, rows), select_rows(encoded.carry, rows)
    states, previous = turns.initial[rows.numpy()], torch.full_like(rows, tables.actions)
    scores = torch.full((batch, width), -torch.inf)  # [batch, width]
    scores[:, 0] = 0
    paths = torch.full((batch, width, horizon), tables.stop)  # [batch, width, horizon]
    best_score, best = torch.full((batch,), -torch.inf), paths[:, 0].clone()  # [batch], [batch, horizon]: of the finished ones
    for number in range(horizon):
        step = policy.step(memory, carry, torch.from_numpy(states), previous)
        log_probs = step.logits.log_softmax(-1).view(batch, width, -1)  # [batch, width, actions]
        scores, places = (scores.unsqueeze(-1) + log_probs).flatten(1).topk(width)  # [batch, width]
        parents, actions = places // tables.actions, places % tables.actions  # [batch, width]
        paths = paths.gather(1, parents.unsqueeze(-1).expand_as(paths))
        paths[..., number] = actions

        finished = actions == tables.stop  # [batch, width]
        score, place = scores.masked_fill(~finished, -torch.inf).max(1)  # [batch]
        better = score > best_score
        best[better] = paths[better, place[better]]
        best_score = torch.maximum(best_score, score)
        scores = scores.masked_fill(finished, -torch.inf)
        scores = scores.masked_fill((best_score >= scores.amax(1)).unsqueeze(1), -torch.inf)
        if not scores.isfinite().any():
            break
        came_from = (first + parents).flatten()  # [batch * width]
        carry = select_rows(step.carry, came_from)
        previous = actions.flatten()
        states = tables.step(states[came_from.numpy()], previous.numpy())
    unfinished = best_score.isneginf().nonzero().squeeze(1)
    best[unfinished] = paths[unfinished, scores[unfinished].argmax(1)]
    return best

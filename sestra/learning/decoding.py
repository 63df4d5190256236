"""How actions are chosen from a policy's scores in training and validation: greedily, sampled, guided by an oracle, or given beforehand."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

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

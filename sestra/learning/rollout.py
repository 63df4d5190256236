"""Executing a policy in a compiled world, a batch of turns at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from sestra.data.batch import Turns
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Policy, spread
from sestra.worlds.tables import Tables

CROWDED = 0.8
"""The share of a batch's executions that must go on for those that have ended to stay: for them to leave, all memories are copied."""
LEAST = 2.0**-25
"""Less than any number above 0 that torch draws: nothing has to wait for ever."""
Choose = Callable[[Tensor, Tensor, int], Tensor]
"""Chooses actions ``[batch]`` from logits ``[batch, actions]``, the states ``[batch, slots]`` and the number of the step."""


def sampled(generator: torch.Generator) -> Choose:
    """Draw each action from the policy's distribution (as the largest of independent exponential races)."""

    def choose(logits: Tensor, _states: Tensor, _step: int) -> Tensor:
        uniform = torch.rand(logits.shape, generator=generator).clamp_(min=LEAST)  # [batch, actions]
        return (logits.softmax(-1) / -uniform.log()).argmax(-1)  # [batch]; torch's own exponential noise takes three times as long

    return choose


class Guided:
    """Draws as ``sampled`` does, but in a share of the executions only from the actions of shortest ways to the goal."""

    def __init__(self, tables: Tables, goals: Tensor, share: float, generator: torch.Generator) -> None:
        self.tables, self.goals, self.draw = tables, goals, sampled(generator)
        self.led = torch.rand(len(goals), generator=generator) < share  # [batch]
        self.seen = self.optimal = torch.empty(0)  # the last states that were asked about, and what is optimal there

    def __call__(self, logits: Tensor, states: Tensor, step: int) -> Tensor:
        optimal = self._optimal(states)  # [batch, actions]
        barred = self.led.unsqueeze(1) & ~optimal & optimal.any(1, keepdim=True)
        return self.draw(logits.masked_fill(barred, -torch.inf), states, step)

    def certain(self, states: Tensor) -> Tensor:
        """Which executions have but one action to draw from, whatever the policy says, ``[batch]``."""
        return self.led & (self._optimal(states).sum(1) == 1)

    def _optimal(self, states: Tensor) -> Tensor:
        if self.seen is not states:
            self.seen, self.optimal = states, self.tables.optimal_actions(states, self.goals)
        return self.optimal  # [batch, actions]


def greedy(logits: Tensor, _states: Tensor, _step: int) -> Tensor:
    """The most probable action."""
    return logits.argmax(-1)  # [batch]


def forced(actions: Tensor) -> Choose:
    """The given actions, ``[batch, steps]``."""
    return lambda _logits, _states, step: actions[:, step]


def roll_out(
    policy: Policy,
    tables: Tables,
    turns: Turns,
    horizon: int,
    choose: Choose,
    *,
    tell: bool = False,
    memory: Any = None,
    start: Tensor | None = None,
) -> Execution:
    """Execute each turn's instruction from its initial state until STOP or the horizon; ``tell`` if it matters what is looked at.

    For executions that have begun already, ``memory`` is what the policy has read and ``start``, ``[batch, slots]``, where they are; the
    policy must not go by the steps that came before, nor ``choose`` by their number.
    """
    batch, read = len(turns), policy.read(turns) if memory is None else memory
    memory, carry = read, policy.begin(read)
    guide = choose if isinstance(choose, Guided) and not carry and torch.is_grad_enabled() else None  # what is certain is scored at the end
    rows = torch.arange(batch)  # [running]: the executions that go on, and some that have ended since the last ones left
    state = turns.initial if start is None else start  # [batch, slots]
    previous = torch.full_like(rows, tables.actions)  # [batch]: BEG
    alive = torch.ones(batch, dtype=torch.bool)  # [batch]
    states, logits, actions, lives, attention = [], [], [], [], []
    for number in range(horizon):
        if guide is not None:
            rows = (alive & ~guide.certain(state)).nonzero().squeeze(1)
            with torch.no_grad():
                memory = policy.narrow(read, rows)
        elif int(alive.sum()) < CROWDED * len(rows):
            going = alive[rows].nonzero().squeeze(1)
            with torch.no_grad():  # where a gradient is wanted, it goes through what was read
                memory, carry, rows = policy.narrow(memory, going), tuple(part[going] for part in carry), rows[going]
        step = policy.step(memory, carry, state[rows], previous[rows], tell=tell)
        carry = step.carry
        scores = spread(step.logits, rows, batch)  # [batch, actions]
        action = torch.where(alive, choose(scores.detach(), state, number), tables.stop)  # [batch]
        states.append(state)
        logits.append(scores)
        actions.append(action)
        lives.append(alive)
        attention.append({name: spread(weights, rows, batch) for name, weights in step.attention.items()})
        state = tables.step(state, action)
        alive = action != tables.stop
        previous = action
        if not alive.any():
            break
    visited, living = torch.stack(states), torch.stack(lives)  # [steps, batch, slots], [steps, batch]
    log_probs = policy.finish(read, visited, torch.stack(logits), living).log_softmax(-1)  # [steps, batch, actions]
    return Execution(visited, log_probs, torch.stack(actions), living, state, ~alive, attention, read)

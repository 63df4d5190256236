"""Executing a policy in a compiled world, a batch of turns at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from sestra.data.batching import Turns
from sestra.policies.base import Policy
from sestra.worlds.tables import Tables

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""Chooses actions ``[batch]`` from logits ``[batch, actions]``, the states ``[batch, slots]`` and the number of the step."""


@dataclass(frozen=True)
class Execution:
    """What happened, step by step; an execution that has ended waits with STOP until the longest has."""

    states: Tensor  # [steps, batch, slots]: in which each action was chosen
    log_probs: Tensor  # [steps, batch, actions]
    actions: Tensor  # [steps, batch]
    alive: Tensor  # [steps, batch]: whether the execution had not ended before the step
    final: Tensor  # [batch, slots]
    stopped: Tensor  # [batch]: ended by STOP, not by the horizon
    attention: list[dict[str, Tensor]]

    @property
    def lengths(self) -> Tensor:
        """Actions of each execution, STOP included."""
        return self.alive.sum(0)  # [batch]


def sampled(generator: torch.Generator) -> Choose:
    """Draw each action from the policy's distribution (as the largest of independent exponential races)."""

    def choose(logits: Tensor, _states: Tensor, _step: int) -> Tensor:
        noise = torch.empty_like(logits).exponential_(generator=generator)
        return (logits.softmax(-1) / noise).argmax(-1)  # [batch]

    return choose


def guided(tables: Tables, goals: Tensor, share: float, generator: torch.Generator) -> Choose:
    """Draw as ``sampled`` does, but in a share of the executions only from the actions of shortest ways to the goal."""
    draw = sampled(generator)
    led = torch.rand(len(goals), generator=generator) < share  # [batch]

    def choose(logits: Tensor, states: Tensor, step: int) -> Tensor:
        optimal = tables.optimal_actions(states, goals)  # [batch, actions]
        barred = led.unsqueeze(1) & ~optimal & optimal.any(1, keepdim=True)
        return draw(logits.masked_fill(barred, -torch.inf), states, step)

    return choose


def greedy(logits: Tensor, _states: Tensor, _step: int) -> Tensor:
    """The most probable action."""
    return logits.argmax(-1)  # [batch]


def forced(actions: Tensor) -> Choose:
    """The given actions, ``[batch, steps]``."""
    return lambda _logits, _states, step: actions[:, step]


def roll_out(policy: Policy, tables: Tables, turns: Turns, horizon: int, choose: Choose) -> Execution:
    """Execute each turn's instruction from its initial state until STOP or the horizon."""
    memory = policy.read(turns)
    carry = policy.begin(memory)
    state = turns.initial  # [batch, slots]
    previous = torch.full((len(turns),), tables.actions)  # [batch]: BEG
    alive = torch.ones(len(turns), dtype=torch.bool)  # [batch]
    states, logits, actions, lives, attention = [], [], [], [], []
    for number in range(horizon):
        step = policy.step(memory, carry, state, previous)
        carry = step.carry
        action = torch.where(alive, choose(step.logits.detach(), state, number), tables.stop)  # [batch]
        states.append(state)
        logits.append(step.logits)
        actions.append(action)
        lives.append(alive)
        attention.append(step.attention)
        state = tables.step(state, action)
        alive = action != tables.stop
        previous = action
        if not alive.any():
            break
    living = torch.stack(lives)  # [steps, batch]
    log_probs = policy.finish(memory, torch.stack(logits), living).log_softmax(-1)  # [steps, batch, actions]
    return Execution(torch.stack(states), log_probs, torch.stack(actions), living, state, ~alive, attention)

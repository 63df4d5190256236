"""Executing a policy in a compiled world, a batch of turns at a time."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from sestra.agent import execution as arrays
from sestra.data.batch import Turns
from sestra.learning.decoding import Choose, OracleGuided, forced, greedy
from sestra.learning.device import device_of
from sestra.learning.execution import Execution
from sestra.learning.policies.base import (
    DeferredGradients,
    Encoded,
    IndependentSteps,
    Inputs,
    Policy,
    Visits,
    scatter_rows,
    select,
    select_rows,
)
from sestra.worlds.tables import Tables

COMPACT_BELOW = 0.8
"""Executions that have ended leave the batch when less than this fraction of it still runs: to leave, all memories are copied."""


def roll_out(
    policy: Policy,
    tables: Tables,
    turns: Turns,
    horizon: int,
    choose: Choose,
    *,
    copies: int = 1,
    compact_below: float = COMPACT_BELOW,
) -> Execution:
    """Execute each turn's instruction from its initial state until STOP or the horizon.

    Each turn is executed ``copies`` times, one after the other in the batch, and encoded once. Where gradients are wanted, they go through
    every step and through ``encode``. A policy with ``IndependentSteps`` or ``DeferredGradients`` takes its steps without autograd and
    computes the gradients of all of them at the end. The policy computes on its device; what happened is on the CPU.
    """
    visited, logits, *rest = _visit(policy, tables, turns, horizon, choose, copies, compact_below)
    return Execution(visited, logits.log_softmax(-1).cpu(), *rest)


def score_again(policy: Policy, tables: Tables, turns: Turns, execution: Execution) -> Tensor:
    """A policy's scores of every action, ``[steps, batch, actions]``, in the states of an execution that another policy chose."""
    return _visit(policy, tables, turns, len(execution.actions), forced(execution.actions.T), 1, COMPACT_BELOW)[1]


def _visit(
    policy: Policy, tables: Tables, turns: Turns, horizon: int, choose: Choose, copies: int, compact_below: float
) -> tuple[Tensor, ...]:
    """States, scores, actions, whether executions were alive, final states and whether they stopped: the fields of ``Execution``."""
    device = device_of(policy)
    encoded, initial = policy.encode(Inputs.of(turns, device)), turns.initial
    if copies > 1:
        copied = torch.arange(len(turns)).repeat_interleave(copies)  # [batch]
        encoded = Encoded(select(policy, encoded.memory, copied.to(device)), select_rows(encoded.carry, copied.to(device)))
        initial = initial[copied.numpy()]
    batch = len(initial)
    at_once = isinstance(policy, IndependentSteps)
    deferred = torch.is_grad_enabled() and (at_once or isinstance(policy, DeferredGradients))
    guide = choose if deferred and at_once and isinstance(choose, OracleGuided) else None  # what is certain is scored at the end
    memory, carry = encoded
    rows = torch.arange(batch)  # [running]: the executions that are scored: all that run, and some that ended since the last left
    state = initial  # [batch, slots]
    previous = torch.full_like(rows, tables.actions)  # [batch]
    alive = torch.ones(batch, dtype=torch.bool)  # [batch]
    states, befores, lives, logits, scored, records, actions = [], [], [], [], [], [], []
    with torch.set_grad_enabled(torch.is_grad_enabled() and not deferred):
        for number in range(horizon):
            if guide is not None:
                rows = (alive & ~guide.certain(state)).nonzero().squeeze(1)
                memory = select(policy, encoded.memory, rows.to(device))
            elif int(alive.sum()) < compact_below * len(rows):
                running = alive[rows].nonzero().squeeze(1)
                rows, there = rows[running], running.to(device)
                memory, carry = select(policy, memory, there), select_rows(carry, there)
            step = policy.step(memory, carry, torch.from_numpy(state)[rows].to(device), previous[rows].to(device))
            carry = step.carry
            scores = scatter_rows(step.logits, rows.to(device), batch)  # [batch, actions]
            action = torch.where(alive, choose(scores.detach().cpu(), state, number), tables.stop)  # [batch]
            states.append(state)
            befores.append(previous)
            lives.append(alive)
            logits.append(scores)
            scored.append(rows)
            records.append(step.record if deferred else None)
            actions.append(action)
            state = tables.step(state, action.numpy())
            alive = action != tables.stop
            previous = action
            if not alive.any():
                break
    visited, living, scores = torch.from_numpy(np.stack(states)), torch.stack(lives), torch.stack(logits)  # [steps, batch, ...]
    if deferred:
        if isinstance(policy, IndependentSteps):
            scores = policy.score_steps(encoded.memory, visited.to(device), scores, living.to(device))  # [steps, batch, actions]
        elif isinstance(policy, DeferredGradients):
            last, rows_there = torch.stack(befores).to(device), [each.to(device) for each in scored]
            visits = Visits(visited.to(device), last, living.to(device), scores, rows_there, records)
            scores = policy.replay(encoded.memory, visits)
    final = torch.from_numpy(state)  # [batch, slots]
    return visited, scores, torch.stack(actions), living, final, ~alive


@torch.no_grad()
def execute_greedily(policy: Policy, tables: Tables, turns: Turns, horizon: int) -> arrays.Execution:
    """Execute each turn's instruction by the most probable actions; what happened is arrays, as evaluation takes them."""
    execution = roll_out(policy, tables, turns, horizon, greedy)
    return arrays.Execution(**{name: value.numpy() for name, value in vars(execution).items() if name != "estimates"})

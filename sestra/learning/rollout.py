"""Executing a policy in a compiled world, a batch of turns at a time."""

from __future__ import annotations

import numpy as np
import torch

from sestra.data.batch import Turns
from sestra.learning.decoding import Choose, OracleGuided
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
from sestra.worlds.tables import Integers, Tables

COMPACT_BELOW = 0.8
"""Executions that have ended leave the batch when less than this fraction of it still runs: to leave, all memories are copied."""


def roll_out(
    policy: Policy,
    tables: Tables,
    turns: Turns,
    horizon: int,
    choose: Choose,
    *,
    return_attention: bool = False,
    encoded: Encoded | None = None,
    start: Integers | None = None,
    compact_below: float = COMPACT_BELOW,
) -> Execution:
    """Execute each turn's instruction from its initial state until STOP or the horizon.

    Where gradients are wanted, they go through every step and through ``encode``. A policy with ``IndependentSteps`` or
    ``DeferredGradients`` takes its steps without autograd and computes the gradients of all of them at the end.

    Executions that have begun already are continued from ``encoded`` and their states, ``start``, ``[batch, slots]``; the policy must have
    ``IndependentSteps``, and ``choose`` must not depend on the number of the step.
    """
    batch, encoded = len(turns), policy.encode(Inputs.of(turns)) if encoded is None else encoded
    at_once = isinstance(policy, IndependentSteps)
    deferred = torch.is_grad_enabled() and (at_once or isinstance(policy, DeferredGradients))
    guide = choose if deferred and at_once and isinstance(choose, OracleGuided) else None  # what is certain is scored at the end
    memory, carry = encoded
    rows = torch.arange(batch)  # [running]: the executions that are scored: all that run, and some that ended since the last left
    state = turns.initial if start is None else start  # [batch, slots]
    previous = torch.full_like(rows, tables.actions)  # [batch]
    alive = torch.ones(batch, dtype=torch.bool)  # [batch]
    states, befores, lives, logits, scored, records, actions, attention = [], [], [], [], [], [], [], []
    with torch.set_grad_enabled(torch.is_grad_enabled() and not deferred):
        for number in range(horizon):
            if guide is not None:
                rows = (alive & ~guide.certain(state)).nonzero().squeeze(1)
                memory = select(policy, encoded.memory, rows)
            elif int(alive.sum()) < compact_below * len(rows):
                running = alive[rows].nonzero().squeeze(1)
                memory, carry, rows = select(policy, memory, running), select_rows(carry, running), rows[running]
            step = policy.step(memory, carry, torch.from_numpy(state)[rows], previous[rows], return_attention=return_attention)
            carry = step.carry
            scores = scatter_rows(step.logits, rows, batch)  # [batch, actions]
            action = torch.where(alive, choose(scores.detach(), state, number), tables.stop)  # [batch]
            states.append(state)
            befores.append(previous)
            lives.append(alive)
            logits.append(scores)
            scored.append(rows)
            records.append(step.record if deferred else None)
            actions.append(action)
            attention.append({name: scatter_rows(weights, rows, batch) for name, weights in step.attention.items()})
            state = tables.step(state, action.numpy())
            alive = action != tables.stop
            previous = action
            if not alive.any():
                break
    visited, living, scores = torch.from_numpy(np.stack(states)), torch.stack(lives), torch.stack(logits)  # [steps, batch, ...]
    if deferred:
        if isinstance(policy, IndependentSteps):
            scores = policy.score_steps(encoded.memory, visited, scores, living)  # [steps, batch, actions]
        elif isinstance(policy, DeferredGradients):
            scores = policy.replay(encoded.memory, Visits(visited, torch.stack(befores), living, scores, scored, records))
    final = torch.from_numpy(state)  # [batch, slots]
    return Execution(visited, scores.log_softmax(-1), torch.stack(actions), living, final, ~alive, tuple(attention), encoded)

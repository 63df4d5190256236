"""How the actions of a turn are chosen: greedily, sampled, or by beam search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sestra.agent.execution import AttentionMap, Execution
from sestra.agent.runtime import Runtime
from sestra.data.batch import Turns
from sestra.worlds.tables import Flags, Integers, Tables

COMPACT_BELOW = 0.8
"""Executions that have ended leave the batch when less than this fraction of it still runs: to leave, all memories are copied."""


LogProbs = NDArray[np.float32]
Choose = Callable[[LogProbs, int], Integers]
"""Chooses actions ``[batch]`` from log-probabilities ``[batch, actions]`` and the number of the step."""


def greedy(log_probs: LogProbs, _step: int) -> Integers:
    """The most probable action."""
    best: Integers = log_probs.argmax(-1)
    return best  # [batch]


def sampled(generator: np.random.Generator) -> Choose:
    """Draw each action from the policy's distribution (the Gumbel-max trick)."""
    return lambda log_probs, _step: (log_probs + generator.gumbel(size=log_probs.shape)).argmax(-1)  # [batch]


def forced(actions: Integers) -> Choose:
    """The given actions, ``[batch, steps]``."""
    return lambda _log_probs, step: actions[:, step]


def after(given: Integers, choose: Choose, then: Choose) -> Choose:
    """The given actions, ``[batch, steps]`` with -1 where there is none; ``then`` chooses after them, ``choose`` where none are given."""

    def chosen(log_probs: LogProbs, step: int) -> Integers:
        others = np.where((given >= 0).any(1), then(log_probs, step), choose(log_probs, step))  # [batch]
        return np.where(given[:, step] >= 0, given[:, step], others) if step < given.shape[1] else others

    return chosen


def roll_out(
    runtime: Runtime,
    tables: Tables,
    turns: Turns,
    horizon: int,
    choose: Choose,
    *,
    idle: Flags | None = None,
    attention: bool = False,
) -> Execution:
    """Execute each turn's instruction from its initial state until STOP or the horizon; turns that are ``idle`` stop at once."""
    batch, encoded = len(turns), runtime.encode(turns)
    rows = np.arange(batch)  # [running]: the executions that are scored: all that run, and some that ended since the last left
    state, previous, alive = turns.initial, np.full(batch, tables.actions), np.ones(batch, np.bool_)
    acting = alive if idle is None else ~idle  # [batch]
    states, actions, lives, scores, maps = [], [], [], [], []
    for number in range(horizon):
        if np.count_nonzero(alive) < COMPACT_BELOW * len(rows):
            running = np.flatnonzero(alive[rows])
            encoded, rows = [each.select(running) for each in encoded], rows[running]
        given = (state, previous) if len(rows) == batch else (state[rows], previous[rows])
        step = runtime.step(encoded, *given, attention=attention)
        encoded = step.encoded
        log_probs = _scatter(step.log_probs, rows, batch)  # [batch, actions]
        chosen = choose(log_probs, number)
        action = np.where(acting if number == 0 else acting & alive, chosen, tables.stop)  # [batch]
        states.append(state)
        actions.append(action)
        lives.append(alive)
        scores.append(log_probs)
        whole = len(rows) == batch
        maps.append(step.attention if whole else {name: _whole(each, rows, batch) for name, each in step.attention.items()})
        state, previous, alive = tables.step(state, action), action, action != tables.stop
        if not alive.any():
            break
    return Execution(np.stack(states), np.stack(scores), np.stack(actions), np.stack(lives), state, ~alive, tuple(maps))


def _scatter(values: NDArray[np.float32], rows: Integers, size: int) -> NDArray[np.float32]:
    """The values of some rows in their places, and zeros in the others."""
    if len(rows) == size:
        return values
    found = np.zeros((size, *values.shape[1:]), values.dtype)  # [size, ...]
    found[rows] = values
    return found


def _whole(found: AttentionMap, rows: Integers, size: int) -> AttentionMap:
    places = np.full((size, found.places.shape[1]), -1)  # [size, keys]
    places[rows] = found.places
    return AttentionMap(found.over, _scatter(found.weights, rows, size), places)


def beam_search(runtime: Runtime, tables: Tables, turns: Turns, horizon: int, width: int) -> Integers:
    """The actions of the best execution of each turn, ``[batch, horizon]``, padded by STOP.

    Of all continuations by one action, the ``width`` most probable ones are kept; those among them that end in STOP are finished. A turn
    is done when no unfinished execution is more probable than the best finished one. If none has finished at the horizon, the best
    unfinished one is taken. Of equally probable continuations, the one with the earlier parent, then the earlier action, comes first; a
    finished execution wins against an unfinished one, and one that finished earlier against one that finished later.
    """
    batch = len(turns)
    first, turn = np.arange(batch)[:, None] * width, np.arange(batch)[:, None]  # [batch, 1]: where each turn's beam begins; its number
    rows = np.arange(batch).repeat(width)  # [batch * width]: the turn of each row
    encoded = [each.select(rows) for each in runtime.encode(turns)]
    states, previous = turns.initial[rows], np.full(len(rows), tables.actions)
    scores = np.full((batch, width), -np.inf)  # [batch, width]
    scores[:, 0] = 0
    paths = np.full((batch, width, horizon), tables.stop)  # [batch, width, horizon]
    best_score, best = np.full(batch, -np.inf), paths[:, 0].copy()  # [batch], [batch, horizon]: of the finished ones
    for number in range(horizon):
        step = runtime.step(encoded, states, previous)
        log_probs = step.log_probs.reshape(batch, width, -1)  # [batch, width, actions]
        extended = (scores[..., None] + log_probs).reshape(batch, -1)  # [batch, width * actions]
        places = np.argsort(-extended, axis=1, kind="stable")[:, :width]  # [batch, width]
        scores = extended[turn, places]
        parents, actions = np.divmod(places, tables.actions)  # [batch, width]
        paths = paths[turn, parents]
        paths[..., number] = actions

        finished = actions == tables.stop  # [batch, width]
        ended = np.where(finished, scores, -np.inf)  # [batch, width]
        place = ended.argmax(1)  # [batch]
        better = ended.max(1) > best_score
        best[better] = paths[better, place[better]]
        best_score = np.maximum(best_score, ended.max(1))
        scores = np.where(finished, -np.inf, scores)
        scores[best_score >= scores.max(1)] = -np.inf
        if not np.isfinite(scores).any():
            break
        came_from = (first + parents).ravel()  # [batch * width]
        encoded = [each._replace(carry=tuple(part[came_from] for part in each.carry)) for each in step.encoded]  # a turn has one memory
        previous = actions.ravel()
        states = tables.step(states[came_from], previous)
    unfinished = np.flatnonzero(np.isneginf(best_score))
    best[unfinished] = paths[unfinished, scores[unfinished].argmax(1)]
    return best

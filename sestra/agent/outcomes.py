"""Where executions of an instruction may end, and how probable each of these final states is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sestra.agent.runtime import Runtime
from sestra.data.batch import Turns
from sestra.worlds.tables import Tables

WIDTH = 8
"""How many states of each turn the search keeps."""
LEAST = 0.01
"""The least probability of a state that the search goes on from."""


class Outcome(NamedTuple):
    state: tuple[int, ...]
    """The final state: the index of each slot's content."""
    probability: float
    """Summed over all the ways to it that were found."""
    actions: tuple[int, ...]
    """The most probable way to it, with STOP."""


class _Node(NamedTuple):
    """A state that executions of one turn have reached."""

    state: tuple[int, ...]
    probability: float
    best: float
    """The probability of the most probable way."""
    actions: tuple[int, ...]
    """The most probable way."""
    row: int
    """Where the policy's memory of the turn and of that way is."""


def outcomes(runtime: Runtime, tables: Tables, turns: Turns, horizon: int) -> list[list[Outcome]]:
    """The final states of each turn, the most probable first, found by a beam search over states.

    Ways that lead to the same state after the same number of actions are merged there, and their probabilities summed. For a policy with a
    carry that is approximate: what follows depends on the way, and that of the most probable one is taken.
    """
    encoded = runtime.encode(turns)
    beams = [[_Node(tuple(state), 1.0, 1.0, (), row)] for row, state in enumerate(turns.initial.tolist())]
    ended: list[dict[tuple[int, ...], _Node]] = [{} for _ in beams]
    for _ in range(horizon):
        nodes = [node for beam in beams for node in beam]
        states = np.array([node.state for node in nodes])  # [nodes, slots]
        previous = np.array([node.actions[-1] if node.actions else tables.actions for node in nodes])  # [nodes]
        rows = np.array([node.row for node in nodes])  # [nodes]
        step = runtime.step([each.select(rows) for each in encoded], states, previous)
        encoded = step.encoded
        shares = np.exp(step.log_probs.astype(np.float64))  # [nodes, actions]
        likeliest = np.argsort(-shares[:, :-1], axis=1, kind="stable")[:, :WIDTH]  # [nodes, width]
        after = tables.step(states.repeat(likeliest.shape[1], 0), likeliest.ravel())  # [nodes * width, slots]
        following = after.reshape(*likeliest.shape, -1).tolist()  # [nodes][width][slots]
        row, grown = 0, []
        for beam, finals in zip(beams, ended, strict=True):
            found: dict[tuple[int, ...], _Node] = {}
            for node in beam:
                _add(finals, node, tables.stop, float(shares[row, -1]), node.state, row)
                for action, state in zip(likeliest[row].tolist(), following[row], strict=True):
                    _add(found, node, action, float(shares[row, action]), tuple(state), row)
                row += 1
            likely = [node for node in found.values() if node.probability >= LEAST]
            grown.append(sorted(likely, key=lambda node: -node.probability)[:WIDTH])
        beams = grown
        if not any(beams):
            break
    return [
        [Outcome(node.state, node.probability, node.actions) for node in sorted(finals.values(), key=lambda node: -node.probability)]
        for finals in ended
    ]


def _add(found: dict[tuple[int, ...], _Node], node: _Node, action: int, share: float, state: tuple[int, ...], row: int) -> None:
    """Merge the way through a node and the action with the others that lead to the state."""
    best, before = node.best * share, found.get(state)
    total = node.probability * share + (before.probability if before else 0.0)
    if before and before.best >= best:
        found[state] = before._replace(probability=total)
    else:
        found[state] = _Node(state, total, best, (*node.actions, action), row)

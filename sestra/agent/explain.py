"""Executions, which are tensors, as turns that a person can read."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from sestra.agent.parsing import Reading
from sestra.agent.trace import Alternative, Attended, Attention, Over, Step, Turn
from sestra.data.batch import Turns
from sestra.errors import shortened
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Inputs, Policy, ReportsAttention
from sestra.worlds.tables import Tables

ALTERNATIVES = 5
DECIMALS = 6
"""Of attention weights, so that they are short as text."""

Weights = list[list[list[float]]]
"""Of one execution: [steps][heads][keys]."""


def tell(policy: Policy, tables: Tables, readings: Sequence[Reading], turns: Turns, execution: Execution) -> list[Turn]:
    """What happened in each execution, in order; each tensor is read out once, whole."""
    log_probs, taken = execution.log_probs.transpose(0, 1), execution.actions.T.unsqueeze(-1)  # [batch, steps, actions], [batch, steps, 1]
    probabilities = log_probs.gather(-1, taken).squeeze(-1).exp().tolist()  # [batch][steps]
    others = log_probs.scatter(-1, taken, -torch.inf).topk(min(ALTERNATIVES, tables.actions - 1))
    other_actions, other_probabilities = others.indices.tolist(), others.values.exp().tolist()  # [batch][steps][alternatives]
    states = torch.cat([execution.states[1:], execution.final.unsqueeze(0)]).transpose(0, 1).tolist()  # [batch][steps][slots]
    attention = _attention(policy, readings, turns, execution)
    names, world = [str(action) for action in tables.world.actions], tables.world
    told = []
    for row, (reading, actions, length, stopped) in enumerate(
        zip(readings, taken.squeeze(-1).tolist(), execution.lengths.tolist(), execution.stopped.tolist(), strict=True)
    ):
        steps = tuple(
            Step(
                names[action],
                probability,
                tuple([Alternative(names[index], share) for index, share in zip(indices, shares, strict=True) if share]),
                attended,
                world.format(tuple([world.contents[index] for index in state])),
            )
            for action, probability, indices, shares, attended, state in zip(
                actions[:length],
                probabilities[row],
                other_actions[row],
                other_probabilities[row],
                attention[row],
                states[row],
                strict=False,
            )
        )
        start = world.format(reading.states[-1])
        told.append(Turn(reading.instruction, reading.words, start, steps, stopped, _notes(reading, length, stopped)))
    return told


def _attention(policy: Policy, readings: Sequence[Reading], turns: Turns, execution: Execution) -> list[list[Attention]]:
    """Of each execution, step by step."""
    lengths = execution.lengths.tolist()
    columns: list[list[list[Attended]]] = []  # [names][batch][steps]
    maps = policy.attention(Inputs.of(turns), execution) if isinstance(policy, ReportsAttention) else {}
    for name, (over, weights, places) in maps.items():
        plain = _rounded(weights).transpose(0, 1).tolist()  # [batch][steps][heads][keys]
        columns.append(
            [
                _attended(name, over, weight[:length], place, reading.labels)
                for weight, length, place, reading in zip(plain, lengths, places.tolist(), readings, strict=True)
            ]
        )
    if not columns:
        return [[Attention(())] * length for length in lengths]
    return [[Attention(step) for step in zip(*each, strict=True)] for each in zip(*columns, strict=True)]


def _attended(name: str, over: Over, weights: Weights, places: list[int], labels: list[str | None]) -> list[Attended]:
    """One kind of attention through the steps of an execution."""
    if over == "objects":
        chosen = [(key, str(place + 1)) for key, place in enumerate(places) if place >= 0]
    else:
        chosen = [(key, label) for key, place in enumerate(places) if place >= 0 and (label := labels[place]) is not None]
    return [Attended(name, over, tuple([tuple([(label, head[key]) for key, label in chosen]) for head in step])) for step in weights]


def _rounded(weights: Tensor) -> Tensor:
    return weights.double().round(decimals=DECIMALS)


def _notes(reading: Reading, length: int, stopped: bool) -> tuple[str, ...]:
    notes, words = [], reading.words
    for text, meant in dict.fromkeys((word.text, word.read_as) for word in words if word.known and word.text != word.read_as):
        notes.append(f"“{text}” is not a word that the agent knows; it was read as “{meant}”.")
    unknown = list(dict.fromkeys(word.text for word in words if not word.known))
    if unknown:
        more = f" and {len(unknown) - 10} more" if len(unknown) > 10 else ""
        shown = ", ".join(f"“{shortened(text, 30)}”" for text in unknown[:10]) + more
        them = "it" if len(unknown) == 1 else "them"
        notes.append(f"The agent does not know {shown} and {f'could make no use of {them}' if reading.understood else 'did nothing'}.")
    if not stopped:
        notes.append(f"The agent was stopped after {length} action{'s' * (length != 1)}, the most allowed; it had not come to an end.")
    return tuple(notes)

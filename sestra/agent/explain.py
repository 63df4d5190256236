"""Executions, which are arrays, as turns in plain values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sestra.agent.execution import Execution
from sestra.agent.parsing import ParsedContext
from sestra.agent.trace import Alternative, Attention, Labelled, Over, Step, Turn
from sestra.agent.understanding import Verdict, question
from sestra.errors import shortened
from sestra.worlds.tables import Tables

ALTERNATIVES = 5
DECIMALS = 4
"""Of attention weights, to keep the JSON short."""


def explain(tables: Tables, contexts: Sequence[ParsedContext], execution: Execution, verdicts: Sequence[Verdict]) -> list[Turn]:
    """The executions as turns, in order; each array is converted only once."""
    log_probs, taken = execution.log_probs.swapaxes(0, 1), execution.actions.T  # [batch, steps, actions], [batch, steps]
    probabilities = np.exp(np.take_along_axis(log_probs, taken[..., None], -1))[..., 0].tolist()  # [batch][steps]
    others = log_probs.copy()
    np.put_along_axis(others, taken[..., None], -np.inf, -1)
    count = min(ALTERNATIVES, tables.actions - 1)
    indices = np.argsort(-others, axis=-1, kind="stable")[..., :count]  # [batch, steps, alternatives]
    other_actions, other_probabilities = indices.tolist(), np.exp(np.take_along_axis(others, indices, -1)).tolist()
    states = np.concatenate([execution.states[1:], execution.final[None]]).swapaxes(0, 1).tolist()  # [batch][steps][slots]
    attention = _attention(contexts, execution)
    names, world = tables.world.action_names, tables.world
    explained = []
    for row, (context, actions, length, stopped, verdict) in enumerate(
        zip(contexts, taken.tolist(), execution.lengths.tolist(), execution.stopped.tolist(), verdicts, strict=True)
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
        start = world.format(context.states[-1])
        notes = (*_refusal(tables, start, verdict), *_notes(context, length, stopped, refused=verdict.reason == "unknown words"))
        judged = verdict.reason is None, verdict.reason, verdict.confidence, verdict.readings
        explained.append(Turn(context.instruction, context.words, start, steps[-1].state, stopped, notes, steps, *judged))
    return explained


def _attention(contexts: Sequence[ParsedContext], execution: Execution) -> list[list[tuple[Attention, ...]]]:
    """Of each execution, step by step."""
    alive, lengths = execution.alive.T, execution.lengths.tolist()  # [batch, steps]
    ends = np.cumsum(lengths)[:-1]  # where the steps of the next execution begin
    columns: list[list[list[Attention]]] = []  # [names][batch][steps]
    for name, first in execution.attention[0].items():
        weights = np.stack([step[name].weights for step in execution.attention], 1)[alive]  # [steps of all executions, heads, keys]
        rounded = np.split(weights.astype(np.float64).round(DECIMALS), ends)  # of each execution, [steps, heads, keys]
        columns.append(
            [
                _steps(name, first.over, own, place, context.labels)
                for own, place, context in zip(rounded, first.places.tolist(), contexts, strict=True)
            ]
        )
    if not columns:
        return [[()] * length for length in lengths]
    return [list(zip(*each, strict=True)) for each in zip(*columns, strict=True)]


def _steps(name: str, over: Over, weights: NDArray[np.float64], places: list[int], labels: list[str | None]) -> list[Attention]:
    """One attention mechanism in the steps of one execution."""
    if over == "objects":
        chosen = [(key, str(place + 1)) for key, place in enumerate(places) if place >= 0]
    else:
        chosen = [(key, label) for key, place in enumerate(places) if 0 <= place < len(labels) and (label := labels[place]) is not None]
    shown = tuple([label for _, label in chosen])
    if len(chosen) < weights.shape[2]:
        weights = weights[:, :, [key for key, _ in chosen]]
    return [Attention.of(name, over, Labelled(shown, step)) for step in weights.tolist()]


def _refusal(tables: Tables, start: str, verdict: Verdict) -> tuple[str, ...]:
    """Why nothing was done, unless the note on unknown words says so."""
    match verdict.reason:
        case "which of several":
            return (question(tables.world, start, verdict.readings),)
        case "unsure":
            return ("The agent is not sure what is meant, so it did nothing.",)
        case "nothing like that here":
            return ("There is nothing like that here, so the agent did nothing.",)
        case "no instruction":
            return ("The agent found nothing in this that it could do, so it did nothing.",)
        case _:
            return ()


def _notes(context: ParsedContext, length: int, stopped: bool, *, refused: bool) -> tuple[str, ...]:
    notes, words = [], context.words
    for text, meant in dict.fromkeys((word.text, word.read_as) for word in words if word.known and word.text != word.read_as):
        notes.append(f"“{text}” is not a word that the agent knows; it was read as “{meant}”.")
    unknown = list(dict.fromkeys(word.text for word in words if not word.known))
    if unknown:
        more = f" and {len(unknown) - 10} more" if len(unknown) > 10 else ""
        shown = ", ".join(f"“{shortened(text, 30)}”" for text in unknown[:10]) + more
        them = "it" if len(unknown) == 1 else "them"
        notes.append(f"The agent does not know {shown} and {'did nothing' if refused else f'could make no use of {them}'}.")
    if not stopped:
        notes.append(f"The agent was stopped after {length} action{'s' * (length != 1)}, the most allowed; it had not come to an end.")
    return tuple(notes)

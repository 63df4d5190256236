"""A turn as JSON text, written fast: most of a server's responses are attention weights, hundreds in every step.

It is the same JSON as that of ``Turn.to_json``, to which tests hold it.
"""

from __future__ import annotations

from itertools import chain
from json.encoder import encode_basestring as quoted
from math import isfinite

from sestra.agent.trace import Attention, Labelled, Step, Turn
from sestra.io import to_json

MAX_KEPT = 20_000


def _number(value: float) -> str:
    return repr(value) if isfinite(value) else "null"


class _Numbers(dict[float, str]):
    """Numbers as text; attention weights have few decimals, so the same ones return again and again."""

    def __missing__(self, number: float) -> str:
        text = _number(number)
        if len(self) < MAX_KEPT:
            self[number] = text
        return text


_NUMBERS = _Numbers()


def turn_to_json(turn: Turn) -> bytes:
    words = [f'{{"text":{quoted(each.text)},"read_as":{quoted(each.read_as)},"known":{_flag(each.known)}}}' for each in turn.words]
    attention = _AttentionWriter()
    begin = (
        f'{{"instruction":{quoted(turn.instruction)},"words":[{",".join(words)}],"start":{quoted(turn.start)},"end":{quoted(turn.end)},'
        f'"stopped":{_flag(turn.stopped)},"notes":[{",".join(map(quoted, turn.notes))}],"steps":['
    )
    reason = "null" if turn.reason is None else quoted(turn.reason)
    end = (
        f'],"understood":{_flag(turn.understood)},"reason":{reason},"confidence":{_number(turn.confidence)},'
        f'"readings":{to_json(turn.readings)}}}'
    )
    return f"{begin}{','.join([_step(step, attention) for step in turn.steps])}{end}".encode()


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _step(step: Step, attention: _AttentionWriter) -> str:
    others = [f'{{"action":{quoted(each.action)},"probability":{_number(each.probability)}}}' for each in step.alternatives]
    return (
        f'{{"action":{quoted(step.action)},"probability":{_number(step.probability)},"alternatives":[{",".join(others)}],'
        f'"attention":{attention.write(step.attention)},"state":{quoted(step.state)}}}'
    )


class _AttentionWriter:
    """Writes the attention in one step after the other; what differs from one to the next is only the weights."""

    def __init__(self) -> None:
        self._structure: object = None
        self._template = ""

    def write(self, attention: tuple[Attention, ...]) -> str:
        found = [(each, labelled) for each in attention if (labelled := each.labelled) is not None]
        if len(found) < len(attention):
            return to_json(attention)
        structure = [(each.name, each.over, id(labelled.labels), len(labelled.weights)) for each, labelled in found]
        if structure != self._structure:
            self._structure, self._template = structure, f"[{','.join([_template(*each) for each in found])}]"
        weights = chain.from_iterable(chain.from_iterable([labelled.weights for _, labelled in found]))
        return self._template % tuple(map(_NUMBERS.__getitem__, weights))


def _template(attention: Attention, labelled: Labelled) -> str:
    """The attention with ``%s`` for each weight."""
    head = ",".join([f'{{"label":{quoted(label)},"weight":'.replace("%", "%%") + "%s}" for label in labelled.labels])
    heads = ",".join([f"[{head}]"] * len(labelled.weights))
    return f'{{"name":{quoted(attention.name)},"over":"{attention.over}","heads":['.replace("%", "%%") + f"{heads}]}}"

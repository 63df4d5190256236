"""The numbers behind an attention figure: for each attention the rows, which are words or objects, with their weights at every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sestra.drawing import drawing_of
from sestra.drawing.shapes import printable
from sestra.worlds.base import World

if TYPE_CHECKING:
    from sestra.agent.trace import Attention, Trace, Turn

MAX_ROWS = 60
STATED = 0.03
"""The least weight that is written into its cell."""
TITLES = {
    "current": "This instruction",
    "previous": "Earlier instructions",
    "initial": "The state when the turn began",
    "state": "The state now",
    "words": "The words",
    "changes": "What earlier turns changed",
    "objects": "The objects now",
}
"""What the attentions of the package's policies are over, on the page too; another policy's appear under their own names."""


@dataclass(frozen=True)
class Row:
    """A word or an object, and its weight in each head at each step; None where a step does not have it."""

    label: str
    weights: tuple[tuple[float | None, ...], ...]  # [heads][steps]
    contents: tuple[str, ...] = ()
    """What the object holds at each step, where that is known."""
    heading: str = ""

    @property
    def changes(self) -> bool:
        return len(set(self.contents)) > 1

    @property
    def most(self) -> float:
        return max((weight or 0.0 for head in self.weights for weight in head), default=0.0)


@dataclass(frozen=True)
class Panel:
    """One attention: its rows, and a block of cells for each head."""

    title: str
    rows: tuple[Row, ...]
    heads: tuple[str, ...]
    """Their names; one that is alone needs none."""
    letters: Mapping[str, str]
    """The colour behind each letter of a content."""


def panel(world: World[Any], trace: Trace, number: int, attended: Attention) -> Panel:
    turn, heads = trace.turns[number - 1], len(attended.heads)
    steps = [_weights(turn, step, attended.name) for step in range(len(turn.steps))]
    keys = list(dict.fromkeys(key for weights in steps for head in weights for key in head))
    rows = [
        Row(key[1], tuple(tuple(weights[head].get(key) if head < len(weights) else None for weights in steps) for head in range(heads)))
        for key in keys
    ]
    if attended.over == "words":
        rows = [*_by_instruction(rows, trace.turns[:number]), *_elsewhere(rows)]
    else:
        seen = _states_seen(turn, attended.name)
        rows.sort(key=lambda row: (len(row.label), row.label))  # numbers as text
        rows = [replace(row, contents=tuple(state.get(row.label, "") for state in seen)) for row in rows]
    title = TITLES.get(attended.name, printable(attended.name).replace("_", " ").capitalize())
    names = tuple(f"head {head + 1}" for head in range(heads)) if heads > 1 else ("",) * heads
    return Panel(title, tuple(_most_attended(rows, attended.over)), names, drawing_of(world).letters)


def _weights(turn: Turn, step: int, name: str) -> list[dict[tuple[int, str], float]]:
    """By head: the weight of each word (by its place and text: a word may occur twice) or object (by its number)."""
    return [
        {(place if each.over == "words" else 0, weight.label): weight.weight for place, weight in enumerate(head)}
        for each in turn.steps[step].attention
        if each.name == name
        for head in each.heads
    ]


def _states_seen(turn: Turn, name: str) -> list[dict[str, str]]:
    """At each step, what the objects of that attention held, by their numbers; nothing for an attention over something else."""
    start, now = [turn.start] * len(turn.steps), [turn.start, *(step.state for step in turn.steps[:-1])]
    seen = {"initial": start, "state": now, "objects": now, "changes": now}.get(name, [])
    return [dict(field.split(":", 1) for field in state.split(" ") if ":" in field) for state in seen]


def _by_instruction(rows: list[Row], turns: Sequence[Turn]) -> list[Row]:
    """The rows with the number of the turn above each instruction's first word, if they are the words of several turns."""
    starts = [0, *accumulate(len(turn.words) for turn in turns)]
    labels, texts = [row.label for row in rows], [word.text for turn in turns for word in turn.words]
    if len(rows) not in starts or labels != texts[: len(rows)] or labels == texts[starts[-2] :]:
        return rows
    headings = {start: f"turn {number}" for number, start in enumerate(starts[:-1], start=1)}
    return [replace(row, heading=headings.get(place, "")) for place, row in enumerate(rows)]


def _elsewhere(rows: Sequence[Row]) -> list[Row]:
    """A row for what lay on no word, such as on the marks between instructions."""
    if not rows:
        return []
    left = Row("(no word)", tuple(tuple(max(0.0, 1 - weight) for weight in head) for head in _together(rows)))
    return [left] if left.most >= STATED else []


def _most_attended(rows: list[Row], over: str) -> list[Row]:
    """At most so many rows, and one for all the others together."""
    if len(rows) <= MAX_ROWS:
        return rows
    kept = set(sorted(range(len(rows)), key=lambda place: -rows[place].most)[: MAX_ROWS - 1])
    others = [row for place, row in enumerate(rows) if place not in kept]
    return [*(row for place, row in enumerate(rows) if place in kept), Row(f"({len(others)} other {over})", _together(others))]


def _together(rows: Sequence[Row]) -> tuple[tuple[float, ...], ...]:
    """The sum of the rows' weights, ``[heads][steps]``."""
    heads = zip(*(row.weights for row in rows), strict=True)  # [heads][rows][steps]
    return tuple(tuple(sum(weight or 0.0 for weight in step) for step in zip(*head, strict=True)) for head in heads)


def split(whole: Panel, most: int) -> list[Panel]:
    """The panel in parts of at most so many heads, the first under its title."""
    return [
        replace(
            whole,
            title="" if first else whole.title,
            rows=tuple(replace(row, weights=row.weights[first : first + most]) for row in whole.rows),
            heads=whole.heads[first : first + most],
        )
        for first in range(0, max(1, len(whole.heads)), most)
    ]

"""What the drawings of several worlds have in common: numbers under the places, the frame of a changed one, the lines of a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from rich.text import Text

from sestra.drawing.palette import CHANGED, CHANGED_FILL, QUIET, ink_on
from sestra.drawing.shapes import Box, Label

Cell: TypeAlias = tuple[str, str]
"""Some characters in a terminal, and rich's name of their style."""


def changed_frame(middle: float, top: float, width: float, height: float) -> Box:
    """The frame around a place that has changed."""
    return Box(middle - width / 2 + 2, top + 2, width - 4, height - 4, CHANGED_FILL, CHANGED, 1.5, radius=8)


def number_below(middle: float, y: float, place: int, highlight: Collection[int]) -> Label:
    """The number of a place, counted from 1."""
    return Label(middle, y, str(place + 1), 14, CHANGED if place in highlight else QUIET, bold=place in highlight)


def paint(letter: str, fill: str) -> Cell:
    """A letter in the middle of three coloured columns."""
    return f" {letter} ", f"bold {ink_on(fill)} on {fill}"


def centred(cell: Cell, columns: int) -> list[Cell]:
    """The cell in the middle of that many columns."""
    text, style = cell
    before = (columns - len(text)) // 2
    return [(" " * before, ""), (text, style), (" " * (columns - len(text) - before), "")]


def number_cell(place: int, highlight: Collection[int]) -> Cell:
    """The number of a place, counted from 1, in brackets where the place has changed."""
    return (f"[{place + 1}]", "bold") if place in highlight else (str(place + 1), "dim")


def lines(rows: Iterable[Sequence[Cell]]) -> Text:
    """The rows of cells, one per line."""
    return Text("\n", no_wrap=True, end="").join(Text.assemble(*_without_end(row)) for row in rows)


def _without_end(row: Sequence[Cell]) -> Sequence[Cell]:
    """The row up to its last cell that shows something."""
    shown = [index for index, (text, style) in enumerate(row) if style or text.strip()]
    return row[: shown[-1] + 1] if shown else []


def sentences(taken: Sequence[str], places: int, none: str, others: str = "") -> str:
    """What each occupied place holds, and a sentence for the case that none is occupied, or not all are."""
    rest = others if 0 < len(taken) < places else "" if taken else none
    return " ".join([*(f"{place}." for place in taken), *([rest] if rest else [])])

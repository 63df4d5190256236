"""Tangrams drawn: five figures of our own, each laid of the seven pieces of a tangram.

Only the digits 0 to 4 are SCONE's; what each figure shows is this drawing's choice.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from math import ceil, cos, pi, sin, sqrt
from typing import TypeAlias

from rich.text import Text

from sestra.drawing.editing import REMOVE, Brush, Editor
from sestra.drawing.generic import Drawing, State
from sestra.drawing.palette import CHANGED, CHANGED_FILL, INK, PAPER, RULE, SHADE, mix
from sestra.drawing.parts import centred, lines, number_below, number_cell, sentences
from sestra.drawing.shapes import Bounds, Box, Label, Picture, Polygon, Shape
from sestra.drawing.sprites import Part, Sprites, places
from sestra.worlds.tangrams.world import SHAPES, common

Points: TypeAlias = tuple[tuple[float, float], ...]

LARGE: Points = ((0, 0), (2, 0), (0, 2))
MEDIUM: Points = ((0, 0), (sqrt(2), 0), (0, sqrt(2)))
SMALL: Points = ((0, 0), (1, 0), (0, 1))
SQUARE: Points = ((0, 0), (1, 0), (1, 1), (0, 1))
SLANTED: Points = ((0, 0), (1, 0), (2, 1), (1, 1))
MIRRORED: Points = ((0, 0), (1, 0), (0, 1), (-1, 1))
"""The pieces: right-angled triangles of three sizes, the square, and the two sides of the parallelogram. The square's side is 1."""


def _laid(piece: Points, x: float, y: float, eighths: int = 0) -> Points:
    """The piece with its first corner at (x, y), turned clockwise around it by eighths of a turn."""
    c, s = cos(eighths * pi / 4), sin(eighths * pi / 4)
    return tuple((x + c * px - s * py, y + s * px + c * py) for px, py in piece)


@dataclass(frozen=True)
class Figure:
    """What a figure shows, its colour and its pieces."""

    name: str
    fill: str
    pieces: tuple[Points, ...]


_D = sqrt(2) / 2  # half the diagonal of the square
FIGURES = {
    "0": Figure(
        "house",
        "#2f5d8c",
        (
            *(_laid(LARGE, 2, 2, 4), _laid(LARGE, 2, 2, 6), _laid(SLANTED, 0.5, 1.5, 6)),  # roof and chimney
            *(_laid(SQUARE, 0.5, 2), _laid(MEDIUM, 2.5, 3, 5), _laid(SMALL, 1.5, 3, 6), _laid(SMALL, 3.5, 3, 4)),  # walls
        ),
    ),
    "1": Figure(
        "swan",
        "#6a3aa2",
        (
            *(_laid(SLANTED, 0, 1), _laid(SQUARE, 1, 2)),  # head and neck
            *(_laid(LARGE, 1, 5, 6), _laid(MEDIUM, 2, 4, 5), _laid(SMALL, 3, 4, 4), _laid(SMALL, 3, 4, 2), _laid(LARGE, 3, 3)),  # body
        ),
    ),
    "2": Figure(
        "boat",
        "#0f766e",
        (
            *(_laid(LARGE, 2.5, 0, 4), _laid(LARGE, 2.5 + 2 * _D, -2 * _D, 3)),  # sails
            *(_laid(SMALL, 1, 0, 2), _laid(SQUARE, 1, 0), _laid(SMALL, 2, 1, 6), _laid(MEDIUM, 3, 1, 5), _laid(MIRRORED, 4, 0)),  # hull
        ),
    ),
    "3": Figure(
        "cat",
        "#8a4b12",
        (
            *(_laid(SQUARE, 0, -_D, 1), _laid(SMALL, 0, -_D, 3), _laid(SMALL, 0, -_D, 7)),  # head and ears
            *(_laid(LARGE, _D, 0, 1), _laid(MEDIUM, 1 - _D, 1 + 2 * _D, 5), _laid(LARGE, -_D, 2 + 2 * _D, 6)),  # body
            _laid(SLANTED, 1 - _D, 1 + 2 * _D),  # tail
        ),
    ),
    "4": Figure(
        "rocket",
        "#b4233a",
        (
            *(_laid(MEDIUM, 1, 0, 1), _laid(LARGE, 0, 1), _laid(LARGE, 2, 3, 4)),  # nose and body
            *(_laid(SMALL, 0, 3, 4), _laid(SMALL, 2, 3, 6), _laid(SQUARE, 0.5, 3), _laid(MIRRORED, 0.5, 4)),  # fins, engine and flame
        ),
    ),
}

PITCH, TILE, UNIT, HEIGHT = 128.0, 120.0, 22.0, 172.0
COLUMNS, ROWS = 12, 5
QUARTERS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
"""The block characters by which of their quarters are filled: 1 top left, 2 top right, 4 bottom left, 8 bottom right."""


def picture(state: State, highlight: Collection[int]) -> Picture:
    (row,) = state
    shapes: list[Shape] = []
    for place in range(len(SHAPES)):
        middle = PITCH * (place + 0.5)
        shapes.append(frame(middle) if place in highlight else tile(middle, PAPER if place < len(row) else SHADE))
        if place < len(row):
            shapes += figure(middle, row[place])
        shapes.append(number(middle, place, highlight))
    return Picture(PITCH * len(SHAPES), HEIGHT, tuple(shapes))


def tile(middle: float, fill: str, line: str = RULE) -> Box:
    return Box(middle - TILE / 2, 4, TILE, HEIGHT - 34, fill, line, 1.5, radius=8)


def frame(middle: float) -> Box:
    return tile(middle, CHANGED_FILL, CHANGED)


def number(middle: float, place: int, highlight: Collection[int]) -> Label:
    return number_below(middle, HEIGHT - 16, place, highlight)


def figure(middle: float, digit: str) -> list[Shape]:
    figure = FIGURES[digit]
    left, top, right, bottom = _extent(digit)
    dx, dy = middle - UNIT * (left + right) / 2, 84 - UNIT * (top + bottom) / 2
    pieces = [tuple((dx + UNIT * x, dy + UNIT * y) for x, y in piece) for piece in figure.pieces]
    badge = Box(middle - TILE / 2 + 5, 9, 20, 20, INK, radius=5)
    return [
        *(Polygon(piece, figure.fill, PAPER, 1.2) for piece in pieces),
        badge,
        Label(badge.x + 10, badge.y + 10, digit, 14, PAPER, bold=True),
    ]


def terminal(state: State, highlight: Collection[int]) -> Text:
    (row,) = state
    figures = [(_blocks(digit), mix(FIGURES[digit].fill, PAPER, 0.35)) for digit in row]
    empty: list[tuple[tuple[str, ...], str]] = [(("",) * (ROWS - 1) + ("·",), "dim")] * (len(SHAPES) - len(row))
    rows = [[cell for text, style in (*figures, *empty) for cell in centred((text[line], style), COLUMNS)] for line in range(ROWS)]
    rows.append([cell for digit in row for cell in centred((f"figure {digit}", "bold"), COLUMNS)])
    rows.append([("━" * COLUMNS * len(SHAPES), "dim")])
    rows.append([cell for place in range(len(SHAPES)) for cell in centred(number_cell(place, highlight), COLUMNS)])
    return lines(rows)


@cache
def _blocks(digit: str) -> tuple[str, ...]:
    """The figure in characters that are each four quarters: two columns and one row per unit, standing on the last row."""
    left, _, right, bottom = _extent(digit)

    def character(row: int, column: int) -> str:
        x, y = left + column / 2, bottom - ROWS + row
        return QUARTERS[sum(1 << bit for bit in range(4) if _mostly_covered(digit, x + bit % 2 / 4, y + bit // 2 / 2))]

    columns = ceil(2 * (right - left))
    return tuple("".join(character(row, column) for column in range(columns)) for row in range(ROWS))


def _mostly_covered(digit: str, x: float, y: float) -> bool:
    """Whether pieces cover more than half of the quarter of a character whose corner is there, by nine points of it."""
    return sum(_covered(digit, x + across / 24, y + down / 12) for across in (1, 3, 5) for down in (1, 3, 5)) > 4


def _covered(digit: str, x: float, y: float) -> bool:
    """Whether a piece lies there: its corners run clockwise, so that the point is to the right of every side."""
    return any(
        all((bx - ax) * (y - ay) >= (by - ay) * (x - ax) for (ax, ay), (bx, by) in zip(piece, (*piece[1:], piece[0]), strict=True))
        for piece in FIGURES[digit].pieces
    )


def _extent(digit: str) -> Bounds:
    across, down = zip(*(point for piece in FIGURES[digit].pieces for point in piece), strict=True)
    return min(across), min(down), max(across), max(down)


def describe(state: State) -> str:
    taken = [f"Place {place}: figure {digit}, the {FIGURES[digit].name}" for place, digit in enumerate(state[0], start=1)]
    return sentences(taken, len(taken), "The row is empty.")


def changed(before: State, after: State) -> frozenset[int]:
    """Both places of a swap, else those whose figure was put there; one that was only pushed along by another has not changed."""
    (old,), (new,) = before, after
    other = [place for place, digit in enumerate(new) if digit != old[place : place + 1]]
    swapped = len(other) == 2 and sorted(old) == sorted(new)
    return frozenset(other if swapped else (place for place, digit in enumerate(new) if digit not in common(old, new)))


def describe_place(state: State, place: int) -> str:
    (row,) = state
    return f"figure {row[place]}, the {FIGURES[row[place]].name}" if place < len(row) else "empty"


def sprites() -> Sprites:
    figures = {digit: figure(0, digit) for digit in SHAPES}
    tiles = {"taken": [tile(0, PAPER)], "free": [tile(0, SHADE)]}
    middles = [PITCH * (place + 0.5) for place in range(len(SHAPES))]
    return Sprites(PITCH * len(SHAPES), HEIGHT, parts, places(middles, frame, number), {**tiles, **figures})


def parts(state: State, _changed: Collection[int]) -> list[Part]:
    """A figure is the same one wherever it stands."""
    (row,) = state
    tiles = ["taken" if place < len(row) else "free" for place in range(len(SHAPES))]
    return [
        *(Part(f"{name} {place}", name, PITCH * (place + 0.5), below=True) for place, name in enumerate(tiles)),
        *(Part(digit, digit, PITCH * (place + 0.5), enters=(0, -34)) for place, digit in enumerate(row)),
    ]


def paint_figure(state: State, place: int, brush: str) -> State | None:
    """Put a figure at the place, from wherever it stands, or take the one there away."""
    (row,) = state
    others = row.replace(brush, "")
    after = row[:place] + row[place + 1 :] if brush == "remove" else others[:place] + brush + others[place:]
    return None if after == row else (after,)


EDITOR = Editor(
    (
        *(Brush(digit, shown.name, digit, digit, shown.fill, PAPER) for digit, shown in FIGURES.items()),
        Brush("remove", "take away", REMOVE),
    ),
    paint_figure,
    "Pick a figure and click where it should stand. With the keyboard: arrows move between places, a figure’s digit puts it there, "
    "Backspace takes one away.",
)
DRAWING = Drawing(
    picture,
    terminal,
    describe,
    len(SHAPES),
    changed,
    {digit: shown.fill for digit, shown in FIGURES.items()},
    sprites,
    "Place",
    describe_place,
    EDITOR,
)

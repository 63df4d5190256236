"""A board with a box per place, and the same in words."""

from __future__ import annotations

from collections.abc import Collection

from sestra.drawing import Box, Drawing, Label, Picture, Shape
from sestra.drawing.generic import State
from sestra.drawing.palette import INK, NAMED, ink_on, mix
from sestra.drawing.parts import changed_frame, number_below, sentences
from sestra_boxes import COLOURS, EMPTY

PITCH, SIDE, BOARD, HEIGHT = 84.0, 56.0, 78.0, 116.0


def picture(state: State, highlight: Collection[int]) -> Picture:
    shapes: list[Shape] = []
    for place, letter in enumerate(state):
        middle = PITCH * (place + 0.5)
        if place in highlight:
            shapes.append(changed_frame(middle, 0, PITCH, HEIGHT))
        if letter != EMPTY:
            fill = NAMED[COLOURS[letter]]
            shapes.append(Box(middle - SIDE / 2, BOARD - SIDE, SIDE, SIDE, fill, mix(fill, INK, 0.5), 2, radius=4))
            shapes.append(Label(middle, BOARD - SIDE / 2, letter.upper(), 20, ink_on(fill), bold=True))
        shapes.append(number_below(middle, HEIGHT - 14, place, highlight))
    shapes.append(Box(0, BOARD, PITCH * len(state), 8, "#8a6a45", radius=2))
    return Picture(PITCH * len(state), HEIGHT, tuple(shapes))


def describe(state: State) -> str:
    boxes = [f"Place {number}: a {COLOURS[letter]} box" for number, letter in enumerate(state, start=1) if letter != EMPTY]
    return sentences(boxes, len(state), "The shelf is empty.", "The other places are empty.")


DRAWING = Drawing(picture=picture, describe=describe, letters={letter: NAMED[name] for letter, name in COLOURS.items()})

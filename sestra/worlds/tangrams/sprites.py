"""Tangrams' drawing in parts, for the page."""

from __future__ import annotations

from collections.abc import Sequence

from sestra.drawing.palette import CHANGED, CHANGED_FILL, PAPER, RULE, SHADE
from sestra.drawing.parts import number_below
from sestra.drawing.shapes import Box, Shape
from sestra.drawing.sprites import Plain, place, plain_sprites
from sestra.worlds.tangrams.drawing import FIGURES, HEIGHT, PITCH, TILE, figure
from sestra.worlds.tangrams.symbols import SHAPES


def sprites() -> Plain:
    drawn = []
    tiles: dict[str, Sequence[Shape]] = {}
    tall = HEIGHT - 34
    for n in range(len(SHAPES)):
        middle = PITCH * (n + 0.5)
        left = middle - TILE / 2
        frame = Box(left, 4, TILE, tall, CHANGED_FILL, CHANGED, 1.5, radius=8)
        numbers = [number_below(middle, HEIGHT - 16, n, highlight) for highlight in ((), (n,))]
        drawn.append(place(middle, frame, *numbers))
    for name, fill in (("taken", PAPER), ("free", SHADE)):
        tiles[name] = [Box(-TILE / 2, 4, TILE, tall, fill, RULE, 1.5, radius=8)]
    return {
        "width": PITCH * len(SHAPES),
        "height": HEIGHT,
        "background": [],
        "sprites": plain_sprites({**tiles, **{digit: figure(0, digit) for digit in SHAPES}}),
        "places": drawn,
        "figures": {digit: {"name": figure.name, "fill": figure.fill} for digit, figure in FIGURES.items()},
    }

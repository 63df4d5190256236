"""Tangrams' drawing in parts, for the page."""

from __future__ import annotations

from sestra.drawing.palette import PAPER, SHADE
from sestra.drawing.sprites import places, plain_sprites
from sestra.worlds.tangrams.drawing import FIGURES, HEIGHT, PITCH, figure, frame, number, tile
from sestra.worlds.tangrams.world import SHAPES

SPRITES = {
    "width": PITCH * len(SHAPES),
    "height": HEIGHT,
    "background": [],
    "sprites": plain_sprites(
        {"taken": [tile(0, PAPER)], "free": [tile(0, SHADE)], **{digit: figure(0, digit) for digit in SHAPES}},
    ),
    "places": places([PITCH * (place + 0.5) for place in range(len(SHAPES))], frame, number),
    "figures": {digit: {"name": figure.name, "fill": figure.fill} for digit, figure in FIGURES.items()},
}

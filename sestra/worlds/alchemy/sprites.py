"""Alchemy's drawing in parts, for the page."""

from __future__ import annotations

from sestra.drawing.sprites import colours, places, plain_sprites
from sestra.worlds.alchemy.drawing import HEIGHT, PITCH, UNIT, beaker, frame, number, unit
from sestra.worlds.alchemy.world import BEAKERS, CAPACITY, COLOURS

_GLASS = beaker(0, "")  # the lip is the last shape
_UNITS = {
    name: shapes
    for letter in COLOURS
    for name, shapes in ((f"{letter} bottom", unit(0, 0, letter)), (letter, [shape.moved(0, UNIT) for shape in unit(0, 1, letter)]))
}
SPRITES = {
    "width": PITCH * BEAKERS,
    "height": HEIGHT,
    "unit": UNIT,
    "capacity": CAPACITY,
    "background": [],
    "sprites": plain_sprites({"glass": _GLASS[:-1], "lip": _GLASS[-1:], **_UNITS}),
    "places": places([PITCH * (place + 0.5) for place in range(BEAKERS)], frame, number),
    "colours": colours(COLOURS),
}

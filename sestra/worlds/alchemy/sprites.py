"""Alchemy's drawing in parts, for the page."""

from __future__ import annotations

from collections.abc import Sequence

from sestra.drawing.parts import changed_frame, number_below
from sestra.drawing.shapes import Shape
from sestra.drawing.sprites import Plain, colours, place, plain_sprites
from sestra.worlds.alchemy.drawing import HEIGHT, PITCH, UNIT, beaker, unit
from sestra.worlds.alchemy.symbols import BEAKERS, CAPACITY, COLOURS


def sprites() -> Plain:
    glass = beaker(0, "")  # the lip is the last shape
    parts: dict[str, Sequence[Shape]] = {"glass": glass[:-1], "lip": glass[-1:]}
    for letter in COLOURS:
        parts[f"{letter} bottom"] = unit(0, 0, letter)
        parts[letter] = [shape.moved(0, UNIT) for shape in unit(0, 1, letter)]
    middles = [PITCH * (n + 0.5) for n in range(BEAKERS)]
    return {
        "width": PITCH * BEAKERS,
        "height": HEIGHT,
        "unit": UNIT,
        "capacity": CAPACITY,
        "background": [],
        "sprites": plain_sprites(parts),
        "places": [
            place(
                middle,
                changed_frame(middle, 0, PITCH, HEIGHT),
                number_below(middle, HEIGHT - 17, n, ()),
                number_below(middle, HEIGHT - 17, n, (n,)),
            )
            for n, middle in enumerate(middles)
        ],
        "colours": colours(COLOURS),
    }

"""Scene's drawing in parts, for the page."""

from __future__ import annotations

from collections.abc import Sequence

from sestra.drawing.palette import CHANGED, NAMED, PAPER
from sestra.drawing.shapes import Box, Label, Shape
from sestra.drawing.sprites import Plain, colours, place, plain, plain_sprites
from sestra.worlds.scene.drawing import EDGE, HEIGHT, PITCH, WING, figure, hat, person, stage
from sestra.worlds.scene.symbols import COLOURS, NONE, POSITIONS


def sprites() -> Plain:
    width = 2 * WING + PITCH * POSITIONS
    someone = next(iter(COLOURS))
    parts: dict[str, Sequence[Shape]] = {"shadow": figure(0, someone, NONE)[:1]}
    for letter, name in COLOURS.items():
        parts[f"shirt {letter}"] = person(0, NAMED[name], letter.upper())
        parts[f"hat {letter}"] = hat(0, NAMED[name], letter.upper())
    drawn = []
    for n in range(POSITIONS):
        middle = WING + PITCH * (n + 0.5)
        frame = Box(middle - PITCH / 2 + 2, 20, PITCH - 4, EDGE - 22, None, CHANGED, 2, radius=8)
        number = Label(middle, (EDGE + HEIGHT) / 2, str(n + 1), 14, PAPER)
        drawn.append(place(middle, frame, number, Label(number.x, number.y, number.text, 14, PAPER, bold=True)))
    return {
        "width": width,
        "height": HEIGHT,
        "background": [plain(shape) for shape in stage(width, POSITIONS)],
        "sprites": plain_sprites(parts),
        "places": drawn,
        "colours": colours(COLOURS),
    }

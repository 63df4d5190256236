"""Scene's drawing in parts, for the page."""

from __future__ import annotations

from sestra.drawing.palette import NAMED
from sestra.drawing.sprites import colours, places, plain, plain_sprites
from sestra.worlds.scene.drawing import HEIGHT, PITCH, WING, figure, frame, hat, number, person, stage
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS

_WIDTH = 2 * WING + PITCH * POSITIONS
_CLOTHES = {
    f"{garment} {letter}": draw(0, NAMED[name], letter.upper())
    for letter, name in COLOURS.items()
    for garment, draw in (("shirt", person), ("hat", hat))
}
SPRITES = {
    "width": _WIDTH,
    "height": HEIGHT,
    "background": [plain(shape) for shape in stage(_WIDTH, POSITIONS)],
    "sprites": plain_sprites({"shadow": figure(0, next(iter(COLOURS)), NONE)[:1], **_CLOTHES}),
    "places": places([WING + PITCH * (place + 0.5) for place in range(POSITIONS)], frame, number),
    "colours": colours(COLOURS),
}

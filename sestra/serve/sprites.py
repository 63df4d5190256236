"""The drawings taken apart, so that the page can put them together again and move the parts; every shape is the drawing's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sestra.drawing.palette import CHANGED, CHANGED_FILL, NAMED, PAPER, RULE, SHADE, ink_on
from sestra.drawing.parts import changed_frame, number_below
from sestra.drawing.shapes import Box, Label, Shape
from sestra.worlds import World
from sestra.worlds.alchemy import drawing as alchemy
from sestra.worlds.alchemy.world import CAPACITY
from sestra.worlds.alchemy.world import COLOURS as LIQUIDS
from sestra.worlds.scene import drawing as scene
from sestra.worlds.scene.world import COLOURS as GARMENTS
from sestra.worlds.scene.world import NONE
from sestra.worlds.tangrams import drawing as tangrams
from sestra.worlds.tangrams.world import SHAPES

Plain = dict[str, Any]


def drawing(world: World[Any]) -> Plain:
    """What the page draws the world with; a world without a drawing of its own is drawn as text.

    ``sprites`` are drawn around x = 0, ``places`` say where, ``colours`` and ``figures`` are what can be chosen when a state is edited.
    """
    made = {"alchemy": _alchemy, "scene": _scene, "tangrams": _tangrams}.get(world.name)
    return {"world": world.name, **(made() if made else {"width": 0, "height": 0})}


def _alchemy() -> Plain:
    beakers = range(7)
    glass = alchemy.beaker(0, "")  # the lip is the last shape
    sprites: dict[str, Sequence[Shape]] = {"glass": glass[:-1], "lip": glass[-1:]}
    for letter in LIQUIDS:
        sprites[f"{letter} bottom"] = alchemy.unit(0, 0, letter)
        sprites[letter] = [shape.moved(0, alchemy.UNIT) for shape in alchemy.unit(0, 1, letter)]
    middles = [alchemy.PITCH * (n + 0.5) for n in beakers]
    return {
        "width": alchemy.PITCH * len(beakers),
        "height": alchemy.HEIGHT,
        "unit": alchemy.UNIT,
        "capacity": CAPACITY,
        "background": [],
        "sprites": _plain_sprites(sprites),
        "places": [
            _place(
                middle,
                changed_frame(middle, 0, alchemy.PITCH, alchemy.HEIGHT),
                number_below(middle, alchemy.HEIGHT - 17, n, ()),
                number_below(middle, alchemy.HEIGHT - 17, n, (n,)),
            )
            for n, middle in enumerate(middles)
        ],
        "colours": _colours(LIQUIDS),
    }


def _scene() -> Plain:
    places = range(10)
    width = 2 * scene.WING + scene.PITCH * len(places)
    someone = next(iter(GARMENTS))
    sprites: dict[str, Sequence[Shape]] = {"shadow": scene.figure(0, someone, NONE)[:1]}
    for letter, name in GARMENTS.items():
        sprites[f"shirt {letter}"] = scene.person(0, NAMED[name], letter.upper())
        sprites[f"hat {letter}"] = scene.hat(0, NAMED[name], letter.upper())
    drawn = []
    for n in places:
        middle = scene.WING + scene.PITCH * (n + 0.5)
        frame = Box(middle - scene.PITCH / 2 + 2, 20, scene.PITCH - 4, scene.EDGE - 22, None, CHANGED, 2, radius=8)
        number = Label(middle, (scene.EDGE + scene.HEIGHT) / 2, str(n + 1), 14, PAPER)
        drawn.append(_place(middle, frame, number, Label(number.x, number.y, number.text, 14, PAPER, bold=True)))
    return {
        "width": width,
        "height": scene.HEIGHT,
        "background": [_plain(shape) for shape in scene.stage(width, len(places))],
        "sprites": _plain_sprites(sprites),
        "places": drawn,
        "colours": _colours(GARMENTS),
    }


def _tangrams() -> Plain:
    drawn = []
    tiles: dict[str, Sequence[Shape]] = {}
    tall = tangrams.HEIGHT - 34
    for n in range(len(SHAPES)):
        middle = tangrams.PITCH * (n + 0.5)
        left = middle - tangrams.TILE / 2
        frame = Box(left, 4, tangrams.TILE, tall, CHANGED_FILL, CHANGED, 1.5, radius=8)
        numbers = [number_below(middle, tangrams.HEIGHT - 16, n, highlight) for highlight in ((), (n,))]
        drawn.append(_place(middle, frame, *numbers))
    for name, fill in (("taken", PAPER), ("free", SHADE)):
        tiles[name] = [Box(-tangrams.TILE / 2, 4, tangrams.TILE, tall, fill, RULE, 1.5, radius=8)]
    return {
        "width": tangrams.PITCH * len(SHAPES),
        "height": tangrams.HEIGHT,
        "background": [],
        "sprites": _plain_sprites({**tiles, **{digit: tangrams.figure(0, digit) for digit in SHAPES}}),
        "places": drawn,
        "figures": {digit: {"name": figure.name, "fill": figure.fill} for digit, figure in tangrams.FIGURES.items()},
    }


def _colours(names: dict[str, str]) -> Plain:
    return {letter: {"name": name, "fill": NAMED[name], "ink": ink_on(NAMED[name])} for letter, name in names.items()}


def _place(middle: float, frame: Box, number: Label, number_changed: Label) -> Plain:
    return {"x": middle, "frame": _plain(frame), "number": _plain(number), "number_changed": _plain(number_changed)}


def _plain_sprites(sprites: dict[str, Sequence[Shape]]) -> Plain:
    return {name: [_plain(shape) for shape in shapes] for name, shapes in sprites.items()}


def _plain(shape: Shape) -> Plain:
    return {"kind": type(shape).__name__.lower(), **asdict(shape)}

"""Drawings of states: SVG for pages, pixels for files and environments, characters for a terminal, words for screen readers.

A world's drawing is described once, as shapes; ``World.drawing`` returns it. A world without one is drawn as numbered boxes.

>>> from sestra.worlds.alchemy.world import Alchemy
>>> describe(Alchemy(), Alchemy().parse("1:_ 2:go 3:_ 4:_ 5:_ 6:_ 7:_"))
'Alchemy. Beaker 2, from the bottom: green, orange. The other beakers are empty.'
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rich.text import Text

from sestra.drawing.editing import Brush, Editor
from sestra.drawing.generic import Drawing, State, WorldDrawing
from sestra.drawing.palette import CARD, INK, RULE
from sestra.drawing.shapes import Box, Disc, Label, Picture, Polygon, Shape, wrap
from sestra.drawing.svg import to_svg
from sestra.errors import InputError
from sestra.worlds.base import World

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "Box",
    "Brush",
    "Disc",
    "Drawing",
    "Editor",
    "Label",
    "Picture",
    "Polygon",
    "Shape",
    "changed",
    "describe",
    "draw_image",
    "draw_strip_svg",
    "draw_svg",
    "draw_terminal",
    "drawing_of",
    "strip_picture",
]

MARGIN, SIZE, LEADING = 14.0, 16.0, 21.0
"""Around a drawing, and of the text of a caption."""


def draw_svg(world: World[Any], state: State, *, highlight: Collection[int] = ()) -> str:
    """The state as an SVG element; ``highlight`` are the places to frame, from 0: the slots, unless the drawing says otherwise."""
    return to_svg(strip([("", _picture(world, state, highlight))]))


def draw_strip_svg(world: World[Any], frames: Sequence[tuple[str, State]]) -> str:
    """Captions and states, such as each instruction and what came of it, as one SVG; what changed since the frame before is framed."""
    return to_svg(strip_picture(world, frames))


def draw_image(world: World[Any], state: State, *, highlight: Collection[int] = ()) -> npt.NDArray[np.uint8]:
    """The state as pixels, ``[height, width, 3]``; the size depends on the world only."""
    import numpy as np

    from sestra.drawing.raster import to_image

    return np.array(to_image(strip([("", _picture(world, state, highlight))]), 1))


def draw_terminal(world: World[Any], state: State, *, highlight: Collection[int] = ()) -> Text:
    """The state in a few lines of coloured characters, which letters keep legible where there is no colour."""
    _check(world, state, highlight)
    return drawing_of(world).terminal(state, highlight)


def describe(world: World[Any], state: State) -> str:
    """The state in words."""
    _check(world, state)
    return f"{world.name.capitalize()}. {drawing_of(world).describe(state)}"


def changed(world: World[Any], before: State, after: State) -> frozenset[int]:
    """What to highlight in the second state: the places that are not as they were in the first."""
    _check(world, before)
    _check(world, after)
    return drawing_of(world).changed(before, after)


def drawing_of(world: World[Any]) -> WorldDrawing:
    """The world's own drawing, with boxes for what it leaves out."""
    return WorldDrawing(world, world.drawing() or Drawing())


def _picture(world: World[Any], state: State, highlight: Collection[int]) -> Picture:
    _check(world, state, highlight)
    return replace(drawing_of(world).picture(state, highlight), description=describe(world, state))


def strip_picture(world: World[Any], frames: Sequence[tuple[str, State]]) -> Picture:
    """The picture that ``draw_strip_svg`` draws; ``sestra.drawing.raster.save`` writes it to a file."""
    if not frames:
        raise InputError(f"no states of {world.name} to draw; expected at least one caption and state")
    shown = [(caption, _picture(world, state, ())) for caption, state in frames[:1]]
    for (_, before), (caption, state) in pairwise(frames):
        shown.append((caption, _picture(world, state, changed(world, before, state))))
    return strip(shown)


def strip(frames: Sequence[tuple[str, Picture]]) -> Picture:
    """The pictures below each other on one background, parted by thin lines."""
    width = max(picture.width for _, picture in frames) + 2 * MARGIN
    shapes: list[Shape] = []
    y = MARGIN
    for number, (caption, picture) in enumerate(frames):
        if number:
            shapes.append(Box(MARGIN, y - 0.5, width - 2 * MARGIN, 1, RULE))
            y += MARGIN
        words = wrap(caption, SIZE, width - 2 * MARGIN)
        shapes += [Label(MARGIN, y + LEADING * (line + 0.4), text, SIZE, INK, anchor="start") for line, text in enumerate(words)]
        y += LEADING * len(words) + (8 if words else 0)
        shapes += [shape.moved((width - picture.width) / 2, y) for shape in picture.shapes]
        y += picture.height + MARGIN
    background = Box(0.5, 0.5, width - 1, y - 1, CARD, RULE, 1, radius=10)
    return Picture(width, y, (background, *shapes), " ".join(_words(caption, picture) for caption, picture in frames))


def _words(caption: str, picture: Picture) -> str:
    return f"“{caption.strip()}”: {picture.description}" if caption.strip() else picture.description


def _check(world: World[Any], state: State, highlight: Collection[int] = ()) -> None:
    if len(state) != world.slots:
        raise InputError(f"{state!r} has {len(state)} contents; a state of {world.name} has {world.slots}, as world.parse gives them")
    for content in state:
        if content not in world.contents:
            raise InputError(f"{content!r} is not a content of {world.name}; expected one such as {world.contents[-1]!r}")
    places = drawing_of(world).places
    for place in highlight:
        if place not in range(places):
            raise InputError(f"cannot highlight place {place!r} of {world.name}; expected numbers from 0 to {places - 1}")

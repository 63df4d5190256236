"""Drawings taken apart into sprites, as plain values: the page puts them together and moves them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sestra.drawing import drawing_of
from sestra.drawing.palette import NAMED, ink_on
from sestra.drawing.shapes import Box, Label, Shape
from sestra.worlds.base import World

Plain = dict[str, Any]


def sprites(world: World[Any]) -> Plain:
    """What the page draws the world with; without sprites it shows states as text.

    ``sprites`` are drawn around x = 0, ``places`` say where, ``colours`` and ``figures`` are what can be chosen when a state is edited.
    """
    return {"world": world.name, **drawing_of(world).sprites()}


def colours(names: Mapping[str, str]) -> Plain:
    return {letter: {"name": name, "fill": NAMED[name], "ink": ink_on(NAMED[name])} for letter, name in names.items()}


def places(middles: Iterable[float], frame: Callable[[float], Box], number: Callable[[float, int, Collection[int]], Label]) -> list[Plain]:
    """The frame of each changed place, and its number before and after a change."""
    return [
        {
            "x": middle,
            "frame": plain(frame(middle)),
            "number": plain(number(middle, place, ())),
            "number_changed": plain(number(middle, place, (place,))),
        }
        for place, middle in enumerate(middles)
    ]


def plain_sprites(sprites: Mapping[str, Sequence[Shape]]) -> Plain:
    return {name: [plain(shape) for shape in shapes] for name, shapes in sprites.items()}


def plain(shape: Shape) -> Plain:
    return {"kind": type(shape).__name__.lower(), **asdict(shape)}

"""Drawings taken apart, as plain values: the page puts the parts together and moves them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from sestra.drawing.shapes import Box, Label, Picture, Shape

Plain: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """Something that can come, go and move: a part with the same key in two states is the same one."""

    key: str
    sprite: str | tuple[Shape, ...]
    """The name of a sprite, or shapes."""
    x: float
    y: float = 0.0
    enters: tuple[float, float] | None = None
    """From where, relative to its place, it comes in, and where it leaves to; None: it does so at once."""
    below: bool = False
    """Whether it lies below all that is not."""


@dataclass(frozen=True)
class Place:
    """Where something can change: its frame, and its number before and after a change, if the page has to draw them."""

    frame: Box
    number: Label | None = None
    number_changed: Label | None = None


@dataclass(frozen=True)
class Sprites:
    """What the page draws a world with."""

    width: float
    height: float
    parts: Callable[[tuple[Any, ...], Collection[int]], Sequence[Part]]
    """The parts of a state in which these places have changed."""
    places: tuple[Place, ...]
    sprites: Mapping[str, Sequence[Shape]] = field(default_factory=dict)
    """Shapes around x = 0 by name, which parts refer to."""
    background: Sequence[Shape] = ()

    def plain(self) -> Plain:
        """Without the parts, which depend on a state."""
        return {
            "width": self.width,
            "height": self.height,
            "background": [plain(shape) for shape in self.background],
            "sprites": {name: [plain(shape) for shape in shapes] for name, shapes in self.sprites.items()},
            "places": [
                {
                    "frame": plain(place.frame),
                    "number": plain(place.number) if place.number else None,
                    "number_changed": plain(place.number_changed) if place.number_changed else None,
                }
                for place in self.places
            ],
        }

    def plain_parts(self, state: tuple[Any, ...], changed: Collection[int]) -> list[Plain]:
        return [
            {
                "key": part.key,
                "sprite": part.sprite if isinstance(part.sprite, str) else [plain(shape) for shape in part.sprite],
                "x": part.x,
                "y": part.y,
                "enters": part.enters,
                "below": part.below,
            }
            for part in self.parts(state, changed)
        ]


def places(
    middles: Iterable[float], frame: Callable[[float], Box], number: Callable[[float, int, Collection[int]], Label]
) -> tuple[Place, ...]:
    """Places side by side, by the middle of each."""
    return tuple(Place(frame(middle), number(middle, place, ()), number(middle, place, (place,))) for place, middle in enumerate(middles))


def picture_sprites(picture: Callable[[tuple[Any, ...], Collection[int]], Picture], example: tuple[Any, ...], count: int) -> Sprites:
    """Of a drawing that has a picture only: every shape is a part, and a place is where the picture changes if it is framed."""
    usual = picture(example, ())

    def frame(place: int) -> Box:
        shapes = [shape for shape in picture(example, (place,)).shapes if shape not in usual.shapes]
        boxes = [shape for shape in shapes if isinstance(shape, Box)]
        if boxes:
            return boxes[0]
        left, top, right, bottom = zip(*(shape.bounds() for shape in shapes or usual.shapes), strict=True)
        return Box(min(left), min(top), max(right) - min(left), max(bottom) - min(top), None, radius=8)

    def parts(state: tuple[Any, ...], changed: Collection[int]) -> list[Part]:
        seen: Counter[Shape] = Counter()
        found = []
        for shape in picture(state, changed).shapes:
            seen[shape] += 1
            found.append(Part(f"{shape} {seen[shape]}", (shape,), 0, 0, (0, 0)))
        return found

    return Sprites(usual.width, usual.height, parts, tuple(Place(frame(place)) for place in range(count)))


def plain(shape: Shape) -> Plain:
    return {"kind": type(shape).__name__.lower(), **asdict(shape)}

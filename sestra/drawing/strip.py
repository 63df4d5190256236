"""A whole interaction as one picture: the states below each other, each under its caption."""

from __future__ import annotations

from collections.abc import Sequence

from sestra.drawing.palette import CARD, INK, RULE
from sestra.drawing.shapes import Box, Label, Picture, Shape, wrap

MARGIN = 14.0
SIZE, LEADING = 16.0, 21.0


def card(picture: Picture) -> Picture:
    """The picture with a margin, on its own background."""
    return strip([("", picture)])


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

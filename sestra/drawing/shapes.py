"""The few shapes that every drawing is made of, in a small coordinate system whose y grows downwards."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

Bounds: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom."""

BASELINE = 0.36
"""How far below its middle a line of text stands, in parts of its size."""


@dataclass(frozen=True)
class _Placed:
    x: float
    y: float

    def moved(self, dx: float, dy: float) -> Self:
        return replace(self, x=self.x + dx, y=self.y + dy)


@dataclass(frozen=True)
class Box(_Placed):
    """A rectangle; ``corners`` says which of top left, top right, bottom right, bottom left are rounded."""

    width: float
    height: float
    fill: str | None
    line: str | None = None
    thickness: float = 1.5
    radius: float = 0.0
    corners: tuple[bool, bool, bool, bool] = (True, True, True, True)

    def bounds(self) -> Bounds:
        return _outside(self, self.x, self.y, self.x + self.width, self.y + self.height)


@dataclass(frozen=True)
class Disc(_Placed):
    """A circle or ellipse around its middle."""

    rx: float
    ry: float
    fill: str | None
    line: str | None = None
    thickness: float = 1.5

    def bounds(self) -> Bounds:
        return _outside(self, self.x - self.rx, self.y - self.ry, self.x + self.rx, self.y + self.ry)


@dataclass(frozen=True)
class Polygon:
    """A closed polygon whose corners are joined roundly."""

    points: tuple[tuple[float, float], ...]
    fill: str | None
    line: str | None = None
    thickness: float = 1.5

    def bounds(self) -> Bounds:
        across, down = zip(*self.points, strict=True)
        return _outside(self, min(across), min(down), max(across), max(down))

    def moved(self, dx: float, dy: float) -> Polygon:
        return replace(self, points=tuple((x + dx, y + dy) for x, y in self.points))


@dataclass(frozen=True)
class Label(_Placed):
    """One line of text; y is its middle, x its left end or its middle."""

    text: str
    size: float
    fill: str
    bold: bool = False
    anchor: Literal["start", "middle"] = "middle"

    def bounds(self) -> Bounds:
        """An estimate on the wide side: the font is the reader's."""
        width = text_width(self.text, self.size, self.bold)
        left = self.x if self.anchor == "start" else self.x - width / 2
        return left, self.y - 0.6 * self.size, left + width, self.y + 0.6 * self.size


Shape: TypeAlias = Box | Disc | Polygon | Label


@dataclass(frozen=True)
class Picture:
    """Shapes on a canvas, the later ones on top; ``description`` describes it in words (filled in for a world's picture)."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    description: str = ""


def printable(text: str) -> str:
    """The text on one line, without characters that XML forbids or a terminal would obey."""
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    if character.isspace():
        return " "
    return "" if unicodedata.category(character) == "Cf" else "\N{REPLACEMENT CHARACTER}"


def text_width(text: str, size: float, bold: bool = False) -> float:
    """How wide a line is at most in the usual sans-serif fonts."""
    return sum(map(_character_width, text)) * size * (1.12 if bold else 1.0)


def _character_width(character: str) -> float:
    if character in " .,:;!'|/ijlI()[]":
        return 0.4
    if unicodedata.east_asian_width(character) in "WF" or character in "mwMW@%—…":
        return 1.0
    return 0.78 if character.isupper() else 0.64


def wrap(text: str, size: float, width: float, bold: bool = False) -> list[str]:
    """The text in lines that fit the width; a word that is too long for a line is broken."""
    lines = [""]
    for word in printable(text).split():
        joined = f"{lines[-1]} {word}".strip()
        if text_width(joined, size, bold) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for character in word:
            if lines[-1] and text_width(lines[-1] + character, size, bold) > width:
                lines.append("")
            lines[-1] += character
    return lines if lines != [""] else []


def _outside(shape: Box | Disc | Polygon, left: float, top: float, right: float, bottom: float) -> Bounds:
    """The bounds with the half of the outline that lies outside of them."""
    half = shape.thickness / 2 if shape.line else 0.0
    return left - half, top - half, right + half, bottom + half

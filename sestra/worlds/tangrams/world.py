"""Tangrams: a row of up to five figures, all different."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import ClassVar

from sestra.worlds.base import Edit, Settings, StateError, World, parse_numbered

SHAPES = "01234"


@cache
def common(row: str, other: str) -> str:
    """The longest row of figures that stand in both in the same order."""
    if not row or not other:
        return ""
    if row[-1] == other[-1]:
        return common(row[:-1], other[:-1]) + row[-1]
    return max(common(row[:-1], other), common(row, other[:-1]), key=len)


class Tangrams(World[str]):
    """The row is a single slot whose content is a string with one digit per figure, left to right.

    ``insert n t`` puts figure t at position n, which moves what stands there and after it to the right; it is invalid if t is in the row
    or, since t could not then stand at position n, if the row ends before position n - 1 (the paper says only the first). ``remove n``
    takes the figure at position n away.

    >>> Tangrams().parse("1:4 2:0 3:2")
    ('402',)
    """

    name = "tangrams"
    slots = 1
    contents = tuple("".join(row) for size in range(len(SHAPES) + 1) for row in permutations(SHAPES, size))
    edits = (
        *(Edit("insert", (str(n), shape)) for n in range(1, len(SHAPES) + 1) for shape in SHAPES),
        *(Edit("remove", (str(n),)) for n in range(1, len(SHAPES) + 1)),
    )
    settings = Settings(entropy=0.1, verbosity=0.0, horizon=5)
    presets: ClassVar = {"attention": {"oracle_fraction": 0.5}, "objects": {"epochs": 8, "generated": 1500, "past": "pointed"}}
    interchangeable: ClassVar = dict.fromkeys(SHAPES, ())  # they have no names

    def edit(self, content: str, edit: Edit) -> str | None:
        before = int(edit.arguments[0]) - 1
        if edit.kind == "remove":
            return content[:before] + content[before + 1 :] if before < len(content) else None
        shape = edit.arguments[1]
        return content[:before] + shape + content[before:] if shape not in content and before <= len(content) else None

    def distance(self, content: str, goal: str) -> int:
        """The edit distance of the two rows, with a cost of two for substitutions."""
        return len(content) + len(goal) - 2 * len(common(content, goal))

    def parse(self, text: str) -> tuple[str]:
        shapes = parse_numbered(text, self.name)
        if len(shapes) > len(SHAPES):
            raise StateError(f"{len(shapes)} figures in {text!r}; a row holds at most {len(SHAPES)}")
        for shape in shapes:
            if shape not in tuple(SHAPES):
                raise StateError(f"unknown figure {shape!r} in {text!r}; expected one of {', '.join(SHAPES)}")
            if shapes.count(shape) > 1:
                raise StateError(f"figure {shape!r} stands {shapes.count(shape)} times in {text!r}; a row holds each figure at most once")
        return ("".join(shapes),)

    def format(self, state: tuple[str, ...]) -> str:
        return " ".join(f"{number}:{shape}" for number, shape in enumerate(state[0], start=1))

"""Alchemy: seven beakers, each a stack of up to four units of six colours."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any, ClassVar

from sestra.worlds.base import Edit, Settings, StateError, World, parse_numbered

COLOURS = {"b": "brown", "g": "green", "o": "orange", "p": "purple", "r": "red", "y": "yellow"}
CAPACITY = 4
"""The most units in a beaker."""
BEAKERS = 7


class Alchemy(World[str]):
    """A beaker is a string with one letter per unit, bottom first; the empty string is an empty beaker.

    ``pop n`` takes the top unit out of beaker n and ``push n c`` adds a unit of colour c on top. In the paper a push has no upper limit;
    here a push onto a full beaker is invalid, like a pop from an empty one.

    >>> Alchemy().parse("1:_ 2:go 3:_ 4:_ 5:_ 6:rrr 7:_")
    ('', 'go', '', '', '', 'rrr', '')
    """

    name = "alchemy"
    slots = BEAKERS
    contents = tuple("".join(units) for size in range(CAPACITY + 1) for units in product(COLOURS, repeat=size))
    edits = (Edit("pop"), *(Edit("push", (colour,)) for colour in COLOURS))
    settings = Settings(entropy=0.1, verbosity=0.15, horizon=7)
    interchangeable: ClassVar = {  # but for brown, which is what mixing makes
        "g": ("green",), "o": ("orange",), "p": ("purple", "violet"), "r": ("red",), "y": ("yellow",),
    }  # fmt: skip
    presets: ClassVar = {"objects": {"generated": 1000, "numbers": True}}

    def edit(self, content: str, edit: Edit) -> str | None:
        if edit.kind == "pop":
            return content[:-1] if content else None
        return content + edit.arguments[0] if len(content) < CAPACITY else None

    def distance(self, content: str, goal: str) -> int:
        """The edit distance (insert, delete, substitute) of the two lists of units."""
        return _edit_distance(content, goal)

    def distances(self) -> Any:
        """The same for all 1555 x 1555 pairs at once: one array for each cell of the edit distance's table."""
        import numpy as np  # not above: the worlds alone load at once

        units = np.array([[*map(ord, content.ljust(CAPACITY))] for content in self.contents])  # [contents, capacity]
        rows: list[list[Any]] = [[np.full((len(units), len(units)), j, np.int8) for j in range(CAPACITY + 1)]]
        for i in range(1, CAPACITY + 1):
            row = [np.full_like(rows[0][0], i)]
            for j in range(1, CAPACITY + 1):
                differ = units[:, None, i - 1] != units[None, :, j - 1]  # [contents, contents]
                row.append(np.minimum(rows[-1][j - 1] + differ, 1 + np.minimum(rows[-1][j], row[-1])))
            rows.append(row)
        size = np.array([len(content) for content in self.contents])
        pairs = np.indices((len(units), len(units)))
        return np.array(rows)[size[:, None], size[None, :], pairs[0], pairs[1]]  # [contents, contents]

    def parse(self, text: str) -> tuple[str, ...]:
        return tuple(_parse_beaker(beaker) for beaker in parse_numbered(text, self.name, self.slots))

    def format(self, state: tuple[str, ...]) -> str:
        return " ".join(f"{number}:{beaker or '_'}" for number, beaker in enumerate(state, start=1))


@lru_cache(maxsize=1 << 16)
def _edit_distance(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    if a[-1] == b[-1]:
        return _edit_distance(a[:-1], b[:-1])
    return 1 + min(_edit_distance(a[:-1], b), _edit_distance(a, b[:-1]), _edit_distance(a[:-1], b[:-1]))


def _parse_beaker(text: str) -> str:
    if text == "_":
        return ""
    for letter in text:
        if letter not in COLOURS:
            raise StateError(f"unknown colour {letter!r} in beaker {text!r}; expected {_legend()}, or '_' for an empty beaker")
    if len(text) > CAPACITY:
        raise StateError(f"{len(text)} units in beaker {text!r}; a beaker holds at most {CAPACITY}")
    return text


def _legend() -> str:
    return ", ".join(f"{letter} ({name})" for letter, name in COLOURS.items())

"""Scene: ten positions on a stage, each with or without a person in a coloured shirt and a coloured hat."""

from __future__ import annotations

from itertools import product
from typing import ClassVar

from sestra.worlds.base import Edit, Settings, StateError, World, parse_numbered

COLOURS = {"b": "blue", "g": "green", "o": "orange", "p": "purple", "r": "red", "y": "yellow"}
NONE = "_"
"""No shirt, or no hat."""
POSITIONS = 10


def distance(content: str, goal: str) -> int:
    """The number of edits between two positions: one for a shirt or hat that comes or goes, two for one that changes its colour."""
    return sum((now != wanted) + (now != wanted and NONE not in (now, wanted)) for now, wanted in zip(content, goal, strict=True))


class Scene(World[str]):
    """A position is two letters, shirt and hat, with ``_`` for none: ``r_`` is a person in red without a hat.

    Shirt and hat are edited apart from each other, as in the paper: an intermediate state may hold a hat without a person.

    >>> Scene().parse("1:__ 2:ry 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:b_")[1]
    'ry'
    """

    name = "scene"
    slots = POSITIONS
    contents = tuple(shirt + hat for shirt, hat in product((NONE, *COLOURS), repeat=2))
    edits = (
        *(Edit("appear_person", (colour,)) for colour in COLOURS),
        *(Edit("appear_hat", (colour,)) for colour in COLOURS),
        Edit("remove_person"),
        Edit("remove_hat"),
    )
    settings = Settings(entropy=0.07, verbosity=0.2, horizon=5)
    interchangeable: ClassVar = {letter: (name,) for letter, name in COLOURS.items()}

    def edit(self, content: str, edit: Edit) -> str | None:
        verb, _, garment = edit.kind.partition("_")
        shirt, hat = content[0], content[1]
        worn = shirt if garment == "person" else hat
        new = edit.arguments[0] if verb == "appear" else NONE
        if (worn == NONE) == (new == NONE):  # appears where something is, or is removed where nothing is
            return None
        return new + hat if garment == "person" else shirt + new

    def distance(self, content: str, goal: str) -> int:
        return distance(content, goal)

    def parse(self, text: str) -> tuple[str, ...]:
        return tuple(_parse_position(position) for position in parse_numbered(text, self.name, self.slots))

    def format(self, state: tuple[str, ...]) -> str:
        return " ".join(f"{number}:{position}" for number, position in enumerate(state, start=1))


def _parse_position(text: str) -> str:
    legend = ", ".join(f"{letter} ({name})" for letter, name in COLOURS.items())
    if len(text) != 2:
        raise StateError(f"position {text!r} is not two letters; expected a shirt and a hat, each of {legend} or '_' for none")
    for letter in text:
        if letter not in COLOURS and letter != NONE:
            raise StateError(f"unknown colour {letter!r} in position {text!r}; expected {legend}, or '_' for none")
    return text

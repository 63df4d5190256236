"""The rules of the world; its other parts are the modules beside this one."""

from __future__ import annotations

from typing import ClassVar

from sestra.worlds import Edit, Settings, StateError, World
from sestra.worlds.base import parse_numbered
from sestra_boxes import COLOURS, EMPTY, PLACES


class Boxes(World[str]):
    """Five places, each empty or with a box: ``1:r 2:_ 3:_ 4:g 5:_``.

    ``put n c`` puts a box of colour c on place n, which must be empty; ``take n`` takes the box on place n away.
    """

    name = "boxes"
    slots = PLACES
    contents = (EMPTY, *COLOURS)
    edits = (Edit("take"), *(Edit("put", (colour,)) for colour in COLOURS))
    interchangeable: ClassVar = {letter: (name,) for letter, name in COLOURS.items()}
    settings = Settings(entropy=0.1, verbosity=0.1, horizon=5)

    def edit(self, content: str, edit: Edit) -> str | None:
        if edit.kind == "take":
            return None if content == EMPTY else EMPTY
        return edit.arguments[0] if content == EMPTY else None

    def distance(self, content: str, goal: str) -> int:
        return 0 if content == goal else 2 - (EMPTY in (content, goal))

    def parse(self, text: str) -> tuple[str, ...]:
        places = parse_numbered(text, self.name, self.slots)
        for content in places:
            if content not in self.contents:
                raise StateError(f"unknown box {content!r} in {text!r}; expected one of {', '.join(self.contents)}")
        return tuple(places)

    def format(self, state: tuple[str, ...]) -> str:
        return " ".join(f"{number}:{content}" for number, content in enumerate(state, start=1))

"""A world of your own: a warehouse of 4 x 5 shelves, which an agent stocks and clears.

    sestra train --world examples/own_world/world.py:Warehouse --policy objects --out runs/warehouse

The rules are in this file. ``grammar.py`` beside it writes instructions, so that there is something to train on.
"""

from __future__ import annotations

from sestra.worlds import Edit, Settings, StateError, World
from sestra.worlds.base import parse_numbered

ROWS, COLUMNS = 4, 5
EMPTY = "_"
GOODS = ("corn", "rice", "salt", "tea")


class Warehouse(World[str]):
    """Twenty shelves, row by row, each empty or with one kind of goods: ``1:_ 2:tea 3:_ ... 20:rice`` is a state.

    ``stock n goods`` fills shelf n, which must be empty; ``clear n`` empties it.
    """

    name = "warehouse"
    slots = ROWS * COLUMNS
    columns = COLUMNS  # states are drawn as rows of five shelves
    contents = (EMPTY, *GOODS)
    edits = (Edit("clear"), *(Edit("stock", (goods,)) for goods in GOODS))
    settings = Settings(horizon=8)  # no instruction takes more actions, STOP included

    def edit(self, content: str, edit: Edit) -> str | None:
        if edit.kind == "clear":
            return EMPTY if content != EMPTY else None  # None: the action is invalid
        return edit.arguments[0] if content == EMPTY else None

    def distance(self, content: str, goal: str) -> int:
        """The number of actions: to replace goods takes two."""
        return 0 if content == goal else 2 - (EMPTY in (content, goal))

    def parse(self, text: str) -> tuple[str, ...]:
        shelves = parse_numbered(text, self.name, self.slots)
        for number, goods in enumerate(shelves, start=1):
            if goods not in self.contents:
                raise StateError(f"shelf {number} holds {goods!r}; expected one of {', '.join(self.contents)}")
        return tuple(shelves)

    def format(self, state: tuple[str, ...]) -> str:
        return " ".join(f"{number}:{goods}" for number, goods in enumerate(state, start=1))

"""The rules of a world: a row of slots, what a slot can hold, and what an action does to one slot.

Change everything here; the comments say what each part is for. Then write your own interactions into ``data``, and see what is left to
mend with ``pytest shelf``.
"""

from __future__ import annotations

from sestra.worlds import Edit, Settings, StateError, World
from sestra.worlds.base import parse_numbered

EMPTY = "_"
COLOURS = {"r": "red", "b": "blue"}


class Shelf(World[str]):
    """Four boxes in a row, each empty or with a red or a blue ball: ``1:_ 2:r 3:_ 4:b`` is a state."""

    # The names of the data's files begin with this name: shelf-train.tsv.
    name = "shelf"

    # How many slots a state has. If they form a grid, say how many are in a row, and states are drawn so: columns = 2
    slots = 4

    # Everything that a slot can hold, the empty content first. Any hashable values will do; strings are the simplest.
    contents = (EMPTY, *COLOURS)

    # Everything that can be done to a slot. An action is an edit of one slot: "put 2 r" puts a red ball into box 2.
    edits = (Edit("take"), *(Edit("put", (colour,)) for colour in COLOURS))

    # The most actions that an instruction needs, the last one, STOP, included.
    settings = Settings(horizon=9)

    def edit(self, content: str, edit: Edit) -> str | None:
        """What the slot holds after the edit, or None where the edit is not possible."""
        if edit.kind == "take":
            return EMPTY if content != EMPTY else None
        return edit.arguments[0] if content == EMPTY else None

    def distance(self, content: str, goal: str) -> int:
        """How far a slot is from its goal: the number of edits is a good choice. Rewards are computed from it."""
        if content == goal:
            return 0
        return 1 if EMPTY in (content, goal) else 2

    def parse(self, text: str) -> tuple[str, ...]:
        """The state that a text describes, or an error that helps whoever wrote the text."""
        boxes = parse_numbered(text, self.name, self.slots)  # checks "1:... 2:... 3:... 4:..."
        for number, content in enumerate(boxes, start=1):
            if content not in self.contents:
                raise StateError(f"box {number} holds {content!r}; expected one of {', '.join(self.contents)}")
        return tuple(boxes)

    def format(self, state: tuple[str, ...]) -> str:
        """The text that describes a state, as ``parse`` reads it."""
        return " ".join(f"{number}:{content}" for number, content in enumerate(state, start=1))

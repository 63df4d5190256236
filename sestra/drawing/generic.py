"""What a world's drawing consists of, and the drawing of a world that has none: numbered boxes with the contents as text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from sestra.drawing.palette import INK, PAPER, QUIET
from sestra.drawing.parts import Cell, centred, changed_frame, lines, number_below, number_cell, sentences
from sestra.drawing.shapes import Box, Label, Picture, Shape, printable, text_width, wrap

State: TypeAlias = tuple[Any, ...]

IN_A_ROW = 8
PITCH, BOX, HEIGHT, SIZE, LINES = 88.0, 76.0, 104.0, 13.0, 4
COLUMNS = 96


def picture(state: State, highlight: Collection[int]) -> Picture:
    shapes: list[Shape] = []
    for slot, content in enumerate(state):
        row, column = divmod(slot, IN_A_ROW)
        middle, top = PITCH * (column + 0.5), HEIGHT * row
        if slot in highlight:
            shapes.append(changed_frame(middle, top, PITCH, HEIGHT))
        shapes.append(Box(middle - BOX / 2, top + 8, BOX, 68, PAPER, QUIET, 1.5, radius=6))
        text = _fitted(str(content))
        first = top + 42 - (len(text) - 1) * SIZE * 0.6
        shapes += [Label(middle, first + line * SIZE * 1.2, words, SIZE, INK) for line, words in enumerate(text)]
        shapes.append(number_below(middle, top + 89, slot, highlight))
    rows = -(-len(state) // IN_A_ROW)
    return Picture(PITCH * min(len(state), IN_A_ROW), HEIGHT * rows, tuple(shapes))


def _fitted(content: str) -> list[str]:
    """The lines of a content, the last one ended by an ellipsis where there is more."""
    room = BOX - 10
    text = wrap(content, SIZE, room)
    if len(text) <= LINES:
        return text
    last = text[LINES - 1]
    while text_width(last + "…", SIZE) > room:
        last = last[:-1]
    return [*text[: LINES - 1], last + "…"]


def terminal(state: State, highlight: Collection[int]) -> Text:
    texts = [printable(str(content)) for content in state]
    width = min(max(5, *(cell_len(text) for text in texts)), 20)
    in_a_row = max(1, COLUMNS // (width + 5))
    rows: list[list[Cell]] = []
    for first in range(0, len(state), in_a_row):
        slots = range(first, min(first + in_a_row, len(state)))
        rows.append([(f"┌{'─' * (width + 2)}┐ ", "") for _ in slots])
        shown = [texts[slot] if cell_len(texts[slot]) <= width else set_cell_size(texts[slot], width - 1) + "…" for slot in slots]
        rows.append([cell for text in shown for cell in (("│ ", ""), (set_cell_size(text, width), "bold"), (" │ ", ""))])
        rows.append([(f"└{'─' * (width + 2)}┘ ", "") for _ in slots])
        rows.append([cell for slot in slots for cell in (*centred(number_cell(slot, highlight), width + 4), (" ", ""))])
    return lines(rows)


def describe(state: State) -> str:
    return sentences([f"Slot {slot}: {content}" for slot, content in enumerate(state, start=1)], len(state), "")


def changed(before: State, after: State) -> frozenset[int]:
    """The slots that differ."""
    return frozenset(slot for slot, (old, new) in enumerate(zip(before, after, strict=True)) if old != new)


@dataclass(frozen=True)
class Drawing:
    """How a world is drawn; the defaults draw numbered boxes."""

    picture: Callable[[State, Collection[int]], Picture] = picture
    """The shapes of a state; the places in the collection have changed and are framed."""
    terminal: Callable[[State, Collection[int]], Text] = terminal
    """The same in a few lines of characters."""
    describe: Callable[[State], str] = describe
    """The same in words, for those who cannot see it."""
    places: int | None = None
    """How many places can be framed, where they are not the slots."""
    changed: Callable[[State, State], frozenset[int]] = changed
    """Which places of the second state are not as they were in the first."""
    letters: Mapping[str, str] = field(default_factory=dict)
    """The colour behind each letter of a content, in attention figures."""
    sprites: Callable[[], dict[str, Any]] = lambda: {"width": 0, "height": 0}
    """The parts of the picture that the page moves (``sestra.drawing.sprites``); without any it shows states as text."""

"""What a world's drawing consists of, and the parts that a world need not have: its slots as numbered boxes, in a row or a grid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from sestra.drawing.editing import BLANK, Editor, generic_editor
from sestra.drawing.palette import INK, PAPER, QUIET, RULE, colour_of, ink_on, mix
from sestra.drawing.parts import Cell, centred, changed_frame, lines, number_below, number_cell, sentences
from sestra.drawing.shapes import Box, Label, Picture, Shape, printable, text_width, wrap
from sestra.drawing.sprites import Part, Place, Sprites, picture_sprites
from sestra.worlds.base import World

State: TypeAlias = tuple[Any, ...]

IN_A_ROW = 8
PITCH, BOX, SIZE, LINES = 88.0, 76.0, 13.0, 4
ROW_HEIGHT, GRID_HEIGHT = 104.0, 80.0
"""Of a row of boxes with numbers below them, and of one in a grid, whose boxes have their numbers inside."""
COLUMNS = 96
"""Characters in a line of the terminal."""


def changed(before: State, after: State) -> frozenset[int]:
    """The slots that differ."""
    return frozenset(slot for slot, (old, new) in enumerate(zip(before, after, strict=True)) if old != new)


@dataclass(frozen=True)
class Drawing:
    """How a world is drawn; what is left out is drawn as numbered boxes."""

    picture: Callable[[State, Collection[int]], Picture] | None = None
    """The shapes of a state; the places in the collection have changed and are framed."""
    terminal: Callable[[State, Collection[int]], Text] | None = None
    """The same in a few lines of characters."""
    describe: Callable[[State], str] | None = None
    """The same in words, for those who cannot see it."""
    places: int | None = None
    """How many places can be framed, where they are not the slots."""
    changed: Callable[[State, State], frozenset[int]] = changed
    """Which places of the second state are not as they were in the first."""
    letters: Mapping[str, str] = field(default_factory=dict)
    """The colour behind each letter of a content, in attention figures."""
    sprites: Callable[[], Sprites] | None = None
    """The parts of the picture that the page moves; without it, the page shows the picture, and what changes in it fades."""
    place: str = "Slot"
    """What a place is called."""
    describe_place: Callable[[State, int], str] | None = None
    """What a place holds, in words."""
    editor: Editor | None = None
    """How the page edits states; without it, brushes put contents into slots."""


@dataclass(frozen=True)
class WorldDrawing:
    """A world's drawing, with boxes for what it leaves out."""

    world: World[Any]
    own: Drawing

    @property
    def places(self) -> int:
        return self.own.places or self.world.slots

    @property
    def letters(self) -> Mapping[str, str]:
        return self.own.letters

    def picture(self, state: State, highlight: Collection[int]) -> Picture:
        return (self.own.picture or Boxes(self.world).picture)(state, highlight)

    def terminal(self, state: State, highlight: Collection[int]) -> Text:
        return (self.own.terminal or Boxes(self.world).terminal)(state, highlight)

    def describe(self, state: State) -> str:
        return (self.own.describe or Boxes(self.world).describe)(state)

    def changed(self, before: State, after: State) -> frozenset[int]:
        return self.own.changed(before, after)

    def describe_place(self, state: State, place: int) -> str:
        return (self.own.describe_place or Boxes(self.world).describe_place)(state, place)

    def sprites(self) -> Sprites:
        if self.own.sprites:
            return self.own.sprites()
        if self.own.picture:
            return picture_sprites(self.own.picture, (self.world.contents[0],) * self.world.slots, self.places)
        return Boxes(self.world).sprites()

    def editor(self) -> Editor:
        """One without brushes if the places are not the slots and the world has none of its own."""
        if self.own.editor or self.places == self.world.slots:
            return self.own.editor or generic_editor(self.world, Boxes(self.world).label)
        return Editor((), lambda *_: None)


@dataclass(frozen=True)
class Boxes:
    """The slots of a world as numbered boxes with the contents as text, coloured by content."""

    world: World[Any]

    def label(self, content: Any) -> str:
        """What stands in the box: the name that the world has for the content, or the content, whose underscores stand for spaces."""
        phrases, text = self.world.phrases(), str(content)
        return phrases.names.get(text, text) if phrases else text if text in BLANK else text.replace("_", " ")

    def text(self, content: Any) -> str:
        """The same, blank for an empty content whose text says nothing."""
        label = printable(self.label(content)).strip()
        return "" if content == self.world.contents[0] and label in BLANK else label

    def fill(self, content: Any) -> str | None:
        number = self.world.contents.index(content)
        return colour_of(self.text(content), number - 1) if number else None

    @property
    def in_a_row(self) -> int:
        return self.world.columns or IN_A_ROW

    @property
    def height(self) -> float:
        return GRID_HEIGHT if self.world.columns else ROW_HEIGHT

    def picture(self, state: State, highlight: Collection[int]) -> Picture:
        shapes: list[Shape] = []
        for slot, content in enumerate(state):
            x, y = self.corner(slot)
            shapes += [shape.moved(x, y) for shape in ([self.frame()] if slot in highlight else [])]
            shapes += [shape.moved(x, y) for shape in self.box(content)]
            shapes.append(self.number(slot, highlight))
        rows = -(-len(state) // self.in_a_row)
        return Picture(PITCH * min(len(state), self.in_a_row), self.height * rows, tuple(shapes))

    def corner(self, slot: int) -> tuple[float, float]:
        """The top left corner of a slot's cell."""
        row, column = divmod(slot, self.in_a_row)
        return PITCH * column, self.height * row

    def frame(self) -> Box:
        return changed_frame(PITCH / 2, 0, PITCH, self.height)

    def number(self, slot: int, highlight: Collection[int]) -> Label:
        x, y = self.corner(slot)
        below = number_below(x + PITCH / 2, y + 89, slot, highlight)
        return Label(x + 12, y + 69, below.text, 10, below.fill, below.bold, "start") if self.world.columns else below

    def box(self, content: Any) -> list[Shape]:
        """In a cell whose corner is (0, 0)."""
        fill, left, middle = self.fill(content), (PITCH - BOX) / 2, PITCH / 2
        height = 56.0 if self.world.columns else 68.0
        line = mix(fill, INK, 0.35) if fill else RULE
        text = _fitted(self.text(content))
        first = 8 + height / 2 - (len(text) - 1) * SIZE * 0.6
        ink = ink_on(fill) if fill else QUIET
        words = [Label(middle, first + row * SIZE * 1.2, each, SIZE, ink, fill is not None) for row, each in enumerate(text)]
        return [Box(left, 8, BOX, height, fill or PAPER, line, 1.5, radius=8), *words]

    def terminal(self, state: State, highlight: Collection[int]) -> Text:
        texts = [self.text(content) for content in state]
        width = min(max(5, *(cell_len(text) for text in texts)), 20)
        if self.world.columns:
            width = max(3, min(width, COLUMNS // self.world.columns - 5))
        in_a_row = self.world.columns or max(1, COLUMNS // (width + 5))
        rows: list[list[Cell]] = []
        for first in range(0, len(state), in_a_row):
            slots = range(first, min(first + in_a_row, len(state)))
            rows.append([(f"┌{'─' * (width + 2)}┐ ", "") for _ in slots])
            shown = [_cell(texts[slot], width, self.fill(state[slot])) for slot in slots]
            rows.append([cell for each in shown for cell in (("│", ""), each, ("│ ", ""))])
            rows.append([(f"└{'─' * (width + 2)}┘ ", "") for _ in slots])
            rows.append([cell for slot in slots for cell in (*centred(number_cell(slot, highlight), width + 4), (" ", ""))])
        return lines(rows)

    def describe(self, state: State) -> str:
        said = [f"{self.place(slot)}: {self.describe_place(state, slot)}" for slot, content in enumerate(state) if self.text(content)]
        return sentences(said, len(state), "All slots are empty.", "The other slots are empty.")

    def describe_place(self, state: State, place: int) -> str:
        return self.text(state[place]) or "empty"

    def place(self, slot: int) -> str:
        """The slot's name: its number, in a grid also its row and column."""
        row, column = divmod(slot, self.in_a_row)
        return f"Slot {slot + 1}" + (f" (row {row + 1}, column {column + 1})" if self.world.columns else "")

    def sprites(self) -> Sprites:
        def parts(state: State, _changed: Collection[int]) -> list[Part]:
            boxes = []
            for slot, content in enumerate(state):
                x, y = self.corner(slot)
                blank = self.box(self.world.contents[0])
                boxes.append(Part(f"slot {slot}", tuple(blank[:1]), x, y))
                if content != self.world.contents[0] or len(blank) > 1:
                    boxes.append(Part(f"{slot} {self.world.contents.index(content)}", tuple(self.box(content)), x, y, (0, -18)))
            return boxes

        places = []
        for slot in range(self.world.slots):
            x, y = self.corner(slot)
            places.append(Place(self.frame().moved(x, y), self.number(slot, ()), self.number(slot, (slot,))))
        size = self.picture((self.world.contents[0],) * self.world.slots, ())
        return Sprites(size.width, size.height, parts, tuple(places))


def _fitted(content: str) -> list[str]:
    """The lines of a content, the last one ended by an ellipsis where there is more."""
    room = BOX - 10
    text = wrap(content, SIZE, room, bold=True)
    if len(text) <= LINES:
        return text
    last = text[LINES - 1]
    while text_width(last + "…", SIZE, bold=True) > room:
        last = last[:-1]
    return [*text[: LINES - 1], last + "…"]


def _cell(text: str, width: int, fill: str | None) -> Cell:
    """The text between two spaces, cut off if it is too long."""
    shown = text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
    return f" {set_cell_size(shown, width)} ", f"bold {ink_on(fill)} on {fill}" if fill else "dim"

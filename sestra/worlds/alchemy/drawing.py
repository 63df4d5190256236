"""Alchemy drawn: glass beakers with one layer of liquid per unit, bottom first."""

from __future__ import annotations

from collections.abc import Collection

from rich.text import Text

from sestra.drawing.editing import REMOVE, Brush, Editor, colour_brushes
from sestra.drawing.generic import Drawing, State
from sestra.drawing.palette import NAMED, PAPER, RULE, ink_on, mix
from sestra.drawing.parts import Cell, centred, changed_frame, lines, number_below, number_cell, paint, sentences
from sestra.drawing.shapes import Box, Label, Picture, Shape
from sestra.drawing.sprites import Part, Sprites, places
from sestra.worlds.alchemy.world import BEAKERS, CAPACITY, COLOURS

PITCH, TOP, UNIT, GLASS, WALL = 77.0, 14.0, 25.0, 53.0, 3.0
DEPTH = CAPACITY * UNIT + WALL + 14
HEIGHT = TOP + DEPTH + 34
ROUND_BOTTOM = (False, False, True, True)
EDGE = "#66738a"
COLUMNS = 8


def picture(state: State, highlight: Collection[int]) -> Picture:
    shapes: list[Shape] = []
    for slot, units in enumerate(state):
        middle = PITCH * (slot + 0.5)
        if slot in highlight:
            shapes.append(frame(middle))
        shapes += beaker(middle, units)
        shapes.append(number(middle, slot, highlight))
    return Picture(PITCH * len(state), HEIGHT, tuple(shapes))


def frame(middle: float) -> Box:
    return changed_frame(middle, 0, PITCH, HEIGHT)


def number(middle: float, place: int, highlight: Collection[int]) -> Label:
    return number_below(middle, HEIGHT - 17, place, highlight)


def beaker(middle: float, units: str) -> list[Shape]:
    marks = [Box(middle + GLASS / 2 - WALL - 8, _surface(level), 8, 1.5, RULE) for level in range(1, CAPACITY + 1)]
    return [
        Box(middle - GLASS / 2, TOP, GLASS, DEPTH, "#f0f5fa", EDGE, 2, radius=15, corners=ROUND_BOTTOM),
        *marks,
        *(shape for level, letter in enumerate(units) for shape in unit(middle, level, letter)),
        Box(middle - GLASS / 2 - 5, TOP - 4, GLASS + 10, 6, "#dbe4ee", EDGE, 1.5, radius=3),
    ]


def unit(middle: float, level: int, letter: str) -> list[Shape]:
    fill, width, top = NAMED[COLOURS[letter]], GLASS - 2 * WALL, _surface(level + 1)
    return [
        Box(middle - width / 2, top, width, UNIT, fill, radius=12 if level == 0 else 0, corners=ROUND_BOTTOM),
        Box(middle - width / 2, top, width, 2, mix(fill, PAPER, 0.4)),
        Box(middle - width / 2 + 4, top + 7, 3, UNIT - 14, mix(fill, PAPER, 0.5), radius=1.5),
        Label(middle, top + UNIT / 2 + 1, letter.upper(), 15, ink_on(fill), bold=True),
    ]


def _surface(level: int) -> float:
    """How high that many units stand."""
    return TOP + DEPTH - WALL - level * UNIT


def terminal(state: State, highlight: Collection[int]) -> Text:
    def layer(units: str, level: int) -> Cell:
        return paint(units[level].upper(), NAMED[COLOURS[units[level]]]) if level < len(units) else ("   ", "")

    levels = reversed(range(CAPACITY))
    rows = [[cell for units in state for cell in ((" │", ""), layer(units, level), ("│", ""), ("  ", ""))] for level in levels]
    rows.append([cell for _ in state for cell in centred(("╰───╯", ""), COLUMNS)])
    rows.append([cell for slot in range(len(state)) for cell in centred(number_cell(slot, highlight), COLUMNS)])
    return lines(rows)


def describe(state: State) -> str:
    full = [
        f"Beaker {number}, from the bottom: {', '.join(COLOURS[letter] for letter in units)}"
        for number, units in enumerate(state, start=1)
        if units
    ]
    return sentences(full, len(state), "All beakers are empty.", "The other beakers are empty.")


def describe_place(state: State, place: int) -> str:
    return f"from the bottom {', '.join(COLOURS[letter] for letter in state[place])}" if state[place] else "empty"


def sprites() -> Sprites:
    *glass, lip = beaker(0, "")
    layers = {letter: [shape.moved(0, UNIT) for shape in unit(0, 1, letter)] for letter in COLOURS}
    bottoms = {f"{letter} bottom": unit(0, 0, letter) for letter in COLOURS}
    middles = [PITCH * (place + 0.5) for place in range(BEAKERS)]
    return Sprites(PITCH * BEAKERS, HEIGHT, parts, places(middles, frame, number), {"glass": glass, "lip": [lip], **bottoms, **layers})


def parts(state: State, _changed: Collection[int]) -> list[Part]:
    """Units fall in from above the beaker."""
    found: list[Part] = []
    for slot, units in enumerate(state):
        x = PITCH * (slot + 0.5)
        found.append(Part(f"glass {slot}", "glass", x))
        for level, letter in enumerate(units):
            sprite = letter if level else f"{letter} bottom"
            found.append(Part(f"{slot} {level} {letter}", sprite, x, -level * UNIT, (0, -26 - (CAPACITY - level) * 6)))
        found.append(Part(f"lip {slot}", "lip", x))
    return found


def paint_unit(state: State, place: int, brush: str) -> State | None:
    units = state[place]
    if not units if brush == "remove" else len(units) == CAPACITY:
        return None
    return (*state[:place], units[:-1] if brush == "remove" else units + brush, *state[place + 1 :])


EDITOR = Editor(
    (*colour_brushes(COLOURS), Brush("remove", "take out", REMOVE)),
    paint_unit,
    "Pick a colour and click a beaker. With the keyboard: arrows move between beakers, a colour’s letter adds a unit, "
    "Backspace takes one out.",
)
DRAWING = Drawing(
    picture,
    terminal,
    describe,
    letters={letter: NAMED[name] for letter, name in COLOURS.items()},
    sprites=sprites,
    place="Beaker",
    describe_place=describe_place,
    editor=EDITOR,
)

"""Scene drawn: people in coloured shirts and hats on a stage with numbered places."""

from __future__ import annotations

from collections.abc import Collection

from rich.text import Text

from sestra.drawing.editing import REMOVE, Brush, Editor, colour_brushes
from sestra.drawing.generic import Drawing, State
from sestra.drawing.palette import CHANGED, INK, NAMED, PAPER, ink_on, mix
from sestra.drawing.parts import Cell, centred, lines, number_cell, paint, sentences
from sestra.drawing.shapes import Box, Disc, Label, Picture, Polygon, Shape
from sestra.drawing.sprites import Part, Sprites, places
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS

PITCH, WING = 60.0, 38.0
"""The width of a place, and of the curtain on either side."""
FLOOR, EDGE, HEIGHT = 136.0, 162.0, 186.0
"""Where the boards begin, where they end, and where the front of the stage ends."""
FEET = 151.0
WALL, BOARDS, FRONT, CURTAIN = "#e6ebf3", "#d9b98c", "#4a3a2c", "#5a6480"
SKIN, HAIR, TROUSERS, SHOES = "#f3d2b3", "#4b382b", "#3d4557", "#22252e"
COLUMNS = 7


def picture(state: State, highlight: Collection[int]) -> Picture:
    width = 2 * WING + PITCH * len(state)
    shapes = stage(width, len(state))
    for place, content in enumerate(state):
        middle = WING + PITCH * (place + 0.5)
        if place in highlight:
            shapes.append(frame(middle))
        shapes += figure(middle, *content)
        shapes.append(number(middle, place, highlight))
    return Picture(width, HEIGHT, tuple(shapes))


def frame(middle: float) -> Box:
    return Box(middle - PITCH / 2 + 2, 20, PITCH - 4, EDGE - 22, None, CHANGED, 2, radius=8)


def number(middle: float, place: int, highlight: Collection[int]) -> Label:
    return Label(middle, (EDGE + HEIGHT) / 2, str(place + 1), 14, PAPER, bold=place in highlight)


def stage(width: float, places: int) -> list[Shape]:
    joints = [WING + PITCH * place for place in range(places + 1)]
    fold = mix(CURTAIN, PAPER, 0.25)
    hem = [Disc(x + PITCH / 2, 10, PITCH / 2, 8, CURTAIN) for x in joints[:-1]]
    curtains = [
        Box(left + step * WING / 4, 0, WING / 4 - 1.5, EDGE, CURTAIN if step % 2 else fold, radius=3)
        for left in (0.0, width - WING)
        for step in range(4)
    ]
    return [
        Box(0, 0, width, FLOOR, WALL),
        Box(0, FLOOR, width, EDGE - FLOOR, BOARDS),
        *(Polygon(((x - 0.6, FLOOR), (x + 0.6, FLOOR), (x + 0.6, EDGE), (x - 0.6, EDGE)), mix(BOARDS, INK, 0.25)) for x in joints),
        *hem,
        Box(WING - 4, 0, width - 2 * WING + 8, 10, CURTAIN),
        *(Box(x, 0, WING, EDGE, CURTAIN) for x in (0.0, width - WING)),
        *curtains,
        Box(0, EDGE, width, HEIGHT - EDGE, FRONT),
        Box(0, EDGE, width, 3, mix(FRONT, PAPER, 0.3)),
    ]


def figure(middle: float, shirt: str, worn: str) -> list[Shape]:
    shapes: list[Shape] = []
    if shirt != NONE or worn != NONE:
        shapes.append(Disc(middle, FEET + 1, 17, 3.5, mix(BOARDS, INK, 0.35)))
    if shirt != NONE:
        shapes += person(middle, NAMED[COLOURS[shirt]], shirt.upper())
    if worn != NONE:
        shapes += hat(middle, NAMED[COLOURS[worn]], worn.upper())
    return shapes


def person(middle: float, fill: str, letter: str) -> list[Shape]:
    line, sleeve = mix(fill, INK, 0.55), mix(fill, INK, 0.15)
    return [
        *(Box(middle + x, 120, 9, 28, TROUSERS) for x in (-10.5, 1.5)),
        *(Box(middle + x, FEET - 5, 13, 6, SHOES, radius=3) for x in (-14.0, 1.0)),
        *(Disc(middle + x, 118, 4.5, 4.5, SKIN, line, 1) for x in (-18.5, 18.5)),
        *(Box(middle + x, 89, 9, 28, sleeve, line, 1.2, radius=4.5) for x in (-23.0, 14.0)),
        Box(middle - 5, 80, 10, 10, mix(SKIN, INK, 0.15)),
        Box(middle - 15.5, 87, 31, 38, fill, line, 1.5, radius=8),
        Label(middle, 106, letter, 18, ink_on(fill), bold=True),
        Disc(middle, 68, 14, 14, HAIR),
        Disc(middle, 71, 12.5, 12, SKIN, mix(SKIN, INK, 0.4), 1),
        *(Disc(middle + x, 70, 1.7, 1.9, INK) for x in (-4.5, 4.5)),
        Disc(middle, 75, 5, 3.6, "#9c4a3c"),
        Disc(middle, 73.6, 5.6, 3.3, SKIN),
    ]


def hat(middle: float, fill: str, letter: str) -> list[Shape]:
    line = mix(fill, INK, 0.55)
    return [
        Box(middle - 13, 34, 26, 25, fill, line, 1.5, radius=6, corners=(True, True, False, False)),
        Box(middle - 20, 57, 40, 6, mix(fill, INK, 0.15), line, 1.5, radius=3),
        Label(middle, 46.5, letter, 15, ink_on(fill), bold=True),
    ]


def terminal(state: State, highlight: Collection[int]) -> Text:
    def garment(letter: str) -> Cell:
        return paint(letter.upper(), NAMED[COLOURS[letter]]) if letter != NONE else ("   ", "")

    def body(part: str) -> list[Cell]:
        return [cell for shirt, _ in state for cell in centred((part if shirt != NONE else "", ""), COLUMNS)]

    def brim(hat: str) -> Cell:
        return ("▀▀▀▀▀", NAMED[COLOURS[hat]]) if hat != NONE else ("", "")

    def arms(shirt: str) -> list[Cell]:
        left, right = ("╱", "╲") if shirt != NONE else (" ", " ")
        return [(f" {left}", ""), garment(shirt), (right, ""), (" ", "")]

    return lines(
        [
            [cell for _, hat in state for cell in centred(garment(hat), COLUMNS)],
            [cell for _, hat in state for cell in centred(brim(hat), COLUMNS)],
            body('(")'),
            [cell for shirt, _ in state for cell in arms(shirt)],
            body("╱ ╲"),
            [("━" * COLUMNS * len(state), "dim")],
            [cell for place in range(len(state)) for cell in centred(number_cell(place, highlight), COLUMNS)],
        ]
    )


def describe(state: State) -> str:
    taken = [f"Place {number}: {_words(*content)}" for number, content in enumerate(state, start=1) if content != NONE + NONE]
    return sentences(taken, len(state), "The stage is empty.", "The other places are empty.")


def _words(shirt: str, hat: str) -> str:
    if shirt == NONE:
        return f"{_a(hat)} hat without a person"
    return f"a person in {_a(shirt)} shirt" + (f" and {_a(hat)} hat" if hat != NONE else ", no hat")


def _a(letter: str) -> str:
    return f"an {COLOURS[letter]}" if COLOURS[letter][0] in "aeiou" else f"a {COLOURS[letter]}"


def describe_place(state: State, place: int) -> str:
    return _words(*state[place]) if state[place] != NONE + NONE else "empty"


def sprites() -> Sprites:
    width = 2 * WING + PITCH * POSITIONS
    clothes = {
        f"{garment} {letter}": draw(0, NAMED[name], letter.upper())
        for letter, name in COLOURS.items()
        for garment, draw in (("shirt", person), ("hat", hat))
    }
    shadow = figure(0, next(iter(COLOURS)), NONE)[:1]
    middles = [WING + PITCH * (place + 0.5) for place in range(POSITIONS)]
    return Sprites(width, HEIGHT, parts, places(middles, frame, number), {"shadow": shadow, **clothes}, background=stage(width, POSITIONS))


def parts(state: State, _changed: Collection[int]) -> list[Part]:
    """People come up through the floor, hats from above."""
    found: list[Part] = []
    for place, (shirt, hat) in enumerate(state):
        x = WING + PITCH * (place + 0.5)
        if shirt + hat != NONE + NONE:
            found.append(Part(f"shadow {place}", "shadow", x, enters=(0, 0)))
        if shirt != NONE:
            found.append(Part(f"shirt {place} {shirt}", f"shirt {shirt}", x, enters=(0, 16)))
        if hat != NONE:
            found.append(Part(f"hat {place} {hat}", f"hat {hat}", x, enters=(0, -26)))
    return found


def paint_garment(state: State, place: int, brush: str) -> State | None:
    """A shirt or a hat in the place of what is there; what is taken away is first the hat."""
    shirt, hat = state[place]
    garment, _, letter = brush.partition(" ")
    if garment == "remove":
        content = NONE + NONE if hat == NONE else shirt + NONE
    else:
        content = letter + hat if garment == "shirt" else shirt + letter
    return None if content == state[place] else (*state[:place], content, *state[place + 1 :])


EDITOR = Editor(
    (
        *colour_brushes(COLOURS, "shirt"),
        *colour_brushes(COLOURS, "hat", shift=True),
        Brush("remove", "take away", REMOVE, row="Hat"),
    ),
    paint_garment,
    "Pick a shirt or a hat and click a place. With the keyboard: arrows move between places, a colour’s letter puts a shirt there, "
    "with Shift a hat, Backspace takes away.",
)
DRAWING = Drawing(
    picture,
    terminal,
    describe,
    letters={letter: NAMED[name] for letter, name in COLOURS.items()},
    sprites=sprites,
    place="Place",
    describe_place=describe_place,
    editor=EDITOR,
)

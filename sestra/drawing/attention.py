"""The paper's attention figures: words and objects by actions, one block per head, for one instruction that an agent followed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sestra.drawing import changed, drawing_of
from sestra.drawing.attention_rows import STATED, Panel, Row, panel, split
from sestra.drawing.palette import CARD, INK, QUIET, RULE, SHADE, ink_on, mix
from sestra.drawing.raster import save_png
from sestra.drawing.shapes import Box, Disc, Label, Picture, Polygon, Shape, printable, text_width, wrap
from sestra.drawing.svg import to_svg
from sestra.errors import InputError
from sestra.io import write_text
from sestra.worlds.base import World

if TYPE_CHECKING:
    from sestra.agent.trace import Trace, Turn

MARGIN, GAP = 22.0, 34.0
"""Around the figure, and between its two columns."""
ROW, TALL, HEADING, COLUMN = 23.0, 38.0, 19.0, 58.0
"""Heights of a row, of one whose content changes and of a heading between rows; the least width of an action's column."""
CHIP, LINE, WORD = 13.0, 14.0, 170.0
"""The side of a coloured letter, the height of a line in an action's name, and the widest word."""
WIDEST = 700.0
"""What the blocks of a panel may take side by side."""
LOOKED_AT = "#123f8c"


def draw_attention(world: World[Any], trace: Trace, number: int, path: str | os.PathLike[str]) -> None:
    """Write the figure of a turn, counted from 1, as SVG or PNG by the name's ending."""
    ending = Path(path).suffix.lower()
    picture = attention_picture(world, trace, number)
    if ending == ".svg":
        write_text(Path(path), to_svg(picture))
    elif ending == ".png":
        save_png(picture, path, scale=2)
    else:
        raise InputError(f"{os.fspath(path)}: unknown kind of picture; end the name in .svg or .png")


def attention_picture(world: World[Any], trace: Trace, number: int) -> Picture:
    """The figure of a turn: the states before and after it, and below them the attentions over words and those over objects."""
    if not 1 <= number <= len(trace.turns):
        raise InputError(f"there is no turn {number} to draw; expected a number from 1 to {len(trace.turns)}")
    turn = trace.turns[number - 1]
    attentions = turn.steps[0].attention if turn.steps else ()
    if not attentions:
        raise InputError(f"the agent gave no attention weights in turn {number}; draw one whose policy attends to words or objects")
    words = [panel(world, trace, number, each) for each in attentions if each.over == "words"]
    objects = [panel(world, trace, number, each) for each in attentions if each.over != "words"]
    header = [_lines(step.action) for step in turn.steps]
    column = max([COLUMN, *(text_width(line, 12) + 10 for lines in header for line in lines)])
    columns = [_stack(_narrow(panels, column * len(header)), header, column) for panels in (words, objects) if panels]
    pictures = _before_and_after(world, turn)
    width = max(620.0, pictures.width, sum(each.width for each in columns) + GAP * (len(columns) - 1))
    parts = [_title(trace, number, width), pictures, _side_by_side(columns), _legend(width)]
    shapes: list[Shape] = []
    y = MARGIN
    for part in parts:
        shapes += [shape.moved(MARGIN, y) for shape in part.shapes]
        y += part.height
    background = Box(0.5, 0.5, width + 2 * MARGIN - 1, y + MARGIN - 1, CARD, RULE, 1, radius=10)
    return Picture(width + 2 * MARGIN, y + MARGIN, (background, *shapes), _in_words(turn, [*words, *objects]))


def _lines(action: str) -> list[str]:
    """An action's name in short lines: its kind word by word, then its arguments."""
    kind, *arguments = printable(action).split() or [""]
    return [*kind.split("_"), *([" ".join(arguments)] if arguments else [])]


def _narrow(panels: Sequence[Panel], block: float) -> list[Panel]:
    """The panels, with heads below each other where all of them side by side would be too wide."""
    return [part for whole in panels for part in split(whole, max(1, int(WIDEST / block)))]


def _stack(panels: Sequence[Panel], header: Sequence[Sequence[str]], column: float) -> Picture:
    """The panels below each other, their cells aligned."""
    words = [min(WORD, text_width(row.label, 13)) for panel in panels for row in panel.rows]
    contents = [_content_width(row.content, panel.letters) for panel in panels for row in panel.rows]
    indent = max([16.0, *words]) + 8
    drawn = [_draw(panel, header, indent, indent + max([0.0, *contents]) + 10, column) for panel in panels]
    shapes: list[Shape] = []
    y = 0.0
    for picture in drawn:
        shapes += [shape.moved(0, y) for shape in picture.shapes]
        y += picture.height
    return Picture(max(picture.width for picture in drawn), y, tuple(shapes))


def _draw(panel: Panel, header: Sequence[Sequence[str]], indent: float, labels: float, column: float) -> Picture:
    """``indent`` is where the objects' contents stand, ``labels`` where the cells begin."""
    shapes: list[Shape] = [Label(0, 10, panel.title, 15, INK, bold=True, anchor="start")] if panel.title else []
    top = 30.0 if panel.title else 0.0
    if not panel.rows:
        shapes.append(Label(0, top + 4, "There are none yet.", 13, QUIET, anchor="start"))
        return Picture(text_width(panel.title, 15, True), top + 34, tuple(shapes))
    block = column * len(header)
    lefts = [labels + head * (block + 14) for head in range(len(panel.heads))]
    if any(panel.heads):
        shapes += [Label(left, top + 2, name, 12, QUIET, anchor="start") for left, name in zip(lefts, panel.heads, strict=True)]
        top += 16
    lines = max(map(len, header))
    for left in lefts:
        shapes += [
            Label(left + column * (step + 0.5), top + LINE * (lines - len(action) + line + 0.5), text, 12, INK)
            for step, action in enumerate(header)
            for line, text in enumerate(action)
        ]
    y = top + LINE * lines + 5
    for row in panel.rows:
        if row.heading:
            shapes.append(Label(0, y + HEADING / 2, row.heading, 11, QUIET, anchor="start"))
            shapes.append(Box(44, y + HEADING / 2 - 0.5, lefts[-1] + block - 44, 1, SHADE))
            y += HEADING
        shapes += _label(row, y, indent, panel.letters)
        for left, weights in zip(lefts, row.weights, strict=True):
            for step, weight in enumerate(weights):
                shapes += _cell(left + column * step, y, column, row, weight)
                if row.contents:
                    middle, text = left + column * (step + 0.5), row.contents[step]
                    shapes += _content(middle - _content_width(text, panel.letters) / 2, y + TALL - 11, text, panel.letters)
        y += _height(row)
    return Picture(lefts[-1] + block, y + 24, tuple(shapes))


def _height(row: Row) -> float:
    return TALL if row.contents else ROW


def _label(row: Row, y: float, indent: float, letters: Mapping[str, str]) -> list[Shape]:
    middle = y + _height(row) / 2
    text = printable(row.label)
    while text_width(text, 13) > WORD:
        text = text.removesuffix("…")[:-1] + "…"
    return [Label(0, middle, text, 13, INK, anchor="start"), *_content(indent, middle, row.content, letters)]


def _cell(x: float, y: float, width: float, row: Row, weight: float | None) -> list[Shape]:
    if weight is None:
        return [Label(x + width / 2, y + _height(row) / 2, "·", 12, QUIET)]
    fill = mix(SHADE, LOOKED_AT, min(1.0, max(0.0, weight)) ** 0.8)
    shapes: list[Shape] = [Box(x + 1, y + 1, width - 2, _height(row) - 2, fill, radius=3)]
    if weight >= STATED:
        shapes.append(Label(x + width / 2, y + (12 if row.contents else _height(row) / 2), f"{weight:.0%}", 12, ink_on(fill)))
    return shapes


def _content_width(text: str, letters: Mapping[str, str]) -> float:
    return CHIP * len(text) if letters else text_width(text, 11)


def _content(x: float, y: float, text: str, letters: Mapping[str, str]) -> list[Shape]:
    """A content from its left end, at the height of its middle: one coloured box per letter, or plain text in a world without them."""
    if not letters:
        return [Label(x, y, text, 11, QUIET, anchor="start")] if text else []
    shapes: list[Shape] = []
    for place, letter in enumerate(text):
        left, fill = x + CHIP * place, letters.get(letter, CARD)
        shapes.append(Box(left + 0.5, y - CHIP / 2 + 0.5, CHIP - 1, CHIP - 1, fill, CARD if letter in letters else RULE, 1, radius=3))
        if letter in letters:
            shapes.append(Label(left + CHIP / 2, y, letter.upper(), 9, ink_on(fill), bold=True))
    return shapes


def _title(trace: Trace, number: int, width: float) -> Picture:
    turn = trace.turns[number - 1]
    shapes: list[Shape] = []
    y = 0.0
    actions = " · ".join(f"{step.action} ({step.probability:.0%})" for step in turn.steps)
    said = f"Turn {number} of {len(trace.turns)}. The actions, with their probabilities: {actions}"
    for text, size, fill, bold in ((f"“{turn.instruction.strip()}”", 19, INK, True), (said, 13, QUIET, False)):
        for line in wrap(text, size, width, bold):
            shapes.append(Label(0, y + size * 0.7, line, size, fill, bold, "start"))
            y += size * 1.4
        y += 4
    return Picture(width, y + 12, tuple(shapes))


def _before_and_after(world: World[Any], turn: Turn) -> Picture:
    """The two states next to each other, at two thirds of their size."""
    draw, before, after = drawing_of(world).picture, world.parse(turn.start), world.parse(turn.end)
    shapes: list[Shape] = []
    x = 0.0
    for caption, picture in (("Before", draw(before, ())), ("After", draw(after, changed(world, before, after)))):
        small = _scaled(picture, 0.62)
        shapes.append(Label(x, 8, caption, 13, QUIET, anchor="start"))
        shapes += [shape.moved(x, 24) for shape in small.shapes]
        x += small.width + GAP
    return Picture(x - GAP, 24 + small.height + 30, tuple(shapes))


def _side_by_side(columns: Sequence[Picture]) -> Picture:
    shapes: list[Shape] = []
    x = 0.0
    for column in columns:
        shapes += [shape.moved(x, 0) for shape in column.shapes]
        x += column.width + GAP
    return Picture(max(0.0, x - GAP), max((column.height for column in columns), default=0.0), tuple(shapes))


def _legend(width: float) -> Picture:
    text = f"The darker, the more the agent looked there; weights below {STATED:.0%} are not written."
    lines = wrap(text, 12, width)
    shapes = [Label(0, 17 * line + 8, words, 12, QUIET, anchor="start") for line, words in enumerate(lines)]
    return Picture(width, 17.0 * len(lines), tuple(shapes))


def _scaled(picture: Picture, factor: float) -> Picture:
    def scaled(shape: Shape) -> Shape:
        if isinstance(shape, Label):
            return replace(shape, x=shape.x * factor, y=shape.y * factor, size=shape.size * factor)
        if isinstance(shape, Polygon):
            points = tuple((x * factor, y * factor) for x, y in shape.points)
            return replace(shape, points=points, thickness=shape.thickness * factor)
        x, y, thickness = shape.x * factor, shape.y * factor, shape.thickness * factor
        if isinstance(shape, Disc):
            return replace(shape, x=x, y=y, rx=shape.rx * factor, ry=shape.ry * factor, thickness=thickness)
        width, height, radius = shape.width * factor, shape.height * factor, shape.radius * factor
        return replace(shape, x=x, y=y, width=width, height=height, radius=radius, thickness=thickness)

    return Picture(picture.width * factor, picture.height * factor, tuple(map(scaled, picture.shapes)), picture.description)


def _in_words(turn: Turn, panels: Sequence[Panel]) -> str:
    """For each action, what each head looked at most."""
    said = [f"What the agent looked at while it followed “{turn.instruction.strip()}”."]
    for number, step in enumerate(turn.steps):
        most = [
            f"{panel.title.lower()}{f', {name}' if name else ''}: {row.label} ({row.weights[head][number] or 0:.0%})"
            for panel in panels
            if panel.rows
            for head, name in enumerate(panel.heads)
            for row in [max(panel.rows, key=lambda row: row.weights[head][number] or 0)]
        ]
        said.append(f"Action {number + 1}, {step.action}: {'; '.join(most)}.")
    return " ".join(said)

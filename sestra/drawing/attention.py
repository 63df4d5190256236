"""The paper's attention figures: words and objects by actions, one block per head, for one instruction that an agent followed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sestra.drawing import changed, drawing_of
from sestra.drawing.attention_rows import STATED, Panel, Row, panel, split
from sestra.drawing.palette import CARD, INK, QUIET, RULE, SHADE, ink_on, mix
from sestra.drawing.raster import save
from sestra.drawing.shapes import Box, Label, Picture, Polygon, Shape, printable, text_width, wrap
from sestra.errors import InputError
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
FULL_WEIGHT = "#123f8c"


def draw_attention(world: World[Any], trace: Trace, number: int, path: str | os.PathLike[str]) -> None:
    """Write the figure of a turn, counted from 1, as SVG or PNG by the name's ending."""
    save(attention_picture(world, trace, number), path)


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
    heads = max(1, int(WIDEST / (column * len(header))))  # side by side
    columns = [_column([part for whole in panels for part in split(whole, heads)], header, column) for panels in (words, objects) if panels]
    pictures = _before_and_after(world, turn)
    panels = _beside(columns)
    width = max(620.0, pictures.width, panels.width)
    page = _below([_title(trace, number, width), pictures, panels, _legend(width)])
    background = Box(0.5, 0.5, width + 2 * MARGIN - 1, page.height + 2 * MARGIN - 1, CARD, RULE, 1, radius=10)
    shapes = (background, *(shape.moved(MARGIN, MARGIN) for shape in page.shapes))
    return Picture(width + 2 * MARGIN, page.height + 2 * MARGIN, shapes, _in_words(turn, [*words, *objects]))


def _below(pictures: Sequence[Picture]) -> Picture:
    """The pictures below each other."""
    tops = accumulate((picture.height for picture in pictures), initial=0.0)
    shapes = [shape.moved(0, top) for picture, top in zip(pictures, tops, strict=False) for shape in picture.shapes]
    return Picture(max(picture.width for picture in pictures), sum(picture.height for picture in pictures), tuple(shapes))


def _beside(pictures: Sequence[Picture]) -> Picture:
    """The pictures side by side, with a gap between them."""
    lefts = [*accumulate((picture.width + GAP for picture in pictures), initial=0.0)]
    shapes = [shape.moved(left, 0) for picture, left in zip(pictures, lefts, strict=False) for shape in picture.shapes]
    return Picture(lefts[-1] - GAP, max(picture.height for picture in pictures), tuple(shapes))


def _lines(action: str) -> list[str]:
    """An action's name in short lines: its kind word by word, then its arguments."""
    kind, *arguments = printable(action).split() or [""]
    return [*kind.split("_"), *([" ".join(arguments)] if arguments else [])]


def _column(panels: Sequence[Panel], header: Sequence[Sequence[str]], column: float) -> Picture:
    """The panels below each other, their cells aligned."""
    words = [min(WORD, text_width(row.label, 13)) for panel in panels for row in panel.rows]
    contents = [_content_width(_lasting(row), panel.letters) for panel in panels for row in panel.rows]
    indent = max([16.0, *words]) + 8
    return _below([_draw(panel, header, indent, indent + max([0.0, *contents]) + 10, column) for panel in panels])


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
                if row.changes:
                    middle, text = left + column * (step + 0.5), row.contents[step]
                    shapes += _content(middle - _content_width(text, panel.letters) / 2, y + TALL - 11, text, panel.letters)
        y += _height(row)
    return Picture(lefts[-1] + block, y + 24, tuple(shapes))


def _height(row: Row) -> float:
    return TALL if row.changes else ROW


def _lasting(row: Row) -> str:
    """What the object holds, where that does not change."""
    return row.contents[0] if row.contents and not row.changes else ""


def _label(row: Row, y: float, indent: float, letters: Mapping[str, str]) -> list[Shape]:
    middle = y + _height(row) / 2
    text = printable(row.label)
    while text_width(text, 13) > WORD:
        text = text.removesuffix("…")[:-1] + "…"
    return [Label(0, middle, text, 13, INK, anchor="start"), *_content(indent, middle, _lasting(row), letters)]


def _cell(x: float, y: float, width: float, row: Row, weight: float | None) -> list[Shape]:
    if weight is None:
        return [Label(x + width / 2, y + _height(row) / 2, "·", 12, QUIET)]
    fill = mix(SHADE, FULL_WEIGHT, min(1.0, max(0.0, weight)) ** 0.8)
    shapes: list[Shape] = [Box(x + 1, y + 1, width - 2, _height(row) - 2, fill, radius=3)]
    if weight >= STATED:
        shapes.append(Label(x + width / 2, y + (12 if row.changes else _height(row) / 2), f"{weight:.0%}", 12, ink_on(fill)))
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
    pictures = []
    for caption, picture in (("Before", draw(before, ())), ("After", draw(after, changed(world, before, after)))):
        shapes = [_scaled(shape, 0.62).moved(0, 24) for shape in picture.shapes]
        label = Label(0, 8, caption, 13, QUIET, anchor="start")
        pictures.append(Picture(picture.width * 0.62, 24 + picture.height * 0.62 + 30, (label, *shapes)))
    return _beside(pictures)


def _legend(width: float) -> Picture:
    text = f"The darker, the larger the attention weight; weights below {STATED:.0%} are not written."
    lines = wrap(text, 12, width)
    shapes = [Label(0, 17 * line + 8, words, 12, QUIET, anchor="start") for line, words in enumerate(lines)]
    return Picture(width, 17.0 * len(lines), tuple(shapes))


def _scaled(shape: Shape, factor: float) -> Shape:
    """All numbers of a shape are lengths."""
    lengths = {name: value * factor for name, value in vars(shape).items() if type(value) in (int, float)}
    if isinstance(shape, Polygon):
        return replace(shape, points=tuple((x * factor, y * factor) for x, y in shape.points), **lengths)
    return replace(shape, **lengths)


def _in_words(turn: Turn, panels: Sequence[Panel]) -> str:
    """For each action, what each head attended to most."""
    said = [f"What the agent attended to while it followed “{turn.instruction.strip()}”."]
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

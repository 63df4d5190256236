"""How a state is edited on the page: brushes, and what each makes of a place that it is put on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sestra.drawing.palette import NAMED, colour_of, ink_on
from sestra.drawing.shapes import printable
from sestra.worlds.base import World

MAX_CONTENTS = 30
"""If a world has more contents than these, its edits are the brushes."""
BLANK = ("", "_", "__", "-", ".")
"""Texts of an empty content that say no more than a blank box does."""
REMOVE = "Backspace"
"""The key of a brush that takes something away."""


@dataclass(frozen=True)
class Brush:
    """Something that can be put on a place."""

    name: str
    """What ``Editor.paint`` is given."""
    label: str
    key: str = ""
    """The key that puts it on the place that has the keyboard's focus."""
    sign: str = ""
    """One or two characters on its swatch; without any it takes something away."""
    fill: str = ""
    ink: str = ""
    row: str = ""
    """The heading of the row that it stands in."""


@dataclass(frozen=True)
class Editor:
    """The brushes of a world."""

    brushes: tuple[Brush, ...]
    paint: Callable[[tuple[Any, ...], int, str], tuple[Any, ...] | None]
    """The state after the brush of that name was put on a place, counted from 0; None if nothing changes."""
    hint: str = ""
    """How to use it, with the mouse and the keyboard."""


def colour_brushes(colours: Mapping[str, str], thing: str = "", *, shift: bool = False) -> tuple[Brush, ...]:
    """A brush per colour, by its letter, for a thing such as a hat; with ``shift`` its key is the capital letter."""
    return tuple(
        Brush(
            f"{thing} {letter}".strip(),
            f"{name} {thing}".strip(),
            letter.upper() if shift else letter,
            letter.upper(),
            NAMED[name],
            ink_on(NAMED[name]),
            thing.capitalize(),
        )
        for letter, name in colours.items()
    )


def generic_editor(world: World[Any], label: Callable[[Any], str]) -> Editor:
    """Brushes that put a content into a slot; in a world with very many contents, brushes that do one of its edits."""
    by_edits = len(world.contents) > MAX_CONTENTS
    labels = [str(edit).replace("_", " ") for edit in world.edits] if by_edits else [label(content) for content in world.contents]
    brushes: list[Brush] = []
    for number, text in enumerate(labels):
        empty = number == 0 and not by_edits
        words = printable(text).strip() or str(number)
        if empty and words in BLANK:
            words = "empty"
        first = words[0].lower()
        key = REMOVE if empty else first if first.isalnum() and first not in {brush.key for brush in brushes} else ""
        fill = "" if empty else colour_of(words, number if by_edits else number - 1)
        brushes.append(Brush(str(number), words, key, "" if empty else words[:1].upper(), fill, ink_on(fill) if fill else ""))

    def paint(state: tuple[Any, ...], place: int, brush: str) -> tuple[Any, ...] | None:
        number = int(brush)
        content = world.edit(state[place], world.edits[number]) if by_edits else world.contents[number]
        return None if content is None or content == state[place] else (*state[:place], content, *state[place + 1 :])

    what = "an edit" if by_edits else "a content"
    return Editor(
        tuple(brushes), paint, f"Pick {what} and click a slot. With the keyboard: arrows move between slots, a first letter puts it there."
    )

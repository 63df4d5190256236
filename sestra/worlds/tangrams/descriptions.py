"""What a figure is called, and what later turns need to know of a turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from sestra.data.grammar import LAST_ONE, Context, Phrase, Template, marked

Deed = Callable[[str, Sequence[int]], str | None]
"""What becomes of a row if something is done to the figures at these indices; None if it can't be done."""


@dataclass(frozen=True)
class Place:
    """A place as the speaker said it, so that "do it again" finds the new last figure after the old last one is gone."""

    side: str
    """Counted from the left, from the right, or the middle."""
    count: int = 0

    def index(self, row: str) -> int | None:
        if self.side == "middle":
            return len(row) // 2 if len(row) % 2 and len(row) > 1 else None
        index = self.count - 1 if self.side == "left" else len(row) - self.count
        return index if 0 <= index < len(row) else None


@dataclass(frozen=True)
class Event:
    """What was done, as far as "it", "them", "again" and "undo" need it."""

    kind: str
    places: tuple[Place, ...] = ()
    """Where, in the speaker's words; empty where the words were others, and nothing can be repeated."""
    shape: str = ""
    """The figure that "it" means from now on."""
    figures: str = ""
    """The figures that were moved or swapped, in the order in which they were named."""
    deed: Deed | None = None
    """How to do the same to other figures, if that can be said."""
    several: bool = False
    """Whether more was done than one thing to one figure, so that "the figure removed in step 2" may not be clear."""


def describe(context: Context, index: int, rng: Random) -> tuple[Phrase, Place]:
    """A description of the figure at that index, and the place that it names."""
    row, speaker = context.state[0], context.speaker
    left, right = Place("left", index + 1), Place("right", len(row) - index)
    ordinal = speaker.ordinal(index + 1)
    thing = "{figure}" if speaker.words["figure"] != "one" else "[one|figure]"
    names: list[tuple[Template, Place]] = []
    names += 4 * [(f"the {ordinal} {thing}", left)]
    names += [(f"the {ordinal} one", left), (f"{'number' if thing != '{figure}' else thing} {speaker.number(index + 1)}", left)]
    names += [(f"the {thing} in the {ordinal} {{spot}}", left)]
    if index == 0:
        names += [(f"the leftmost {thing}", left)]
    if index == len(row) - 1:
        names += 3 * [(marked(f"the last [{thing}|one]", LAST_ONE), right)] + [(f"the rightmost {thing}", right)]
    if 0 < index == len(row) - 2:
        names += [(f"the [second to last {thing}|{thing} second from the right]", right)]
    middle = Place("middle")
    if middle.index(row) == index:
        names += 2 * [(f"the [middle {thing}|{thing} in the middle]", middle)]
    template, place = rng.choice(names)
    return context.say(rng, template), place


def absent(context: Context) -> dict[str, tuple[int, int]]:
    """Each figure that is out of the row, with the step that took it and the index that it was taken from, the latest last."""
    gone: dict[str, tuple[int, int]] = {}
    for step, ((before,), (after,)) in enumerate(zip(context.states, context.states[1:], strict=False), start=1):
        gone = {shape: place for shape, place in gone.items() if shape not in after}
        gone |= {shape: (step, index) for index, shape in enumerate(before) if shape not in after and shape not in gone}
    return gone

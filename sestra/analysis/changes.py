"""What happened between two states, in a world's own terms: who moved, what was drained, which figure was put in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sestra.data.scone import State
from sestra.worlds import World
from sestra.worlds.scene.world import NONE


@dataclass(frozen=True)
class Change:
    """A kind of doing and the thing that it was done to; where to or how much is not said."""

    kind: str
    thing: Any


def changes(world: World[Any], before: State, after: State) -> Counter[Change]:
    """Everything that differs."""
    return READERS.get(world.name, _slots)(before, after)


def touched(world: World[Any], before: State, after: State) -> frozenset[Any]:
    """The things that differ, named so that a later turn can be asked for them: slots from 0, or in Tangrams the figures themselves."""
    if world.name == "tangrams":
        return frozenset(change.thing for change in _figures(before, after))
    return frozenset(slot for slot, (old, new) in enumerate(zip(before, after, strict=True)) if old != new)


def _slots(before: State, after: State) -> Counter[Change]:
    """Of a world that nobody has described: which slots became what."""
    return Counter(Change(f"to {new}", slot) for slot, (old, new) in enumerate(zip(before, after, strict=True)) if old != new)


def _beakers(before: State, after: State) -> Counter[Change]:
    found: Counter[Change] = Counter()
    for slot, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        if old.startswith(new):
            kind = "drain"
        elif new.startswith(old):
            kind = "fill"
        else:
            kind = "mix" if set(new) == {"b"} else "change"
        found[Change(kind, slot)] += 1
    return found


def _people(before: State, after: State) -> Counter[Change]:
    """Moves are told by the shirt: whoever leaves one place and comes to another in the same shirt has moved."""
    found: Counter[Change] = Counter()
    pairs = list(enumerate(zip(before, after, strict=True)))
    gone = [(slot, old) for slot, (old, new) in pairs if old[0] not in (NONE, new[0])]
    come = [(slot, new) for slot, (old, new) in pairs if new[0] not in (NONE, old[0])]
    for slot, old in gone:
        arrival = next((other for other in come if other[1][0] == old[0]), None)
        if arrival:
            come.remove(arrival)
        found[Change("move" if arrival else "leave", slot)] += 1
    for _, new in come:
        found[Change("appear", new)] += 1
    for slot, (old, new) in pairs:
        if old[0] == new[0] and old[1] != new[1]:
            found[Change("hat", slot)] += 1
    return found


def _figures(before: State, after: State) -> Counter[Change]:
    old, new = before[0], after[0]
    found = Counter(Change("remove", figure) for figure in old if figure not in new)
    found += Counter(Change("insert", figure) for figure in new if figure not in old)
    stayed, stay = [f for f in old if f in new], [f for f in new if f in old]
    return found + Counter(Change("move", figure) for figure, other in zip(stayed, stay, strict=True) if figure != other)


READERS: dict[str, Callable[[State, State], Counter[Change]]] = {"alchemy": _beakers, "scene": _people, "tangrams": _figures}

"""What changed between two states, in a world's own terms: who moved, what was drained, which figure was inserted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sestra.analysis.language import Language
from sestra.analysis.paper import PaperCounts
from sestra.data.scone import State
from sestra.drawing.generic import changed
from sestra.worlds.base import World


@dataclass(frozen=True)
class Change:
    """A kind of change and the thing that changed; where to or how much is left out."""

    kind: str
    thing: Any


def changes(before: State, after: State) -> Counter[Change]:
    """Which slots became what."""
    return Counter(Change(f"to {new}", slot) for slot, (old, new) in enumerate(zip(before, after, strict=True)) if old != new)


@dataclass(frozen=True)
class WorldAnalysis:
    """What the analysis knows of a world; the defaults hold in every world."""

    language: Language = field(default_factory=Language)
    changes: Callable[[State, State], Counter[Change]] = changes
    """Everything that differs between two states."""
    changed: Callable[[State, State], frozenset[Any]] = changed
    """The things that differ, identified so that changes of later turns can be compared with them."""
    origins: Callable[[State, State], Mapping[Any, Any]] = lambda before, after: {}  # noqa: ARG005
    """Of each thing that moved, which thing it was before; things that are identified by themselves are left out."""
    neighbours: Callable[[State, int], bool] | None = None
    """Whether something stands in a slot: if nothing did in those that an instruction changes, it may refer to what stands beside them."""
    paper: PaperCounts | None = None
    """What the paper's authors counted in it."""
    restores: Callable[[State, State], bool] | None = None
    """Whether a goal brings back what earlier states had and the start has not; None: whether a slot holds again what it once held."""


def analysis_of(world: World[Any]) -> WorldAnalysis:
    """The world's own, else the generic one."""
    return world.analysis() or WorldAnalysis()

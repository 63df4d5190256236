"""What the paper's authors counted by hand: references in thirty interactions per world, and the causes of fifty errors per world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sestra.analysis.references import Kind, To


class Cause(StrEnum):
    """The paper's classes of errors (Table 5); the first that applies, in this order."""

    LABEL = "ambiguous or incorrect label"
    """An ensemble that did not learn from the label is unanimous that the goal is another state."""
    IMPOSSIBLE = "impossible multi-turn reference"
    """The instruction refers to what only a state before an earlier turn shows."""
    MULTI_TURN = "multi-turn reference"
    """The instruction refers to an earlier turn, and the agent found another referent."""
    STATE = "state reference"
    """The right action, to a wrong thing, which the instruction describes as it is in the current state."""
    OTHER = "other"
    """In the paper, what is missing to fifty."""


Counts = tuple[int, int, int, int]
"""Of references by age: the referent was last mentioned 1, 2, 3 or 4 turns ago."""


@dataclass(frozen=True)
class PaperCounts:
    """The figures of one world."""

    references: Mapping[tuple[Kind, To], Counts]
    """The world's supplementary table; Table 2 has the sums by kind."""
    per_interaction: float
    """References."""
    resolved: float
    """How many percent of the references the authors' model resolved."""
    causes: Mapping[Cause, int]
    """Of fifty errors."""

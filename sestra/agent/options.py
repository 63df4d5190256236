"""The options of decoding, for Python and the command line alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from sestra.errors import check_choice, check_number

How = Literal["greedy", "sample", "beam"]
"""Take the most probable action in every step, sample every action, or search for the most probable sequence of actions."""


@dataclass(frozen=True)
class Decoding:
    """Checked when it is made."""

    how: How = "greedy"
    beam: int = 4
    """The number of sequences that beam search keeps."""
    seed: int | None = None
    """Of the samples; without one they differ from call to call."""
    horizon: int | None = None
    """The most actions per instruction; by default as the agent was trained."""
    caution: float | None = None
    """Instructions that the agent is less confident about are not followed; 0 follows all, by default the agent decides."""

    def __post_init__(self) -> None:
        check_choice("how", self.how, How)
        check_number("beam", self.beam, 1, 100)
        if self.seed is not None:
            check_number("seed", self.seed, 0, 2**63 - 1)
        if self.horizon is not None:
            check_number("horizon", self.horizon, 1, 1_000)
        if self.caution is not None:
            check_number("caution", self.caution, 0, 1, whole=False)


class DecodingOptions(TypedDict, total=False):
    """The keyword arguments of ``Agent``'s methods: the fields of ``Decoding``."""

    how: How
    beam: int
    seed: int | None
    horizon: int | None
    caution: float | None

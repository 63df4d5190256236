"""Accuracies: counts, percentages with their intervals, how records store them, how tables show them, and how models are chosen by them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, Protocol

METRICS = {"inst": "Inst", "utts3": "3utts", "utts5": "5utts"}
"""Single instructions, the first three of an interaction, whole interactions: their names in records and the paper's in tables."""


def tenths(value: float) -> Decimal:
    """Rounded to one decimal as tables show it, halves away from zero.

    >>> print(tenths(90.05), tenths(-0.25), f"{tenths(2):+}")
    90.1 -0.3 +2.0
    """
    return Decimal(str(value)).quantize(Decimal("0.1"), ROUND_HALF_UP)


class Estimate(NamedTuple):
    """A percentage, or a difference of two, with its 95% interval."""

    percent: float
    low: float
    high: float

    def text(self, sign: Literal["", "+"] = "") -> str:
        """For tables; ``sign`` is that of positive numbers."""
        return "{:{sign}} [{:{sign}}, {:{sign}}]".format(*map(tenths, self), sign=sign)

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of two independent percentages (Newcombe 1998, method 10).

        >>> (Estimate(80.0, 69.6, 87.5) - Estimate(60.0, 48.7, 70.4)).text("+")
        '+20.0 [+5.3, +33.6]'
        """
        apart = self.percent - other.percent
        below = math.hypot(self.percent - self.low, other.high - other.percent)
        above = math.hypot(self.high - self.percent, other.percent - other.low)
        return Estimate(apart, apart - below, apart + above)

    @property
    def sign(self) -> int:
        """1 or -1 if the whole interval is on that side of zero, else 0."""
        return (self.low > 0) - (self.high < 0)


class Successes(Protocol):
    """A vector of booleans, such as an array or a tensor."""

    def sum(self) -> Any: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Accuracy:
    """How many of how many trials succeeded."""

    successes: int
    trials: int

    @classmethod
    def of(cls, success: Successes) -> Accuracy:
        return cls(int(success.sum()), len(success))

    @property
    def percent(self) -> float:
        return 100 * self.successes / self.trials if self.trials else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval (95%), in percent."""
        if not self.trials:
            return math.nan, math.nan
        z = NormalDist().inv_cdf(0.975)
        share, shrink = self.successes / self.trials, 1 + z * z / self.trials
        centre = (share + z * z / (2 * self.trials)) / shrink
        spread = z / shrink * ((share * (1 - share) + z * z / (4 * self.trials)) / self.trials) ** 0.5
        return max(0.0, 100 * (centre - spread)), min(100.0, 100 * (centre + spread))

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.percent, *self.interval)

    @property
    def rounded(self) -> Estimate:
        """With two decimals, as records store it; tables are made from the counts, since rounding twice is wrong."""
        return Estimate(*(round(figure, 2) for figure in self.estimate))

    @property
    def columns(self) -> tuple[str, str, str, str]:
        """For tables: the percentage, its interval, successes and trials."""
        percent, low, high = map(tenths, self.estimate)
        return str(percent), f"{low} to {high}", str(self.successes), str(self.trials)


def to_record(accuracies: Mapping[str, Accuracy]) -> dict[str, Any]:
    """Accuracies by metric as records store them."""
    return {
        **{name: accuracy.rounded.percent for name, accuracy in accuracies.items()},
        "intervals": {name: [accuracy.rounded.low, accuracy.rounded.high] for name, accuracy in accuracies.items()},
        "counts": {name: [accuracy.successes, accuracy.trials] for name, accuracy in accuracies.items()},
    }


def from_record(record: Mapping[str, Any], metric: str) -> Accuracy | None:
    """The accuracy whose counts ``to_record`` stored; None if it had no trials."""
    successes, trials = record["counts"][metric]
    return Accuracy(successes, trials) if trials else None


def selection_score(inst: float, utts5: float | None, reward: float) -> tuple[float, float, float]:
    """By what models and runs are chosen, on validation: whole interactions, then single instructions, then the mean reward.

    Accuracies are in percent; without any interaction of five instructions (None or NaN), single instructions count in its place.

    >>> max([selection_score(6.0, 6.4, -5.0), selection_score(1.4, 6.4, -21.4)])
    (6.4, 6.0, -5.0)
    """
    return inst if utts5 is None or math.isnan(utts5) else utts5, inst, reward

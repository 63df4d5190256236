"""Accuracies as tables show them: from the counts, with one decimal, halves rounded up.

Percentages are stored with two decimals: to round these once more makes 9.6 of 9.548, and 90.0 of 90.0503.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any


def tenths(value: float | Decimal) -> Decimal:
    """Rounded to one decimal, from the digits that are printed.

    >>> print(tenths(90.05), tenths(-0.25), f"{tenths(2):+}")
    90.1 -0.3 +2.0
    """
    return Decimal(str(value)).quantize(Decimal("0.1"), ROUND_HALF_UP)


def percent(figures: Mapping[str, Any], metric: str) -> Decimal:
    """An accuracy among those that ``sestra evaluate`` writes, and which is not null: exactly, where its counts are there.

    >>> percent({"inst": 90.05, "counts": {"inst": [896, 995]}}, "inst")
    Decimal('90.05025125628140703517587940')
    """
    successes, trials = _counts(figures, metric)
    return Decimal(100 * successes) / trials if trials else Decimal(str(figures[metric]))


def interval(figures: Mapping[str, Any], metric: str) -> tuple[float, float]:
    """Its 95% interval, likewise."""
    from sestra.learning.evaluation import Accuracy

    successes, trials = _counts(figures, metric)
    low, high = Accuracy(successes, trials).interval if trials else figures["intervals"][metric]
    return low, high


def _counts(figures: Mapping[str, Any], metric: str) -> tuple[int, int]:
    successes, trials = figures.get("counts", {}).get(metric, (0, 0))
    return successes, trials

"""Accuracies as tables show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sestra import pretrained
from sestra.io import read_json
from sestra.learning.evaluation import Accuracy
from sestra.metrics import interval, percent, tenths

AGENTS = sorted((Path(__file__).parent.parent / "results" / "agents").glob("*.json"))


@pytest.mark.parametrize(
    ("value", "shown"), [(90.05, "90.1"), (90.04, "90.0"), (0.25, "0.3"), (-0.25, "-0.3"), (100, "100.0"), (1e-9, "0.0"), (99.95, "100.0")]
)
def test_halves_are_rounded_up(value, shown):
    assert str(tenths(value)) == shown


def test_counts_come_before_what_is_stored():
    stored = {"utts3": 9.55, "intervals": {"utts3": [6.2, 14.43]}}
    counted = stored | {"counts": {"utts3": [19, 199]}}
    assert [str(tenths(percent(figures, "utts3"))) for figures in (stored, counted)] == ["9.6", "9.5"]
    assert interval(stored, "utts3") == (6.2, 14.43)
    assert interval(counted, "utts3") == Accuracy(19, 199).interval


@pytest.mark.parametrize("path", AGENTS, ids=lambda path: path.stem)
def test_cards_show_the_committed_results(path):
    card, figures = (pretrained.HERE / path.stem / "CARD.md").read_text(encoding="utf-8"), read_json(path)
    for key in ("inst", "utts3", "utts5"):
        low, high = map(tenths, interval(figures, key))
        assert f"| {tenths(percent(figures, key))} | {low} to {high} |" in card, "export the agent anew with 'sestra export'"

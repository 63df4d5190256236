"""Accuracies: their intervals, how records store them and tables show them, and how models are chosen by them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sestra import pretrained
from sestra.io import read_json, to_json
from sestra.metrics import METRICS, Accuracy, Estimate, from_record, selection_score, tenths, to_record

AGENTS = sorted((Path(__file__).parent.parent / "results" / "agents").glob("*.json"))


@pytest.mark.parametrize(
    ("value", "shown"), [(90.05, "90.1"), (90.04, "90.0"), (0.25, "0.3"), (-0.25, "-0.3"), (100, "100.0"), (1e-9, "0.0"), (99.95, "100.0")]
)
def test_halves_are_rounded_up(value, shown):
    assert str(tenths(value)) == shown


@given(trials=st.integers(1, 5000), share=st.floats(0, 1))
def test_interval_is_wilsons(trials, share):
    successes = round(share * trials)
    low, high = Accuracy(successes, trials).interval
    expected = binomtest(successes, trials).proportion_ci(confidence_level=0.95, method="wilson")
    assert low == pytest.approx(100 * expected.low, abs=1e-8)
    assert high == pytest.approx(100 * expected.high, abs=1e-8)


def test_accuracy_of_nothing():
    assert all(map(math.isnan, Accuracy(0, 0).estimate))
    assert Accuracy.of(np.array([True, False, True, True])) == Accuracy(3, 4)
    assert Accuracy(3, 4).percent == 75


def test_tables_are_made_from_counts_not_from_rounded_percentages():
    record = to_record({"utts3": Accuracy(19, 199), "utts5": Accuracy(0, 0)})
    assert to_json(record) == (
        '{"utts3": 9.55, "utts5": null, "intervals": {"utts3": [6.2, 14.43], "utts5": [null, null]}, '
        '"counts": {"utts3": [19, 199], "utts5": [0, 0]}}'
    )
    assert from_record(record, "utts3") == Accuracy(19, 199)
    assert Accuracy(19, 199).columns == ("9.5", "6.2 to 14.4", "19", "199")
    assert from_record(record, "utts5") is None


def test_difference_of_percentages():
    """Newcombe's own example (1998, method 10): 56/70 and 48/80."""
    difference = Accuracy(56, 70).estimate - Accuracy(48, 80).estimate
    assert difference == pytest.approx(Estimate(20.0, 5.24, 33.39), abs=0.01)
    assert (difference.sign, (Accuracy(1, 2).estimate - Accuracy(1, 2).estimate).sign) == (1, 0)


def test_ties_in_whole_interactions_are_broken_by_single_instructions_and_then_by_reward():
    scores = [selection_score(1.4, 6.4, -21.4), selection_score(6.0, 6.4, -17.0), selection_score(6.0, 6.4, -5.0)]
    assert scores == sorted(scores)
    assert selection_score(50.0, None, 1.0) == selection_score(50.0, math.nan, 1.0) == (50.0, 50.0, 1.0)


@pytest.mark.parametrize("path", AGENTS, ids=lambda path: path.stem)
def test_cards_show_the_committed_results(path):
    card, record = (pretrained.HERE / path.stem / "README.md").read_text(encoding="utf-8"), read_json(path)
    for metric in METRICS:
        percent, interval, *_ = from_record(record, metric).columns
        assert f"| {percent} | {interval} |" in card, "export the agent anew with 'sestra export'"

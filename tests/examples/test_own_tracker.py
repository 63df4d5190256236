"""The callback for another tracker: what it sends, to a tracker that keeps it in memory."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from lamps import Lamps, interactions
from lifecycle import EXAMPLES

import sestra
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.registry import _from_file

SMALL = {"policy": AttentionConfig(embedding=4, hidden=6), "epochs": 2, "batch_size": 10, "horizon": 3}


class Tracker:
    """What the example calls of the package wandb."""

    def __init__(self):
        self.begun, self.logged, self.finished = [], [], 0

    def init(self, **about):
        self.begun.append(about)
        return SimpleNamespace(log=lambda figures, step: self.logged.append((step, figures)), finish=self.finish)

    def finish(self):
        self.finished += 1


@pytest.fixture
def callback(monkeypatch):
    tracker = Tracker()
    monkeypatch.setitem(sys.modules, "wandb", tracker)
    return tracker, _from_file(EXAMPLES / "own_tracker.py").WeightsAndBiases("toys")


def test_settings_records_and_the_end(callback, tmp_path):
    tracker, tracking = callback
    run = sestra.train(Lamps, interactions(30, seed=1), out=tmp_path / "mine", callbacks=[tracking], **SMALL)
    [about] = tracker.begun
    assert (about["project"], about["name"], about["config"]["batch_size"]) == ("toys", "mine", 10)
    assert [step for step, _ in tracker.logged] == [1, 2]
    for (_, figures), record in zip(tracker.logged, run.history, strict=True):
        assert figures["inst"] == record["inst"]
        assert "utts3" not in figures, "no interaction has three instructions"
    assert tracker.finished == 1


def test_the_tracker_is_closed_when_training_fails(callback, tmp_path):
    tracker, tracking = callback

    def fail(record):
        raise RuntimeError(record["epoch"])

    with pytest.raises(RuntimeError, match="1"):
        sestra.train(Lamps, interactions(30, seed=1), out=tmp_path / "mine", callbacks=[tracking, fail], **SMALL)
    assert tracker.finished == 1


def test_without_the_package_nothing_is_trained(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ImportError):
        _from_file(EXAMPLES / "own_tracker.py").WeightsAndBiases("toys")

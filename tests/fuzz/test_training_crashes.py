"""Training that is killed or out of disk space at some input/output calls ends, resumed, in the same bits."""

from __future__ import annotations

import training_crashes

from sestra.worlds import WORLDS


def test_interrupted_runs(monkeypatch):
    monkeypatch.setattr(WORLDS, "_registered", dict(WORLDS._registered))
    monkeypatch.setattr(WORLDS, "_references", dict(WORLDS._references))
    counts, wrong = training_crashes.run(2, seed=0, most=12)
    assert wrong == []
    assert sum(counts.values()) == 12
    assert len(counts) >= 3

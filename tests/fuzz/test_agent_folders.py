"""Agents' folders damaged at random: each is used as before or refused in one line."""

from __future__ import annotations

import agent_folders


def test_damaged_folders():
    counts, wrong = agent_folders.run(60, seed=0)
    assert wrong == []
    assert sum(counts.values()) == 60
    assert {outcome for _, outcome in counts} >= {"refused", "same"}

"""Agents' folders damaged at random: each is used as before or refused in one line."""

from __future__ import annotations

import agent_folders


def test_damaged_folders():
    counts, wrong = agent_folders.run(4, seed=0, most=60)
    assert wrong == []
    assert sum(counts.values()) == 60
    assert {each.rpartition(" ")[2] for each in counts} >= {"refused", "same"}

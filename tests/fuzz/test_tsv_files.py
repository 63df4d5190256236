"""Data files damaged at random: each is read, or refused with the place of what is wrong."""

from __future__ import annotations

import tsv_files


def test_damaged_files():
    counts, wrong = tsv_files.run(2, seed=0, most=150)
    assert wrong == []
    assert sum(counts.values()) == 150
    assert counts["read"]
    assert counts["refused"]

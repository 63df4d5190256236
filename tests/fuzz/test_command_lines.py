"""Command lines damaged at random: each is carried out or refused without a traceback."""

from __future__ import annotations

import command_lines


def test_damaged_command_lines():
    counts, wrong = command_lines.run(2, seed=0, most=25)
    assert wrong == []
    assert sum(counts.values()) == 25
    assert counts["status 0"]
    assert counts["status 2: usage"]
    assert counts["status 2: message"]

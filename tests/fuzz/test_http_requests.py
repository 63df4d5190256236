"""Requests damaged at random: each is answered as the interface promises."""

from __future__ import annotations

import http_requests


def test_damaged_requests():
    counts, wrong = http_requests.run(0.05, seed=0)
    assert wrong == []
    assert counts["200"]
    assert counts["422"]

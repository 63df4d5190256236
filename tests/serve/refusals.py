"""A good request, and what every answer to a bad one looks like."""

from __future__ import annotations

from typing import Any

import httpx

GOOD = {"world": "alchemy", "state": "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_", "history": [], "instruction": "throw out first beaker"}


def assert_refused(answer: httpx.Response, status: int = 422) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    refusal: dict[str, Any] = answer.json()
    assert set(refusal) == {"reason", "problems"}
    assert refusal["reason"]
    assert refusal["problems"]
    assert all(set(problem) == {"where", "reason"} and problem["reason"] for problem in refusal["problems"])
    return refusal

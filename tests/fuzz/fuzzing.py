"""What the fuzzers have in common: how long they run, and how they are started from the command line."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Deadline:
    """Until when to go on: for so many minutes, and at most so many times; at least once."""

    minutes: float
    most: int
    count: int = 0
    begun: float = field(default_factory=time.monotonic)

    def left(self) -> bool:
        """Whether to go on; counts one more if so."""
        if self.count >= self.most or (self.count and time.monotonic() - self.begun >= 60 * self.minutes):
            return False
        self.count += 1
        return True


def command_line(description: str | None, run: Callable[[float, int], tuple[Counter[str], list[str]]], what: str) -> int:
    """Run a fuzzer with the flags ``--minutes`` and ``--seed``, print its counts; the exit status is 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts, wrong = run(given.minutes, given.seed)
    for outcome, count in sorted(counts.items()):
        print(f"{outcome:<24} {count:>8,}")
    print(f"{sum(counts.values()):,} {what}, {len(wrong)} wrong")
    return 1 if wrong else 0

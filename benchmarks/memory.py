"""Whether the server's memory stays flat: ``python benchmarks/memory.py [--requests 20000] [--agent FOLDER] [--json]``.

Eight clients ask the server, which runs as a process of its own on loopback; after every twentieth of the requests its resident memory is
read from /proc. The exit status is 1 if it grew by more than a twentieth after the first quarter, or if an answer was lost or wrong.
"""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import tyro
from serving import measure, questions, serving
from timing import one_core, show

from sestra import Agent

CLIENTS = 8
PARTS = 20
MOST_GROWTH = 1.05


@dataclass(frozen=True)
class Options:
    """Read the server's memory while it answers requests."""

    agent: str = "tangrams-sestra"
    """An agent, by a shipped name or as a folder."""
    requests: int = 20_000
    """How many requests in all."""
    seed: int = 0
    """Of the order of the questions."""
    json: bool = False
    """Print one JSON object instead of a table."""


def resident(process: int) -> float:
    """Megabytes that a process has in memory."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    if not found:
        raise SystemExit("the server has ended")
    return int(found[1]) / 1024


def main() -> int:
    options = tyro.cli(Options, description=__doc__)
    with one_core():
        asked, source = questions(Agent.from_pretrained(options.agent))
    rows: list[tuple[int, float]] = []
    answered = unanswered = 0
    with serving([options.agent], 1) as (port, process):
        rows.append((0, resident(process.pid)))
        for part in range(PARTS):
            most = -(-options.requests // (PARTS * CLIENTS))
            figures = asyncio.run(measure(port, asked, CLIENTS, 3600, options.seed + part, most=most))
            answered += len(figures.milliseconds)
            unanswered += figures.refused + figures.lost + figures.wrong
            rows.append((answered, resident(process.pid)))
    grown = max(memory for _, memory in rows[PARTS // 4 :]) / rows[PARTS // 4][1]
    flat = grown <= MOST_GROWTH and not unanswered
    show(
        options.json,
        {"options": asdict(options), "data": source, "megabytes": rows, "unanswered": unanswered, "growth": grown, "flat": flat},
        f"Resident memory of the server with {options.agent}; {source}",
        ("requests", "MB"),
        [(f"{count:,}", f"{memory:,.1f}") for count, memory in rows],
        f"Grown {grown:.3f} times since the first quarter, {unanswered} not answered rightly; flat: {'yes' if flat else 'NO'}",
        left=0,
    )
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())

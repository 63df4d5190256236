"""What a given load needs, from what was measured: ``python benchmarks/capacity.py`` writes the table in ``docs/deployment.md``.

It reads ``results/serving.json``, which ``python benchmarks/serving.py --json`` prints.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "serving.json"
PAGE = ROOT / "docs" / "deployment.md"
LOADS = (10, 50, 100, 500, 1_000, 5_000)
"""Instructions per second."""
USED = 0.7
"""The part of the measured rate that is planned with; the rest is for bursts, without which requests would wait ever longer."""
PAUSE = 10
"""Seconds between two instructions of a person."""
CORES = 8
"""Of a machine."""
PLACE = re.compile(r"(?<=<!-- load: begin -->\n).*?(?=<!-- load: end -->)", re.DOTALL)


def rate(results: dict[str, Any]) -> float:
    """Instructions per second and process, with many clients."""
    busiest = max(results["figures"], key=lambda row: row["clients"])
    return float(busiest["instructions_per_second"]) / int(results["options"].get("workers", 1))


def table(measured: float) -> str:
    """In Markdown; one process has one core."""
    rows = [
        f"Measured: {measured:,.0f} instructions per second and core. Planned with: {USED:.0%} of that.",
        "",
        f"| instructions per second | people, one instruction per {PAUSE} s each | processes (cores) | machines with {CORES} cores |",
        "|---:|---:|---:|---:|",
    ]
    for load in LOADS:
        processes = math.ceil(load / (USED * measured))
        rows.append(f"| {load:,} | {load * PAUSE:,} | {processes:,} | {math.ceil(processes / CORES):,} |")
    return "\n".join(rows) + "\n"


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    made = table(rate(json.loads(RESULTS.read_text(encoding="utf-8"))))
    PAGE.write_text(PLACE.sub(lambda _: made, text), encoding="utf-8")
    print(made, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

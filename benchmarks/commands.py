"""How long commands take from a cold start: ``python benchmarks/commands.py [--agents alchemy] [--json]``.

Each command is a process of its own, as a user starts it: ``sestra run`` with one instruction, and ``sestra evaluate`` on dev.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import partial

import tyro
from timing import seconds, show

INSTRUCTED = ("run", "--world", "alchemy", "--state", "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_", "throw out first beaker")


@dataclass(frozen=True)
class Options:
    """Time commands from a cold start."""

    agents: tuple[str, ...] = ("alchemy", "scene", "tangrams", "alchemy-sestra", "scene-sestra", "tangrams-sestra")
    """Agents to evaluate."""
    json: bool = False
    """Print one JSON object instead of a table."""


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    command: str
    seconds: float


def measure(*arguments: str) -> Figure:
    command = [sys.executable, "-m", "sestra", *arguments]
    return Figure(" ".join(arguments[:2]), seconds(partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)))


def main() -> None:
    options = tyro.cli(Options)
    figures = [measure(*INSTRUCTED), *(measure("evaluate", name) for name in options.agents)]
    show(
        options.json,
        {"figures": [asdict(figure) for figure in figures]},
        "from a cold start",
        ("command", "seconds"),
        [(figure.command, f"{figure.seconds:.2f}") for figure in figures],
    )


if __name__ == "__main__":
    main()

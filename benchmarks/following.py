"""How long an agent takes to follow one instruction: ``python benchmarks/following.py [--agents alchemy scene] [--json]``.

Each agent follows interactions of SCONE's dev split, or generated ones where there is none, one instruction at a time, on one thread,
greedily; attention, alternatives and drawing-ready states are part of what it returns, as on the page. Timings are milliseconds an
instruction.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass

import tyro
from rich.console import Console
from rich.table import Table

from sestra import Agent
from sestra.data import sources
from sestra.errors import InputError
from sestra.learning.runtime_settings import use_one_core

WARM_UP = 2
"""Interactions that are followed first and not timed."""


@dataclass(frozen=True)
class Options:
    """Time the agents, an instruction at a time."""

    agents: tuple[str, ...] = ("alchemy", "scene", "tangrams", "alchemy-sestra", "scene-sestra", "tangrams-sestra")
    """Names of pretrained agents, or folders."""
    interactions: int = 40
    """How many interactions each of them follows, of five instructions."""
    generated: bool = False
    """Follow generated instructions even where SCONE is found."""
    json: bool = False
    """Print one JSON object instead of a table."""


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    agent: str
    data: str
    instructions: int
    median: float
    mean: float
    p95: float


def measure(name: str, interactions: int, *, generated: bool) -> Figure:
    agent = Agent.from_pretrained(name)
    found, source = sources.load(agent.world.name, "dev", generated=generated)
    times = []
    for number, interaction in enumerate(found[: WARM_UP + interactions]):
        first = interaction.states[0]
        if first is None:
            continue
        following = agent.start(agent.world.format(first))
        for instruction in interaction.instructions:
            begun = time.perf_counter()
            following.do(instruction)
            if number >= WARM_UP:
                times.append(1000 * (time.perf_counter() - begun))
    if len(times) < 2:
        raise InputError(f"{source.name}: has too few interactions to time; expected more than {WARM_UP}")
    return Figure(name, source.name, len(times), statistics.median(times), statistics.fmean(times), statistics.quantiles(times, n=20)[-1])


def main() -> None:
    options = tyro.cli(Options)
    if options.interactions < 1:
        sys.exit(f"following: --interactions {options.interactions}; expected at least 1")
    use_one_core()
    try:
        figures = [measure(name, options.interactions, generated=options.generated) for name in options.agents]
    except InputError as error:
        sys.exit(f"following: {error}")
    if options.json:
        print(json.dumps({"unit": "ms", "threads": 1, "figures": [asdict(figure) for figure in figures]}, indent=2))
        return
    table = Table("agent", "data", "instructions", "median, ms", "mean, ms", "95th percentile, ms", title="one instruction, one thread")
    for column in table.columns[2:]:
        column.justify = "right"
    for figure in figures:
        table.add_row(
            figure.agent, figure.data, str(figure.instructions), f"{figure.median:.1f}", f"{figure.mean:.1f}", f"{figure.p95:.1f}"
        )
    Console(width=100).print(table)


if __name__ == "__main__":
    main()

"""How long an agent takes to follow one instruction: ``python benchmarks/following.py [--agents alchemy scene] [--json]``.

Each agent follows interactions of SCONE's dev split, or generated ones where there is none, one instruction at a time, on one thread,
greedily; attention, alternatives and drawing-ready states are part of what it returns, as on the page. Times are in milliseconds per
instruction.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from functools import partial

import tyro
from timing import one_core, seconds, show

from sestra import Agent
from sestra.data import sources
from sestra.errors import InputError, check_number

WARM_UP = 2
"""Interactions before timing starts."""


@dataclass(frozen=True)
class Options:
    """Time the agents, one instruction at a time."""

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
    times: list[float] = []
    for number, interaction in enumerate(found[: WARM_UP + interactions]):
        first = interaction.states[0]
        if first is None:
            continue
        session = agent.start(agent.world.format(first))
        taken = [1000 * seconds(partial(session.do, instruction)) for instruction in interaction.instructions]
        times += taken if number >= WARM_UP else []
    if len(times) < 2:
        raise InputError(f"{source.name}: has too few interactions to time; expected more than {WARM_UP}")
    return Figure(name, source.name, len(times), statistics.median(times), statistics.fmean(times), statistics.quantiles(times, n=20)[-1])


def main() -> None:
    options = tyro.cli(Options)
    with one_core():
        check_number("--interactions", options.interactions, 1)
        figures = [measure(name, options.interactions, generated=options.generated) for name in options.agents]
    show(
        options.json,
        {"unit": "ms", "threads": 1, "figures": [asdict(figure) for figure in figures]},
        "one instruction, one thread",
        ("agent", "data", "instructions", "median, ms", "mean, ms", "95th percentile, ms"),
        [(f.agent, f.data, str(f.instructions), f"{f.median:.1f}", f"{f.mean:.1f}", f"{f.p95:.1f}") for f in figures],
        left=2,
    )


if __name__ == "__main__":
    main()

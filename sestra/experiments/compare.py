"""Whether the paper's order of systems comes out, and what the whole grid costs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sestra.experiments.aggregate import Record, cell, config_of, paper
from sestra.experiments.grid import OF_PAPER, SYSTEMS, WORLDS_OF_PAPER, trials
from sestra.experiments.progress import duration
from sestra.metrics import interval, percent, tenths

DEV_INTERACTIONS = {"alchemy": 245, "scene": 198, "tangrams": 199}
"""The paper's Table 1."""


@dataclass(frozen=True)
class Share:
    """An accuracy and its 95% interval, in percent."""

    percent: float
    low: float
    high: float


def difference(one: Share, other: Share) -> tuple[float, float, float]:
    """Of two independent shares, with its 95% interval (Newcombe 1998, method 10).

    >>> [round(bound, 1) for bound in difference(Share(80.0, 69.6, 87.5), Share(60.0, 48.7, 70.4))]
    [20.0, 5.3, 33.6]
    """
    apart = one.percent - other.percent
    below = ((one.percent - one.low) ** 2 + (other.high - other.percent) ** 2) ** 0.5
    above = ((one.high - one.percent) ** 2 + (other.percent - other.low) ** 2) ** 0.5
    return apart, apart - below, apart + above


def _sign(difference_and_interval: tuple[float, float, float]) -> int:
    """0 where the interval leaves it open."""
    _, low, high = difference_and_interval
    return (low > 0) - (high < 0)


def compare(records: Sequence[Record]) -> Iterator[list[str]]:
    """Table lines: every system against SESTRA, in the paper and here."""
    for world in WORLDS_OF_PAPER:
        ours = _ours(records, world, "sestra")
        for name in OF_PAPER:
            if name == "sestra":
                continue
            theirs = difference(_theirs(world, name), _theirs(world, "sestra"))
            mine = _ours(records, world, name)
            found = difference(mine, ours) if mine and ours else None
            group = cell(records, world, name)
            remark = " (with other settings, see above)" if found and group and group.different else ""
            yield [world, SYSTEMS[name].label, _text(theirs), _text(found) if found else "*pending*", _verdict(theirs, found) + remark]


def _ours(records: Sequence[Record], world: str, system: str) -> Share | None:
    group = cell(records, world, system)
    figures = group.best()["splits"].get("dev") if group else None
    return Share(float(percent(figures, "utts5")), *interval(figures, "utts5")) if figures else None


def _theirs(world: str, system: str) -> Share:
    from sestra.learning.evaluation import Accuracy

    percent = paper()["dev"]["systems"][system][world][2]
    number = DEV_INTERACTIONS[world]
    return Share(percent, *Accuracy(round(percent / 100 * number), number).interval)


def _text(difference_and_interval: tuple[float, float, float]) -> str:
    apart, low, high = difference_and_interval
    return f"{tenths(apart):+} [{tenths(low):+}, {tenths(high):+}]".replace("-", "−")


def _verdict(theirs: tuple[float, float, float], ours: tuple[float, float, float] | None) -> str:
    if ours is None:
        return ""
    paper_sign, our_sign = _sign(theirs), _sign(ours)
    if paper_sign == our_sign:
        return "the same" if our_sign else "no clear difference in either"
    if not our_sign:
        return "clear in the paper only"
    return "clear in ours only" if not paper_sign else "**the opposite**"


@dataclass(frozen=True)
class Cost:
    lines: list[list[str]]
    seconds: float
    runs: int


def extrapolate(records: Sequence[Record]) -> Cost | None:
    """What the whole grid takes, from the finished runs; one that had fewer epochs than the grid's is taken to go on at the same pace."""
    if not records:
        return None
    everywhere = statistics.fmean(_full(record) for record in records)
    lines, whole, runs = [], 0.0, 0
    for world in WORLDS_OF_PAPER:
        finished = [
            record
            for record in records
            if record["world"] == world and record["system"] in OF_PAPER and record["config"].get("preset", "default") == "default"
        ]
        usual = statistics.fmean(_full(record) for record in finished) if finished else everywhere
        of_world = 0.0
        for trial in trials((world,)):
            group = cell(records, world, trial.system)
            of_world += statistics.fmean(_full(record) for record in group.records) if group else usual
            runs += 1
        spent = sum(record["seconds"] for record in finished)
        lines.append([world, str(len(finished)), duration(spent), duration(usual) if finished else "–", duration(of_world)])
        whole += of_world
    return Cost(lines, whole, runs)


def _full(record: Record) -> float:
    """The seconds that the run would take with all the epochs of the grid's settings."""
    name, config = str(record["system"]), config_of(record)
    if name not in SYSTEMS or "patience" in record["ended"]:
        return float(record["seconds"])
    epochs = SYSTEMS[name].config(config.world, config.seed, config.preset).optimisation.epochs
    return float(record["seconds"]) * epochs / max(int(record["epochs"]), 1)

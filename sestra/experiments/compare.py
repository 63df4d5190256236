"""Whether the differences between systems are those of the paper, and how long the whole grid takes."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sestra.data.statistics import PAPER
from sestra.experiments.aggregate import Record, cell, config_of, paper
from sestra.experiments.grid import OF_PAPER, SYSTEMS, WORLDS_OF_PAPER, trials
from sestra.experiments.progress import duration
from sestra.metrics import Accuracy, Estimate


def compare(records: Sequence[Record]) -> Iterator[list[str]]:
    """Table rows: every system against SESTRA, in the paper and here."""
    for world in WORLDS_OF_PAPER:
        ours = _ours(records, world, "sestra")
        for name in OF_PAPER:
            if name == "sestra":
                continue
            theirs = _theirs(world, name) - _theirs(world, "sestra")
            mine = _ours(records, world, name)
            found = mine - ours if mine and ours else None
            group = cell(records, world, name)
            remark = " (other settings, see above)" if found and group and group.different else ""
            yield [world, SYSTEMS[name].label, _text(theirs), _text(found) if found else "*pending*", _verdict(theirs, found) + remark]


def _ours(records: Sequence[Record], world: str, system: str) -> Estimate | None:
    group = cell(records, world, system)
    accuracy = group.best_accuracy("dev", "utts5") if group else None
    return accuracy.estimate if accuracy else None


def _theirs(world: str, system: str) -> Estimate:
    percent = paper()["dev"]["systems"][system][world][2]
    number = PAPER[world].sequences["dev"]
    return Estimate(percent, *Accuracy(round(percent / 100 * number), number).interval)


def _text(difference: Estimate) -> str:
    return difference.text("+").replace("-", "−")


def _verdict(theirs: Estimate, ours: Estimate | None) -> str:
    if ours is None:
        return ""
    if theirs.sign == ours.sign:
        return "the same" if ours.sign else "no clear difference in either"
    if not ours.sign:
        return "clear in the paper only"
    return "clear in ours only" if not theirs.sign else "**the opposite**"


@dataclass(frozen=True)
class Cost:
    lines: list[list[str]]
    seconds: float
    runs: int


def extrapolate(records: Sequence[Record]) -> Cost | None:
    """The time of the whole grid, estimated from the finished runs; the time of a shorter run is scaled to the grid's epochs."""
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
    """The seconds of the run, scaled to the epochs of the grid's settings."""
    name, config = str(record["system"]), config_of(record)
    if name not in SYSTEMS or "patience" in record["ended"]:
        return float(record["seconds"])
    epochs = SYSTEMS[name].config(config.world, config.seed, config.preset).optimisation.epochs
    return float(record["seconds"]) * epochs / max(int(record["epochs"]), 1)

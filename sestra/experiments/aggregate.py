"""Finished runs grouped for the paper's tables, one group per cell, and how long the whole grid takes.

Runs with different settings or data are never averaged.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sestra.data.download import SHA256
from sestra.experiments.grid import OF_PAPER, SYSTEMS, WORLDS_OF_PAPER, differences, trials
from sestra.experiments.progress import duration
from sestra.experiments.sweep import score
from sestra.io import read_json
from sestra.learning.config import Preset, TrainConfig
from sestra.metrics import Accuracy, from_record

Record = Mapping[str, Any]
Kind = Literal["scone", "generated", "other"]


@cache
def paper() -> Any:
    """The numbers of the paper, and which of its tables they are from."""
    return read_json(Path(__file__).with_name("paper_figures.json"))


def kind_of(record: Record) -> Kind:
    """What a run was trained and evaluated on: only runs on SCONE's own files are comparable with the paper."""
    if record["generated"]:
        return "generated"
    data = [record["train"], *(figures["data"] for figures in record["splits"].values())]
    return "scone" if all(source["sha256"] in SHA256.values() for source in data) else "other"


def config_of(record: Record) -> TrainConfig:
    return TrainConfig.from_json(record["config"], str(record["name"]))


def accuracy_of(record: Record, split: str, metric: str) -> Accuracy | None:
    figures = record["splits"].get(split)
    return from_record(figures, metric) if figures else None


@dataclass(frozen=True)
class Group:
    """Runs that differ only in their seeds."""

    records: tuple[Record, ...]
    different: Mapping[str, Sequence[Any]]
    """Where their settings differ from those of the grid: expected and found values, by setting."""

    @property
    def seeds(self) -> int:
        return len(self.records)

    def best(self) -> Record:
        """The best run on validation, as in the paper; dev is not used."""
        return max(self.records, key=score)

    def best_accuracy(self, split: str, metric: str) -> Accuracy | None:
        return accuracy_of(self.best(), split, metric)

    def percents(self, split: str, metric: str) -> list[float]:
        """One per run that has the metric."""
        return [accuracy.percent for record in self.records if (accuracy := accuracy_of(record, split, metric))]

    def mean(self, split: str, metric: str) -> tuple[float, float] | None:
        """Mean and standard deviation over the seeds, if there are at least two."""
        percents = self.percents(split, metric)
        return (statistics.fmean(percents), statistics.stdev(percents)) if len(percents) > 1 else None


def groups(records: Sequence[Record], world: str, system: str, preset: Preset) -> list[Group]:
    """The runs of a cell, grouped by their settings: first the group with the grid's settings, then by size."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if (record["world"], record["system"], record["config"].get("preset", "default")) == (world, system, preset):
            settings = config_of(record).to_json() | {"seed": None, "flat": record["flat"]}
            data = [record["train"]["sha256"], *(figures["data"]["sha256"] for figures in record["splits"].values())]
            found.setdefault(json.dumps([settings, data], sort_keys=True), []).append(record)
    made = []
    for runs in found.values():
        config = config_of(runs[0])
        expected = SYSTEMS[system].config(world, config.seed, preset) if system in SYSTEMS else config
        different = differences(expected, config) | ({"plateau": [0, runs[0]["flat"]]} if runs[0]["flat"] else {})
        made.append(Group(tuple(sorted(runs, key=lambda run: run["seed"])), different))
    return sorted(made, key=lambda group: (bool(group.different), -group.seeds))


def cell(records: Sequence[Record], world: str, system: str, preset: Preset = "default") -> Group | None:
    """The group that the tables show: the runs with the grid's settings, or else the largest group."""
    found = groups(records, world, system, preset)
    return found[0] if found else None


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

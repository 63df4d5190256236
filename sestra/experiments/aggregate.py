"""Finished runs gathered into the cells of the paper's tables; runs with different settings or data are never averaged."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sestra.data.download import SHA256
from sestra.experiments.grid import SYSTEMS, differences
from sestra.experiments.sweep import score
from sestra.io import read_json
from sestra.learning.config import Preset, TrainConfig
from sestra.metrics import percent

Record = Mapping[str, Any]
Kind = Literal["scone", "generated", "other"]
METRICS = {"inst": "Inst", "utts3": "3utts", "utts5": "5utts"}


@cache
def paper() -> Any:
    """The paper's own numbers, and where in the paper they stand."""
    return read_json(Path(__file__).with_name("paper_figures.json"))


def kind_of(record: Record) -> Kind:
    """What a run was trained and measured on: only SCONE's own files can be compared with the paper."""
    if record["generated"]:
        return "generated"
    data = [record["train"], *(figures["data"] for figures in record["splits"].values())]
    return "scone" if all(source["sha256"] in SHA256.values() for source in data) else "other"


def config_of(record: Record) -> TrainConfig:
    return TrainConfig.from_json(record["config"], str(record["name"]))


@dataclass(frozen=True)
class Group:
    """Runs that differ in nothing but their seeds."""

    records: tuple[Record, ...]
    different: Mapping[str, Sequence[Any]]
    """In what their settings differ from the grid's."""

    @property
    def seeds(self) -> int:
        return len(self.records)

    def best(self) -> Record:
        """The one that validation chooses, as in the paper; dev has no say."""
        return max(self.records, key=score)

    def figures(self, split: str, metric: str) -> list[float]:
        measured = [record["splits"].get(split, {}) for record in self.records]
        return [float(percent(figures, metric)) for figures in measured if figures.get(metric) is not None]

    def mean(self, split: str, metric: str) -> tuple[float, float] | None:
        """Mean and standard deviation over the seeds, from two on."""
        figures = self.figures(split, metric)
        return (statistics.fmean(figures), statistics.stdev(figures)) if len(figures) > 1 else None


def groups(records: Sequence[Record], world: str, system: str, preset: Preset) -> list[Group]:
    """A cell's runs, by their settings: first those with the grid's, then by number."""
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
        different = differences(expected, config) | ({"flat": [0, runs[0]["flat"]]} if runs[0]["flat"] else {})
        made.append(Group(tuple(sorted(runs, key=lambda run: run["seed"])), different))
    return sorted(made, key=lambda group: (bool(group.different), -group.seeds))


def cell(records: Sequence[Record], world: str, system: str, preset: Preset = "default") -> Group | None:
    """What stands in the cell: the runs with the grid's settings, or else the most that share others."""
    found = groups(records, world, system, preset)
    return found[0] if found else None

"""The record of a finished run in ``results``: one small JSON file, and how it is read back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sestra.errors import InputError
from sestra.experiments.grid import Trial
from sestra.io import read_json
from sestra.learning import migrations
from sestra.learning.config import TrainConfig
from sestra.metrics import METRICS
from sestra.version import __version__

if TYPE_CHECKING:
    from sestra.learning.trainer import Trainer

CURVES = (*METRICS, "reward", "train_inst", "objective")
FIGURES = (*METRICS, "intervals", "counts", "by_turn", "reward", "data")
"""What the record keeps of the results of ``sestra evaluate``; the rest it has elsewhere."""


def make(
    trial: Trial, training: Trainer, different: dict[str, list[Any]], splits: Sequence[str], data: Path | None, flat: int
) -> dict[str, Any]:
    """The record of a training that has ended; evaluates its best policy on the splits, as ``sestra evaluate`` does."""
    from sestra.io import write_json
    from sestra.learning import checkpoint
    from sestra.learning.measure import measure
    from sestra.learning.run_folder import load_trained

    trained = load_trained(training.folder)
    measured = {split: measure(trained, split, data, generated=data is None).record for split in splits}
    if "dev" in measured:
        write_json(training.folder.path / "results.json", measured["dev"])  # 'sestra export' needs it
    progress, config = training.progress, training.config
    source = training.folder.source()
    return {
        "name": trial.name,
        "world": trained.tables.world.name,
        "system": trial.system,
        "learner": config.learner_name,
        "preset": config.preset,
        "seed": config.seed,
        "generated": source.generated,
        "ended": _ended(training, flat),
        "flat": flat if training.unfinished else 0,
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch,
        "seconds": progress.history[-1]["seconds"],
        "parameters": sum(parameter.numel() for parameter in trained.policy.parameters()),
        "words": len(trained.vocabulary.words),
        "validation": {name: _round(value) for name, value in trained.chosen["validation"].items()},
        "splits": {split: {name: record[name] for name in FIGURES} for split, record in measured.items()},
        "curve": {name: [_round(epoch[name]) for epoch in progress.history] for name in CURVES},
        "train": dataclasses.asdict(source),
        "model": {"name": training.folder.model.name, "sha256": checkpoint.checksum(training.folder.model)},
        "different": different,
        "config": config.to_json(),
        "version": __version__,
    }


def _ended(training: Trainer, flat: int) -> str:
    if training.unfinished:  # ended by the grid's --flat, which is not one of its own settings
        return f"no better for {flat} epochs"
    return f"all {training.epochs} epochs" if training.progress.epoch >= training.epochs else "patience ran out"


def _round(value: float | None) -> float | None:
    return round(value, 3) if value is not None and math.isfinite(value) else None


EXPECTED: dict[str, type | tuple[type, ...]] = {
    "name": str, "world": str, "system": str, "seed": int, "generated": bool, "ended": str, "flat": int, "epochs": int, "best_epoch": int,
    "seconds": (int, float), "parameters": int, "validation": dict, "splits": dict, "curve": dict, "train": dict, "different": dict,
    "config": dict, "version": str,
}  # fmt: skip


def read(path: Path) -> dict[str, Any]:
    """A record; everything that tables and figures need is checked."""
    record = read_json(path)
    if not isinstance(record, dict):
        raise InputError(f"{path}: holds no object; expected a finished run's results, as 'sestra paper run' writes them")
    for name, kind in EXPECTED.items():
        if not isinstance(record.get(name), kind):
            raise InputError(f"{path}: {name} is {record.get(name)!r}; was it written by 'sestra paper run' of this version?")
    config = TrainConfig.from_json(record["config"], f"{path}: config")
    record |= {"config": config.to_json(), "different": migrations.upgrade_differences(record["different"])}
    for split, figures in record["splits"].items():
        if not isinstance(figures, dict) or not set(FIGURES) <= set(figures) or not set(METRICS) <= set(figures["counts"]):
            raise InputError(f"{path}: {split} lacks one of {', '.join(FIGURES)}; run 'sestra paper run' again without the file")
    places: list[tuple[str, str, type | tuple[type, ...]]] = [
        ("train", "sha256", str),
        ("validation", "inst", (int, float)),
        ("validation", "utts5", (int, float, type(None))),
        ("validation", "reward", (int, float)),
    ]
    if "model" in record:  # older records lack it
        places.append(("model", "sha256", str))
    for place, name, kind in places:
        found = record[place] if isinstance(record[place], dict) else {}
        if name not in found or not isinstance(found[name], kind):
            raise InputError(f"{path}: {place} has {found.get(name)!r} as its {name}; run 'sestra paper run' again without the file")
    if not set(CURVES) <= set(record["curve"]):
        raise InputError(f"{path}: its curve lacks one of {', '.join(CURVES)}; run 'sestra paper run' again without the file")
    return record


def read_all(folder: Path) -> list[dict[str, Any]]:
    """All records in a folder, sorted by name; none if the folder does not exist."""
    return sorted((read(path) for path in paths(folder)), key=lambda record: str(record["name"]))


def paths(folder: Path) -> Iterable[Path]:
    return folder.glob("*.json")

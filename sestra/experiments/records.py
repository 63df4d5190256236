"""The record of a finished run in ``results``: one small JSON file, and how it is read back."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sestra.errors import InputError
from sestra.experiments.grid import Trial, differences
from sestra.io import read_json, write_json
from sestra.learning import migrations
from sestra.learning.config import TrainConfig
from sestra.metrics import METRICS
from sestra.version import __version__

if TYPE_CHECKING:
    from sestra.learning.trainer import Trainer

CURVES = (*METRICS, "reward", "train_inst", "objective", "observations")
FIGURES = (*METRICS, "intervals", "counts", "by_turn", "reward", "data")
"""What the record keeps of the results of ``sestra evaluate``; the rest it has elsewhere."""


def make(
    trial: Trial, training: Trainer, different: dict[str, list[Any]], splits: Sequence[str], data: Path | None, plateau: int
) -> dict[str, Any]:
    """The record of a training that has ended; evaluates its best policy on the splits, as ``sestra evaluate`` does."""
    from sestra.agent.evaluation import evaluate_split
    from sestra.learning import checkpoint
    from sestra.learning.run_folder import load_trained

    trained = load_trained(training.folder)
    measured = {split: evaluate_split(trained, split, data, generated=data is None).record for split in splits}
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
        "ended": _ended(training, plateau),
        "flat": plateau if training.unfinished else 0,
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch,
        "seconds": progress.times[-1],
        "memory": peak_memory(),
        "parameters": sum(parameter.numel() for parameter in trained.policy.parameters()),
        "words": len(trained.vocabulary.words),
        "validation": {name: _round(value) for name, value in trained.chosen["validation"].items()},
        "splits": {split: {name: record[name] for name in FIGURES} for split, record in measured.items()},
        "curve": {name: [_round(epoch.get(name)) for epoch in progress.history] for name in CURVES},
        "train": dataclasses.asdict(source),
        "model": {"name": training.folder.model.name, "sha256": checkpoint.checksum(training.folder.model)},
        "different": different,
        "config": config.to_json(),
        "version": __version__,
    }


def peak_memory() -> int | None:
    """Of this process so far, in MiB; a worker that has run other trials counts theirs, too. None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024))


def _ended(training: Trainer, plateau: int) -> str:
    if training.unfinished:  # ended by --plateau, which is not one of its own settings
        return f"no better for {plateau} epochs"
    return f"all {training.epochs} epochs" if training.progress.epoch >= training.epochs else "patience ran out"


def _round(value: float | None) -> float | None:
    return round(value, 3) if value is not None and math.isfinite(value) else None


EXPECTED = (
    "name", "world", "system", "seed", "generated", "ended", "flat", "epochs", "best_epoch", "seconds", "parameters", "validation",
    "splits", "curve", "train", "different", "config", "version",
)  # fmt: skip
"""What tables and figures need."""


def read(path: Path) -> dict[str, Any]:
    """A record, checked."""
    record: dict[str, Any] = read_json(path)
    for name in EXPECTED:
        if name not in record:
            raise InputError(f"{path}: has no {name}; expected what 'sestra paper run' writes; run it again without the file")
    config = TrainConfig.from_json(record["config"], f"{path}: config")
    return record | {"config": config.to_json(), "different": migrations.migrate_differences(record["different"])}


def find(path: Path, trial: Trial) -> tuple[dict[str, Any], dict[str, list[Any]]] | None:
    """The trial's record, if it is there, and where its settings differ from the trial's."""
    if not path.exists():
        return None
    record = read(path)
    return record, differences(trial.config, TrainConfig.from_json(record["config"], f"{path}: config"))


def read_all(folder: Path) -> list[dict[str, Any]]:
    """All records in a folder, sorted by name; none if the folder does not exist."""
    return sorted(map(read, folder.glob("*.json")), key=lambda record: str(record["name"]))

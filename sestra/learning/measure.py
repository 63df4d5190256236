"""The record of how good a trained policy is on a split: what ``sestra evaluate`` and the experiments write."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sestra.data import sources
from sestra.data.batch import encode_turns
from sestra.data.scone import Interaction
from sestra.learning.evaluation import Accuracy, Evaluation, evaluate
from sestra.learning.run_folder import Trained
from sestra.version import __version__

METRICS = {"inst": "Inst", "utts3": "3utts", "utts5": "5utts"}


@dataclass(frozen=True)
class Measured:
    record: dict[str, Any]
    result: Evaluation
    interactions: list[Interaction]


def measure(trained: Trained, split: str, data: Path | None = None, *, generated: bool = False) -> Measured:
    """Follow a split's instructions and interactions; the record can be written as JSON."""
    config = trained.config
    interactions, source = sources.load(config.world, split, data, generated=generated)
    turns = encode_turns(interactions, trained.vocabulary, trained.tables)
    result = evaluate(trained.policy, trained.tables, turns, horizon=config.rollout.execution_horizon, verbosity=config.rollout.verbosity)
    figures: dict[str, Accuracy] = {name: getattr(result, name) for name in METRICS}
    record = {
        "world": config.world,
        "split": split,
        **{name: round(accuracy.percent, 2) for name, accuracy in figures.items()},
        "intervals": {name: rounded_interval(accuracy) for name, accuracy in figures.items()},
        "counts": {name: [accuracy.successes, accuracy.trials] for name, accuracy in figures.items()},
        "by_turn": [round(accuracy.percent, 2) for accuracy in result.by_turn],
        "reward": round(result.reward, 4),
        "learner": config.learner_name,
        "seed": config.seed,
        "training": trained.chosen,
        "data": dataclasses.asdict(source),
        "config": config.to_json(),
        "version": __version__,
    }
    return Measured(record, result, interactions)


def rounded_interval(accuracy: Accuracy) -> list[float]:
    return [round(bound, 2) for bound in accuracy.interval]

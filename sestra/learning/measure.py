"""The accuracy of a trained policy on a split, as the record that ``sestra evaluate`` and the experiments write."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sestra.data import sources
from sestra.data.batch import encode_turns
from sestra.data.scone import Interaction
from sestra.learning.evaluation import Evaluation, evaluate
from sestra.learning.run_folder import Trained
from sestra.metrics import METRICS, to_record
from sestra.version import __version__


@dataclass(frozen=True)
class Measured:
    record: dict[str, Any]
    result: Evaluation
    interactions: list[Interaction]


def measure(trained: Trained, split: str, data: Path | None = None, *, generated: bool = False) -> Measured:
    """Follow the instructions and the interactions of a split."""
    config = trained.config
    interactions, source = sources.load(config.world, split, data, generated=generated)
    turns = encode_turns(interactions, trained.vocabulary, trained.tables)
    result = evaluate(trained.policy, trained.tables, turns, horizon=config.rollout.execution_horizon, verbosity=config.rollout.verbosity)
    record = {
        "world": trained.tables.world.name,
        "split": split,
        **to_record({name: getattr(result, name) for name in METRICS}),
        "by_turn": [accuracy.rounded.percent for accuracy in result.by_turn],
        "reward": round(result.reward, 4),
        "learner": config.learner_name,
        "seed": config.seed,
        "training": trained.chosen,
        "data": dataclasses.asdict(source),
        "config": config.to_json(),
        "version": __version__,
    }
    return Measured(record, result, interactions)

"""Runs on the lamps, small enough for a test, and all that a run leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

from lamps import interactions

from sestra.agent.evaluation import Evaluation, evaluate
from sestra.data.batch import Turns
from sestra.data.sources import Source
from sestra.learning import checkpoint
from sestra.learning.config import TrainConfig
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import execute_greedily
from sestra.learning.run_folder import RunFolder
from sestra.learning.trainer import Trainer
from sestra.worlds.tables import Tables

TINY = TrainConfig(world="lamps", policy=AttentionConfig(embedding=4, hidden=6, dropout=0.1)).changed(
    learning_rate=0.005, horizon=3, verbosity=0.15, epochs=3, batch_size=10
)


def start(path: Path, config: TrainConfig = TINY, count: int = 30, **changes) -> Trainer:
    config = config.changed(**changes)
    made = Trainer(config, interactions(count, seed=1), RunFolder(path))
    made.folder.create(config, made.vocabulary, Source("lamps", "0"))
    return made


def measure(policy: Policy, tables: Tables, turns: Turns, *, horizon: int = 5, **settings) -> Evaluation:
    """Evaluate a policy before it is exported."""
    return evaluate(lambda batch: execute_greedily(policy, tables, batch, horizon), tables, turns, **{"batch_size": 256, **settings})


def state_of(folder: RunFolder) -> tuple:
    """All that a run leaves behind, but for the times."""
    model, chosen = checkpoint.load(folder.model)
    newest = folder.checkpoints()[0]
    tensors, progress = checkpoint.load(newest)
    progress = {key: value for key, value in progress.items() if key not in ("seconds", "times")}
    names = ("config.json", "vocab.json", "data.json", "metrics.jsonl", "run.json")
    every = {f"model {name}": value for name, value in model.items()} | tensors
    # As text: a figure that is not a number would not equal itself.
    rest = json.dumps([chosen, newest.name, progress, *((folder.path / name).read_text() for name in names)], sort_keys=True)
    return {name: value.numpy().tobytes() for name, value in every.items()}, rest

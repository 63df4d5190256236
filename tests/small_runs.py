"""Runs on the lamps, small enough for a test, and all that a run leaves behind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from lamps import interactions

from sestra.data.sources import Source
from sestra.learning import checkpoint
from sestra.learning.config import AttentionConfig, TrainConfig
from sestra.learning.run_folder import RunFolder
from sestra.learning.trainer import Training

TINY = TrainConfig(
    world="lamps", learning_rate=0.005, horizon=3, epochs=3, batch_size=10, policy=AttentionConfig(embedding=4, hidden=6, dropout=0.1)
)


def start(path: Path, config: TrainConfig = TINY, count: int = 30, **changes) -> Training:
    config = replace(config, **changes)
    made = Training(config, interactions(count, seed=1), RunFolder(path))
    made.folder.create(config, made.vocabulary, Source("lamps", "0"))
    return made


def state_of(folder: RunFolder) -> tuple:
    """All that a run leaves behind, but for seconds."""

    def timeless(records):
        return [{key: value for key, value in record.items() if key != "seconds"} for record in records]

    model, chosen = checkpoint.load(folder.model)
    newest = folder.checkpoints()[0]
    tensors, progress = checkpoint.load(newest)
    progress["history"] = timeless(progress["history"])
    metrics = timeless(json.loads(line) for line in folder.metrics.read_text().splitlines())
    settings = [(folder.path / name).read_text() for name in ("config.json", "vocab.json", "data.json")]
    every = {f"model {name}": value for name, value in model.items()} | tensors
    # As text: a figure that is not a number would not equal itself.
    rest = json.dumps([chosen, newest.name, progress, metrics, settings], sort_keys=True)
    return {name: value.numpy().tobytes() for name, value in every.items()}, rest

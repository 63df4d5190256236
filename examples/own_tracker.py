"""A callback for another tracker than TensorBoard: Weights & Biases.

    pip install 'sestra[train]' wandb
    python examples/own_tracker.py

A run that is resumed continues its curves. Any other tracker is told in the same way; override only what it needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import sestra


class WeightsAndBiases(sestra.Callback):
    """Sends the settings once, and the record of each epoch."""

    def __init__(self, project: str) -> None:
        import wandb  # at once: if it is missing, nothing has been trained yet

        self.wandb, self.project, self.run = wandb, project, None

    def on_train_begin(self, trainer: Any, notices: Sequence[str]) -> None:
        del notices  # the command line shows them
        name = trainer.folder.path.name
        self.run = self.wandb.init(project=self.project, id=name, name=name, resume="allow", config=trainer.config.flat())

    def on_epoch_end(self, record: dict[str, Any]) -> None:
        self.run.log({name: value for name, value in record.items() if not math.isnan(value)}, step=record["epoch"])

    def on_train_end(self) -> None:
        if self.run is not None:  # None where training failed before it began
            self.run.finish()


if __name__ == "__main__":
    sestra.train("tangrams", out="runs/tracked", epochs=10, callbacks=[WeightsAndBiases("instructions")])

"""What ``sestra train`` shows while it trains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sestra.learning.callbacks import Callback
from sestra.metrics import METRICS

if TYPE_CHECKING:
    from sestra.learning.trainer import Trainer


def reached(trainer: Trainer) -> str:
    """Where the training stands."""
    progress = trainer.progress
    return f"epoch {progress.epoch}" + (f" and batch {progress.sums.batches} of the next" if progress.sums.batches else "")


def accuracies(record: dict[str, Any]) -> list[str]:
    """Those that there are: without an interaction of three instructions there is no accuracy of the first three."""
    return [f"{name} {record[metric]:.1f}" for metric, name in METRICS.items() if not math.isnan(record[metric])]


class ProgressBars(Callback):
    """A bar for the epochs, one for the batches, and a line per epoch, on standard error."""

    trainer: Trainer | None = None

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self.bars = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"), console=Console(stderr=True, highlight=False), speed_estimate_period=600,
        )  # fmt: skip
        self.epochs = self.bars.add_task("epochs", total=None, note="")
        self.batches = self.bars.add_task("batches", total=None, note="")

    def print(self, text: str) -> None:
        self.bars.console.print(text, markup=False, soft_wrap=True)

    def on_train_begin(self, trainer: Trainer, notices: Sequence[str]) -> None:
        self.trainer, done = trainer, trainer.progress.epoch
        for notice in notices:
            self.print(notice)
        if trainer.progress.updates:
            self.print(f"Resuming after {reached(trainer)}, with the settings that the run began with.")
        self.bars.reset(self.epochs, total=trainer.epochs, completed=done)
        self.bars.start()

    def on_batch_end(self, done: int, total: int, objective: float) -> None:
        if done == 1:
            self.bars.reset(self.batches)  # its clock stops when all batches are done
        self.bars.update(self.batches, completed=done, total=total, note=f"objective {objective:.3f}")

    def on_epoch_end(self, record: dict[str, Any]) -> None:
        assert self.trainer is not None
        figures = "  ".join(accuracies(record))
        sampled = "" if math.isnan(record["train_inst"]) else f"  train Inst {record['train_inst']:.1f}"
        self.bars.update(self.epochs, completed=record["epoch"], note=f"the best is epoch {self.trainer.progress.best_epoch}")
        self.print(
            f"epoch {record['epoch']:3}  objective {record['objective']:.3f}{sampled}  "
            f"validation reward {record['reward']:.3f}  {figures}  {record['seconds']:.0f} s"
        )

    def on_train_end(self) -> None:
        self.bars.stop()

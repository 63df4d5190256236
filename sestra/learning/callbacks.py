"""What is told of a run while it trains: progress bars, trackers of experiments, a condition to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sestra.errors import InputError

if TYPE_CHECKING:
    from sestra.learning.trainer import Trainer

Record = dict[str, Any]
"""The figures of an epoch: epoch, objective, reward, inst, utts3, utts5, ... as in metrics.jsonl, and the seconds until its end."""


class Callback:
    """Override what you need."""

    def on_train_begin(self, trainer: Trainer, notices: Sequence[str]) -> None:
        """Before the first epoch; ``notices`` is what the user should know of the data and of a resumed run."""

    def on_batch_end(self, done: int, total: int, objective: float) -> None:
        """After each update: how many of the epoch's are done, and the mean objective so far."""

    def on_epoch_end(self, record: Record) -> object:
        """When the epoch's checkpoint has been written; training stops if this returns True."""

    def on_train_end(self) -> None:
        """After the last epoch, also where training was interrupted or failed."""


class EveryEpoch(Callback):
    """A function of each epoch's record."""

    def __init__(self, function: Callable[[Record], object]) -> None:
        self.function = function

    def on_epoch_end(self, record: Record) -> object:
        return self.function(record)


class Callbacks(Callback):
    """Several, in order."""

    def __init__(self, callbacks: Sequence[Callback | Callable[[Record], object]]) -> None:
        for each in callbacks:
            if not isinstance(each, Callback) and not callable(each):
                raise InputError(f"callbacks: {each!r} is neither a function nor a sestra.Callback")
        self.all = [each if isinstance(each, Callback) else EveryEpoch(each) for each in callbacks]

    def on_train_begin(self, trainer: Trainer, notices: Sequence[str]) -> None:
        for each in self.all:
            each.on_train_begin(trainer, notices)

    def on_batch_end(self, done: int, total: int, objective: float) -> None:
        for each in self.all:
            each.on_batch_end(done, total, objective)

    def on_epoch_end(self, record: Record) -> bool:
        returned = [each.on_epoch_end(record) for each in self.all]  # all are told, whatever the first returns
        return any(each is True for each in returned)

    def on_train_end(self) -> None:
        for each in self.all:
            each.on_train_end()


class TensorBoard(Callback):
    """Event files in the run's folder, or in another; InputError at once where the package tensorboard is missing."""

    def __init__(self, folder: str | Path | None = None) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise InputError("TensorBoard needs the package tensorboard; install it with: pip install 'sestra[train]'") from error
        self._writer, self._folder = SummaryWriter, folder
        self._events: Any = None

    def on_train_begin(self, trainer: Trainer, notices: Sequence[str]) -> None:
        del notices
        folder = self._folder or trainer.folder.path / "tensorboard"
        self._events = self._writer(str(folder), purge_step=trainer.progress.epoch + 1)

    def on_epoch_end(self, record: Record) -> None:
        for name, value in record.items():
            if name != "epoch":
                self._events.add_scalar(name, value, record["epoch"])

    def on_train_end(self) -> None:
        if self._events is not None:
            self._events.close()

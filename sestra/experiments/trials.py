"""One trial: an ordinary run in an ordinary run folder, resumed if it is there, and evaluated when it has ended."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sestra.data import locate, sources
from sestra.data.scone import Interaction
from sestra.data.sources import Source
from sestra.errors import InputError
from sestra.experiments import records
from sestra.experiments.grid import Trial, describe, differences
from sestra.io import write_json
from sestra.learning.callbacks import Callback
from sestra.learning.config import TrainConfig
from sestra.learning.learners.registry import LEARNERS
from sestra.learning.policies.registry import POLICIES
from sestra.registry import Registry
from sestra.worlds import WORLDS, get_world

if TYPE_CHECKING:
    from sestra.learning.run_folder import RunFolder
    from sestra.learning.trainer import Trainer

State = Literal["ended", "stopped", "failed"]
LOCK_TIMEOUT = 60.0
"""Seconds to wait for another process to release the run, such as a worker whose driver has just died."""


@dataclass(frozen=True)
class Conditions:
    """What holds for all trials of a command, and is no part of a run's configuration."""

    runs: Path
    data: Path | None = None
    """The folder with the data, found by the driver; None for generated interactions."""
    splits: bool = True
    """Whether the policy is evaluated on dev, and on test where the data has it, when training has ended."""
    deadline: float | None = None
    """When to stop, in seconds as ``time.time`` counts them."""
    plateau: int = 0
    """Epochs without a better validation accuracy after which a run counts as ended (0: as its configuration says)."""
    strict: bool = False
    """Whether a run that is there with other settings is an error."""

    def load(self, world: str) -> tuple[list[Interaction], Source]:
        """What to train on."""
        return sources.load(world, "train", self.data, generated=self.data is None)

    def available_splits(self, world: str) -> tuple[str, ...]:
        """What a policy is evaluated on: dev, and test if the data has it; generated data has no test split."""
        if not self.splits:
            return ()
        if self.data is None:
            return ("dev",)
        return tuple(split for split in ("dev", "test") if (get_world(world).name, split) in locate.files(self.data))


@dataclass(frozen=True)
class Outcome:
    """What became of a trial; a worker sends it to the driver."""

    name: str
    state: State
    record: dict[str, Any] | None = None
    message: str = ""


@dataclass(frozen=True)
class Job:
    """All that a worker is given."""

    name: str
    system: str
    config: dict[str, Any]
    """As JSON: the worker finds the classes that it names by itself."""
    conditions: Conditions
    source: Source
    """What the driver found to train on: a worker that finds anything else must not train on it."""
    registered: dict[str, dict[str, type[Any]]]
    """What the driver registered in Python, by kind and name."""

    @classmethod
    def of(cls, trial: Trial, conditions: Conditions, source: Source) -> Job:
        return cls(trial.name, trial.system, trial.config.to_json(), conditions, source, registered())


REGISTRIES: tuple[Registry[Any], ...] = (WORLDS, POLICIES, LEARNERS)


def registered() -> dict[str, dict[str, type[Any]]]:
    """The worlds, policies and learners that this process registered itself, by kind."""
    return {registry.kind: registry.registered() for registry in REGISTRIES}


class _StopBetweenEpochs(Callback):
    """Ends a training between two epochs."""

    def __init__(self, training: Trainer, conditions: Conditions) -> None:
        self.training, self.conditions = training, conditions
        self.began = time.time()

    def on_epoch_end(self, record: dict[str, Any]) -> bool:
        del record
        now = time.time()
        lasted, self.began = now - self.began, now
        return self.no_better or self.late(lasted)

    @property
    def no_better(self) -> bool:
        progress, plateau = self.training.progress, self.conditions.plateau
        return bool(plateau and progress.epoch > self.training.warm_up_epochs and progress.epoch - progress.best_epoch >= plateau)

    def late(self, next_epoch: float = 0.0) -> bool:
        """Whether another epoch as long as the last would end after the deadline."""
        deadline = self.conditions.deadline
        return deadline is not None and time.time() + next_epoch > deadline


def work_on(job: Job) -> Outcome:
    """Train what is left of a trial, then evaluate it; a fault of the input is an outcome, everything else an exception."""
    try:
        return _work_on(job)
    except InputError as error:
        return Outcome(job.name, "failed", message=str(error))


def _work_on(job: Job) -> Outcome:
    from sestra.learning.run_folder import RunFolder
    from sestra.learning.runtime_settings import use_one_core
    from sestra.learning.trainer import Trainer

    use_one_core()
    for registry in REGISTRIES:
        for name, item in job.registered[registry.kind].items():
            registry.register(name, item)
    trial, conditions = Trial(job.name, TrainConfig.from_json(job.config, job.name).located(), job.system), job.conditions
    interactions, source = conditions.load(trial.config.world)
    if source != job.source:
        raise InputError(
            f"{socket.gethostname()}: has other data than the driver ({source.name}, {source.sha256[:12]}, not {job.source.name}, "
            f"{job.source.sha256[:12]}); give all machines the same, in the same folder"
        )
    folder = RunFolder(conditions.runs / trial.name)
    with _alone(folder):
        found = folder.config() if folder.exists() else trial.config
        different = differences(trial.config, found)
        if different and (conditions.strict or found.world != trial.config.world):
            raise InputError(f"{folder.path}: holds a run with other settings ({describe(different)}); choose another folder with --out")
        found.check()
        training = Trainer(found, interactions, folder)
        if folder.exists():
            folder.check_source(source)
            training.resume()
        else:
            folder.create(found, training.vocabulary, source)
        training.callback = between = _StopBetweenEpochs(training, conditions)
        if not between.no_better:
            if training.unfinished and between.late():
                return Outcome(job.name, "stopped")
            training.run()
            if not between.no_better and training.unfinished:
                return Outcome(job.name, "stopped")
        splits = conditions.available_splits(found.world)
        return Outcome(job.name, "ended", records.make(trial, training, different, splits, conditions.data, conditions.plateau))


NOTE = "worker.json"
"""In a run's folder while a worker is training it: which worker."""


@contextmanager
def _alone(folder: RunFolder) -> Iterator[None]:
    """Lock the run, and note who has it."""
    note = folder.path / NOTE
    with folder.locked(LOCK_TIMEOUT):
        try:
            write_json(note, {"host": socket.gethostname(), "pid": os.getpid()})
            yield
        finally:
            note.unlink(missing_ok=True)

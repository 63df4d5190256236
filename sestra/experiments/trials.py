"""One trial from beginning to end: an ordinary run in an ordinary run folder, continued if it is there, and measured when it has ended."""

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
from sestra.data.sources import Source
from sestra.errors import InputError
from sestra.experiments.grid import Trial, describe, differences
from sestra.io import write_json
from sestra.worlds import WORLDS, World, get_world

if TYPE_CHECKING:
    from sestra.learning.run_folder import RunFolder
    from sestra.learning.trainer import Training

State = Literal["ended", "stopped", "wrong", "failed"]
PATIENCE_WITH_LOCKS = 60.0
"""Seconds to wait for another process to leave the run, such as a worker whose driver has just died."""


@dataclass(frozen=True)
class Conditions:
    """What holds for all trials of a command, and is no part of a run's configuration."""

    runs: Path
    data: Path | None = None
    """The folder with the data, found by the driver; None for generated interactions."""
    splits: bool = True
    """Whether the policy is measured on dev, and on test where it is at hand, when training has ended."""
    deadline: float | None = None
    """When to stop, in seconds as ``time.time`` counts them."""
    flat: int = 0
    """Epochs without a better validation accuracy after which a run counts as ended (0: as its configuration says)."""
    strict: bool = False
    """Whether a run that is there with other settings is an error."""


@dataclass(frozen=True)
class Outcome:
    """What became of a trial; a worker sends it to the driver."""

    trial: Trial
    state: State
    record: dict[str, Any] | None = None
    message: str = ""


@dataclass(frozen=True)
class Job:
    """All that a worker is given."""

    trial: Trial
    conditions: Conditions
    source: Source
    """What the driver found to train on: a worker that finds anything else must not train on it."""
    token: str = ""
    """Tells this attempt from others, in the note that the worker leaves in the run's folder."""
    world: type[World[Any]] | None = None
    """The world, if it is the user's own and not the package's."""


class _Stop(Exception):  # noqa: N818
    """Raised between two epochs, when the checkpoint has been written."""


class _Between:
    """Watches a training and ends it between two epochs."""

    def __init__(self, training: Training, conditions: Conditions) -> None:
        self.training, self.conditions = training, conditions
        self.began = time.time()

    def batch(self, done: int, total: int, objective: float) -> None:
        pass

    def epoch(self, _: dict[str, Any]) -> None:
        now = time.time()
        lasted, self.began = now - self.began, now
        if self.flat or self.late(lasted):
            raise _Stop

    @property
    def flat(self) -> bool:
        progress, warm_up = self.training.progress, self.training.config.warm_up
        return bool(self.conditions.flat and progress.epoch > warm_up and progress.epoch - progress.best_epoch >= self.conditions.flat)

    def late(self, next_epoch: float = 0.0) -> bool:
        """Whether another epoch as long as the last would end after the deadline."""
        deadline = self.conditions.deadline
        return deadline is not None and time.time() + next_epoch > deadline


def find_source(world: str, data: Path | None) -> Source:
    return sources.load(world, "train", data, generated=data is None)[1]


def work_on(job: Job) -> Outcome:
    """Train what is left of a trial, then measure it; whatever is the input's fault is an outcome, all else an exception."""
    try:
        return _work_on(job)
    except InputError as error:
        return Outcome(job.trial, "wrong", message=str(error))


def _work_on(job: Job) -> Outcome:
    from sestra.experiments import records
    from sestra.learning.run_folder import RunFolder
    from sestra.learning.runtime_settings import use_one_core
    from sestra.learning.trainer import Training

    use_one_core()
    trial, conditions = job.trial, job.conditions
    if job.world:
        WORLDS.register(trial.config.world, job.world)
    interactions, source = sources.load(trial.config.world, "train", conditions.data, generated=conditions.data is None)
    if source != job.source:
        raise InputError(
            f"{socket.gethostname()}: has other data than the driver ({source.name}, {source.sha256[:12]}, not {job.source.name}, "
            f"{job.source.sha256[:12]}); give all machines the same, in the same folder"
        )
    folder = RunFolder(conditions.runs / trial.name)
    with _alone(folder, job.token):
        found = folder.config() if folder.exists() else trial.config
        different = differences(trial.config, found)
        if different and (conditions.strict or found.world != trial.config.world):
            raise InputError(f"{folder.path}: holds a run with other settings ({describe(different)}); choose another folder with --out")
        found.check()
        training = Training(found, interactions, folder)
        if folder.exists():
            folder.check_source(source)
            training.resume()
        else:
            folder.create(found, training.vocabulary, source)
        training.watch = between = _Between(training, conditions)
        if not between.flat:
            if training.unfinished and between.late():
                return Outcome(trial, "stopped")
            try:
                training.run()
            except _Stop:
                if not between.flat and training.unfinished:
                    return Outcome(trial, "stopped")
        splits = available_splits(found.world, conditions.data) if conditions.splits else ()
        return Outcome(trial, "ended", records.make(trial, training, different, conditions, splits))


def available_splits(world: str, data: Path | None) -> tuple[str, ...]:
    """What can be measured: dev, and test if it is at hand; generated data has no test."""
    if data is None:
        return ("dev",)
    return tuple(split for split in ("dev", "test") if (get_world(world).name, split) in locate.files(data))


NOTE = "worker.json"
"""In a run's folder while a worker is at it: who."""


@contextmanager
def _alone(folder: RunFolder, token: str) -> Iterator[None]:
    """Keep others out of the run, and say who is at it."""
    note = folder.path / NOTE
    with folder.alone(PATIENCE_WITH_LOCKS):
        try:
            write_json(note, {"token": token, "host": socket.gethostname(), "pid": os.getpid()})
            yield
        finally:
            note.unlink(missing_ok=True)

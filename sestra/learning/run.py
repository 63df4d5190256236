"""Training from Python: ``run = sestra.train(world="tangrams", out="runs/mine")``. The command ``sestra train`` is the same with flags."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sestra.agent import Agent
from sestra.agent.evaluation import evaluate_split
from sestra.data import sources
from sestra.data.sources import Data
from sestra.errors import InputError, check_number
from sestra.io import read_json, write_json
from sestra.learning import checkpoint
from sestra.learning import export as exporting
from sestra.learning.callbacks import Callback, Callbacks, Record
from sestra.learning.config import PLUGINS, Preset, TrainConfig, configure
from sestra.learning.examples import KeepExamples
from sestra.learning.learners import distillation
from sestra.learning.learners.base import Learner
from sestra.learning.policies.registry import PolicyConfig
from sestra.learning.run_folder import RunFolder, Trained
from sestra.learning.runtime_settings import use_one_core
from sestra.learning.trainer import Trainer
from sestra.worlds import WORLDS, World


@dataclass(frozen=True)
class Run:
    """A trained run: ``sestra.train`` returns it, and ``Run("runs/mine")`` is that of an earlier one."""

    path: str | Path
    data: Data = None
    """What ``evaluate`` looks for a split in."""

    @property
    def folder(self) -> RunFolder:
        return RunFolder(Path(self.path))

    @property
    def config(self) -> TrainConfig:
        """All settings."""
        return self.folder.config()

    @property
    def history(self) -> list[Record]:
        """The records of all epochs; a figure that there is none of is not a number."""
        lines = self.folder.metrics.read_text(encoding="utf-8").splitlines()
        records = [{name: math.nan if value is None else value for name, value in json.loads(line).items()} for line in lines]
        if self.folder.times.exists():  # earlier versions had the seconds in the metrics
            records = [{**record, "seconds": seconds} for record, seconds in zip(records, read_json(self.folder.times), strict=True)]
        return records

    @property
    def best(self) -> Record:
        """The record of the epoch whose model was selected on validation."""
        _, selected = checkpoint.load(self.folder.model)
        found: Record = self.history[selected["epoch"] - 1]
        return found

    def agent(self) -> Agent:
        """The selected model as an agent that follows instructions."""
        return Agent.from_pretrained(self.path)

    def evaluate(self, split: str = "dev", data: Data = None) -> Record:
        """What ``sestra evaluate`` measures, and writes to results.json in the run's folder: ``inst``, ``utts3``, ``utts5``, ...

        The data is a folder with the split's file, the file itself, or interactions; by default what the run was given.
        """
        data = self.data if data is None else data
        if data is self.data is not None and (not isinstance(data, str | Path) or Path(data).is_file()):
            raise InputError(f"{self.path}: was given its training data alone, not a folder with a split {split!r}; give evaluate its data")
        record = evaluate_split(self.agent(), split, data).record
        write_json(self.folder.path / "results.json", record)
        return record


def train(
    world: str | type[World[Any]] = "alchemy",
    data: Data = None,
    policy: str | PolicyConfig = "attention",
    learner: str | Learner | None = None,
    out: str | Path = "runs/latest",
    *,
    preset: Preset = "default",
    callbacks: Sequence[Callback | Callable[[Record], object]] = (),
    resume: bool = False,
    checkpoint_minutes: float = 10.0,
    device: str = "cpu",
    **settings: Any,
) -> Run:
    """Train a policy from start and goal states, and export it as an agent; everything is in the folder ``out`` afterwards.

    World, policy and learner are names or references as on the command line; a world may also be its class, policy and learner their
    dataclasses, such as ``ObjectConfig(layers=3)``. ``data`` is a folder with files such as ``alchemy-train.tsv``, one such file, or a list
    of ``sestra.data.scone.Interaction``; without it SCONE where it is found, else generated interactions.

    ``settings`` are the flags of ``sestra train`` by their names: ``epochs=20, batch_size=32, seed=7``. Each callback is a function of an
    epoch's record, or a ``sestra.Callback``; training stops after the epoch for which one returns True. With ``resume=True`` the run in
    ``out`` continues with its own settings, and all others are ignored. A checkpoint is written after each epoch and, in longer ones, after
    so many minutes. A callback that sets ``trainer.stop_requested`` stops the run after the batch, to be resumed; no agent is exported.

    What is wrong is found before the first epoch: settings, data, the folder, a policy that cannot be exported. It is an InputError.
    """
    config = None if resume else _configure(world, policy, learner, {"preset": preset, **settings})
    return train_config(config, data, out, callbacks=callbacks, checkpoint_minutes=checkpoint_minutes, device=device)


def train_config(
    config: TrainConfig | None,
    data: Data,
    out: str | Path,
    *,
    callbacks: Sequence[Callback | Callable[[Record], object]] = (),
    checkpoint_minutes: float = 10.0,
    device: str = "cpu",
) -> Run:
    """The same with all settings in one object; None: those of the run in ``out``, which is resumed."""
    folder, callback, threads = RunFolder(Path(out)), Callbacks([KeepExamples(), *callbacks]), torch.get_num_threads()
    check_number("--checkpoint-minutes", checkpoint_minutes, 0, 1_000_000, whole=False)
    resuming = config is None
    if resuming and not folder.resumable:
        raise InputError(f"{out}: holds no run to resume; leave --resume away, and name a new folder, to start one")
    if config is None:
        config = folder.config()
    else:
        folder.check_unused()
        config = distillation.with_absolute_names(config)
    config.check()
    config = config.located()
    interactions, source = sources.load(config.world, "train", data)
    if resuming:
        folder.check_source(source)
    use_one_core()
    try:
        trainer = Trainer(config, interactions, folder, device)
        trainer.callback, trainer.checkpoint_seconds = callback, 60 * checkpoint_minutes
        if not resuming:
            _check_export(trainer)
        with folder.locked():
            if resuming:
                notices = [f"skipped {complaint}" for complaint in trainer.resume()]
            else:
                folder.create(config, trainer.vocabulary, source)
                notices = []
            if source.generated:
                notices.append(f"No data of {trainer.tables.world.name} was found: training on generated interactions.")
            try:
                callback.on_train_begin(trainer, notices)
                trainer.run()
            finally:
                callback.on_train_end()
            if not (trainer.stop_requested and trainer.unfinished):
                exporting.export_run(folder, trainer.validation)
    finally:
        torch.set_num_threads(threads)
    return Run(folder.path, data)


def _configure(world: str | type[World[Any]], policy: Any, learner: Any, rest: dict[str, Any]) -> TrainConfig:
    """The settings as the command line makes them from flags, each checked."""
    given = {"policy": policy, "learner": learner}
    values = rest | {"world": world if isinstance(world, str) else WORLDS.reference(_class(world))}
    for name, value in given.items():
        if value is not None:
            values[name] = value if isinstance(value, str) else PLUGINS[name].reference(_class(value, instance=True))
    config = configure(values).changed(**{name: value for name, value in given.items() if not isinstance(value, str | None)})
    return TrainConfig.from_json(config.to_json(), "settings")


def _class(given: Any, *, instance: bool = False) -> Any:
    if isinstance(given, type) == instance:
        what = "an object of a class, such as ObjectConfig()" if instance else "a class, such as Kitchen"
        raise InputError(f"{given!r}: expected a name, a reference or {what}")
    return type(given) if instance else given


def _check_export(trainer: Trainer) -> None:
    """Raise InputError if the policy cannot be exported, which is then known before it is trained; what is traced here is not again."""
    policy = copy.deepcopy(trainer.policy).cpu()
    with torch.random.fork_rng(devices=()):
        exporting.export_trained(Trained(trainer.config, trainer.vocabulary, trainer.tables, policy, {}))

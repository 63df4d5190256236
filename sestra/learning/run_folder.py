"""The folder of a training run: what is in it, and how a trained policy is loaded.

config.json  vocab.json  metrics.jsonl  model.safetensors  checkpoints/epoch-0007.safetensors
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import filelock

from sestra.agent.execution import Execution
from sestra.data.batch import Turns
from sestra.data.sources import Source
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.io import build, make_folder, read_json, write_json
from sestra.learning import checkpoint, migrations
from sestra.learning.config import TrainConfig
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import execute_greedily
from sestra.worlds import get_world
from sestra.worlds.tables import Tables, compile_world

KEPT = 2
"""Checkpoints that are kept: if the newest is damaged, the one before it is used."""


@dataclass(frozen=True)
class RunFolder:
    path: Path

    @property
    def model(self) -> Path:
        return self.path / "model.safetensors"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    def exists(self) -> bool:
        return (self.path / "config.json").exists()

    @property
    def resumable(self) -> bool:
        """Whether it is a run."""
        return self.exists() and (self.path / "checkpoints").is_dir()

    def create(self, config: TrainConfig, vocabulary: Vocabulary, source: Source) -> None:
        """Make the folder of a new run."""
        self.check_unused()
        make_folder(self.path / "checkpoints", "choose another folder with --out")
        write_json(self.path / "vocab.json", list(vocabulary.words))
        write_json(self.path / "data.json", dataclasses.asdict(source))
        write_json(self.path / "config.json", config.to_json())

    def check_unused(self) -> None:
        """Raise InputError if it is the folder of a run."""
        if self.exists():
            raise InputError(f"{self.path}: holds a run already; continue it with --resume, or choose another folder with --out")

    def config(self) -> TrainConfig:
        place = self.path / "config.json"
        return TrainConfig.from_json(read_json(place), str(place), self.path)

    def source(self) -> Source:
        source: Source = build(Source, read_json(self.path / "data.json"), str(self.path / "data.json"))
        return source

    def check_source(self, found: Source) -> None:
        """Raise InputError if the run was trained on other data."""
        was = self.source()
        if was != found:
            raise InputError(
                f"{self.path}: was trained on {was.name} ({was.sha256[:12]}), but {found.name} ({found.sha256[:12]}) was found; "
                "point --data or SCONE_DATA to the same data (for generated data, to nothing), or choose another folder for the run"
            )

    def vocabulary(self) -> Vocabulary:
        place = self.path / "vocab.json"
        words = read_json(place)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InputError(f"{place}: is not a list of words; the file is damaged, use another run")
        return Vocabulary(tuple(words))

    @contextmanager
    def locked(self, timeout: float = 0.0) -> Iterator[None]:
        """Lock the run against other processes, waiting up to ``timeout`` seconds; the system releases the lock of a dead process."""
        lock = filelock.FileLock(self.path / "lock", timeout=timeout)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except filelock.Timeout as error:
            raise InputError(f"{self.path}: another process works on this run; let it end, or stop it, and start again") from error
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written ({error.strerror}); choose another folder with --out or --runs") from error
        try:
            yield
        finally:
            lock.release()

    def checkpoint(self, epoch: int) -> Path:
        return self.path / "checkpoints" / f"epoch-{epoch:04}.safetensors"

    def checkpoints(self) -> list[Path]:
        """Newest first."""
        return sorted((self.path / "checkpoints").glob("epoch-*.safetensors"), reverse=True)

    def remove_unfinished_files(self) -> None:
        """Remove what a killed run had begun to write."""
        for unfinished in self.path.rglob(".*.part"):
            unfinished.unlink(missing_ok=True)

    def remove_old_checkpoints(self) -> None:
        for old in self.checkpoints()[KEPT:]:
            old.unlink()


@dataclass(frozen=True)
class Trained:
    """The selected policy of a run, with all that is needed to evaluate it (``sestra.agent.evaluation.Evaluated``)."""

    config: TrainConfig
    vocabulary: Vocabulary
    tables: Tables
    policy: Policy
    chosen: dict[str, Any]
    """The selected epoch and its validation figures."""

    @property
    def world_reference(self) -> str:
        return self.config.world

    @property
    def verbosity(self) -> float:
        return self.config.rollout.verbosity

    @property
    def batch_size(self) -> int:
        return self.policy.evaluation_batch_size

    @property
    def training(self) -> dict[str, Any]:
        config = self.config
        return {"learner": config.learner_name, "seed": config.seed, "chosen": self.chosen, "config": config.to_json()}

    def execute(self, turns: Turns) -> Execution:
        return execute_greedily(self.policy, self.tables, turns, self.config.rollout.execution_horizon)


def load_trained(folder: RunFolder) -> Trained:
    """The selected policy of a run."""
    config, vocabulary = folder.config(), folder.vocabulary()
    try:
        config.check()
    except InputError as error:
        raise InputError(f"{folder.path / 'config.json'}: {error}") from error
    tables = compile_world(get_world(config.world))
    if not folder.model.exists():
        raise InputError(f"{folder.model}: no such file; train at least one epoch with 'sestra train --resume --out {folder.path}'")
    tensors, chosen = checkpoint.load(folder.model)
    if migrations.version_of(read_json(folder.path / "config.json")) == 1:
        tensors = migrations.migrate_weights(tensors)
    policy = config.build_policy(tables, vocabulary)
    try:
        policy.load_state_dict(tensors)
    except RuntimeError as error:
        raise checkpoint.CheckpointError(
            f"{folder.model}: does not fit the config.json beside it ({shorten(str(error), 200)}); use another run"
        ) from error
    return Trained(config, vocabulary, tables, policy.eval(), chosen)

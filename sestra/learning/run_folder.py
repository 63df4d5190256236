"""The folder of a training run: what is in it, and how a trained policy is read back.

config.json  vocab.json  metrics.jsonl  model.safetensors  checkpoints/epoch-0007.safetensors
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from textwrap import shorten
from typing import Any

import filelock

from sestra.data.sources import Source
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.io import make_folder, read_json, write_json
from sestra.learning import checkpoint
from sestra.learning.config import TrainConfig, build
from sestra.learning.policies.registry import AttentionPolicy, Ensemble, ObjectPolicy, make_policy
from sestra.worlds import get_world
from sestra.worlds.tables import Tables, compile_world

KEPT = 2
"""Checkpoints that are kept, so that a damaged one has one before it."""


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
        """Whether it is a run, and not a policy that was exported or joined from some."""
        return self.exists() and (self.path / "checkpoints").is_dir()

    @property
    def exported(self) -> bool:
        """Whether it is a shipped policy, and not a run: it does not say which data it came from."""
        return not (self.path / "data.json").exists()

    def create(self, config: TrainConfig, vocabulary: Vocabulary, source: Source) -> None:
        """A new run's."""
        if self.exists():
            raise InputError(f"{self.path}: holds a run already; continue it with --resume, or choose another folder with --out")
        make_folder(self.path / "checkpoints", "choose another folder with --out")
        self.describe(config, vocabulary, source)

    def describe(self, config: TrainConfig, vocabulary: Vocabulary, source: Source) -> None:
        """Write what does not change, the configuration last."""
        write_json(self.path / "vocab.json", list(vocabulary.words))
        write_json(self.path / "data.json", dataclasses.asdict(source))
        write_json(self.path / "config.json", dataclasses.asdict(config))

    def config(self) -> TrainConfig:
        config: TrainConfig = build(TrainConfig, read_json(self.path / "config.json"), str(self.path / "config.json"))
        return config

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
    def alone(self, patience: float = 0.0) -> Iterator[None]:
        """Keep other processes from working on the run, after waiting so many seconds for one; the system lifts the lock of a dead one."""
        lock = filelock.FileLock(self.path / "lock", timeout=patience)
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

    def forget_unfinished_files(self) -> None:
        """What a run that was killed had begun to write."""
        for unfinished in self.path.rglob(".*.part"):
            unfinished.unlink(missing_ok=True)

    def forget_old_checkpoints(self) -> None:
        for old in self.checkpoints()[KEPT:]:
            old.unlink()


@dataclass(frozen=True)
class Trained:
    """A policy with all that is needed to use it."""

    config: TrainConfig
    vocabulary: Vocabulary
    tables: Tables
    policy: AttentionPolicy | ObjectPolicy | Ensemble
    chosen: dict[str, Any]
    """The epoch that was best, and its validation figures."""


def load_trained(folder: RunFolder) -> Trained:
    """The best policy of a run."""
    config, vocabulary = folder.config(), folder.vocabulary()
    config.check()
    tables = compile_world(get_world(config.world))
    if not folder.model.exists():
        raise InputError(f"{folder.model}: no such file; train at least one epoch with 'sestra train --resume --out {folder.path}'")
    tensors, chosen = checkpoint.load(folder.model)

    def fresh() -> AttentionPolicy | ObjectPolicy:
        return make_policy(config.policy, tables, vocabulary)

    policy: AttentionPolicy | ObjectPolicy | Ensemble = fresh()
    names = list(policy.state_dict())
    count = len(tensors) // len(names)
    if set(tensors) == {f"members.{number}.{name}" for number in range(count) for name in names}:
        policy = Ensemble([fresh() for _ in range(count)])
    try:
        policy.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    except RuntimeError as error:
        raise checkpoint.CheckpointError(
            f"{folder.model}: does not fit the config.json beside it ({shorten(str(error), 200)}); use another run"
        ) from error
    return Trained(config, vocabulary, tables, policy.eval(), chosen)


def join(folders: Sequence[RunFolder], to: RunFolder) -> None:
    """Write the best policies of several runs, which differ in their seeds or in how they were trained, as one that decides by their mean.

    The folder can be measured and exported as that of a run, but not resumed.
    """
    if len({folder.path.resolve() for folder in folders}) < max(len(folders), 2):
        raise InputError(f"{', '.join(str(folder.path) for folder in folders)}: expected two or more runs, each of them once")
    for folder in folders:
        if folder.exported:
            raise InputError(f"{folder.path}: is an exported policy, which does not say what it was trained on; join the runs themselves")
    loaded = [load_trained(folder) for folder in folders]
    first, source = loaded[0], folders[0].source()
    for folder, other in zip(folders, loaded, strict=True):
        if isinstance(other.policy, Ensemble):
            raise InputError(f"{folder.path}: is several runs joined; name these instead")
        for what in ("config.world", "config.policy", "vocabulary"):
            if attrgetter(what)(other) != attrgetter(what)(first):
                raise InputError(f"{folder.path}: has another {what.rpartition('.')[2]} than {folders[0].path}; join runs that share it")
        if folder.source() != source:
            raise InputError(f"{folder.path}: was trained on other data than {folders[0].path}; join runs that share it")
    if to.path.exists():
        raise InputError(f"{to.path}: is there already; choose another folder with --to")
    policy = Ensemble([trained.policy for trained in loaded if not isinstance(trained.policy, Ensemble)])
    members = [{"seed": trained.config.seed, "learner": trained.config.learner, **trained.chosen} for trained in loaded]
    make_folder(to.path, "choose another folder with --to")
    checkpoint.save(to.model, policy.state_dict(), {"members": members})
    to.describe(first.config, first.vocabulary, source)

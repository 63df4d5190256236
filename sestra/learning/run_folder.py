"""The folder of a training run: what is in it, and how a trained policy is loaded.

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

from sestra import pretrained
from sestra.data.sources import Source
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.io import make_folder, read_json, write_json
from sestra.learning import checkpoint, migrations
from sestra.learning.config import TrainConfig
from sestra.learning.policies.base import Policy
from sestra.learning.policies.ensemble import Ensemble
from sestra.learning.settings import build
from sestra.worlds import get_world
from sestra.worlds.tables import Tables, compile_world

KEPT = 2
"""Checkpoints that are kept: if the newest is damaged, the one before it is used."""


@dataclass(frozen=True)
class RunFolder:
    path: Path

    @classmethod
    def find(cls, name: str | Path) -> RunFolder:
        """That of a shipped agent, by name, or of a run."""
        return cls(pretrained.find(name))

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
        """Whether it is a run, and not an exported policy or an ensemble."""
        return self.exists() and (self.path / "checkpoints").is_dir()

    @property
    def exported(self) -> bool:
        """Whether it is an exported policy, and not a run: it does not say which data it was trained on."""
        return not (self.path / "data.json").exists()

    def create(self, config: TrainConfig, vocabulary: Vocabulary, source: Source) -> None:
        """Make the folder of a new run."""
        if self.exists():
            raise InputError(f"{self.path}: holds a run already; continue it with --resume, or choose another folder with --out")
        make_folder(self.path / "checkpoints", "choose another folder with --out")
        self.describe(config, vocabulary, source)

    def describe(self, config: TrainConfig, vocabulary: Vocabulary, source: Source) -> None:
        """Write the files that do not change, the configuration last."""
        write_json(self.path / "vocab.json", list(vocabulary.words))
        write_json(self.path / "data.json", dataclasses.asdict(source))
        write_json(self.path / "config.json", config.to_json())

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
    """A trained policy with all that is needed to use it."""

    config: TrainConfig
    vocabulary: Vocabulary
    tables: Tables
    policy: Policy
    chosen: dict[str, Any]
    """The selected epoch and its validation figures; of an ensemble, those of its ``members``."""


def load_trained(folder: RunFolder) -> Trained:
    """The selected policy of a run, or an exported one."""
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
    policies = [config.build_policy(tables, vocabulary) for _ in chosen.get("members", [None])]
    policy: Policy = Ensemble(policies) if "members" in chosen else policies[0]
    try:
        policy.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    except RuntimeError as error:
        raise checkpoint.CheckpointError(
            f"{folder.model}: does not fit the config.json beside it ({shorten(str(error), 200)}); use another run"
        ) from error
    return Trained(config, vocabulary, tables, policy.eval(), chosen)


def write_ensemble(folders: Sequence[RunFolder], to: RunFolder) -> None:
    """Write the selected policies of several runs, which differ in seeds or training settings, as one ensemble.

    The folder can be evaluated and exported like a run's, but not resumed.
    """
    if len({folder.path.resolve() for folder in folders}) < max(len(folders), 2):
        raise InputError(f"{', '.join(str(folder.path) for folder in folders)}: expected two or more runs, each of them once")
    for folder in folders:
        if folder.exported:
            raise InputError(f"{folder.path}: is an exported policy, which does not say what it was trained on; join the runs themselves")
    loaded = [load_trained(folder) for folder in folders]
    first, source = loaded[0], folders[0].source()
    for folder, other in zip(folders, loaded, strict=True):
        if "members" in other.chosen:
            raise InputError(f"{folder.path}: is an ensemble; name its runs instead")
        for what in ("config.world", "config.policy", "vocabulary"):
            if attrgetter(what)(other) != attrgetter(what)(first):
                raise InputError(f"{folder.path}: has another {what.rpartition('.')[2]} than {folders[0].path}; join runs that share it")
        if folder.source() != source:
            raise InputError(f"{folder.path}: was trained on other data than {folders[0].path}; join runs that share it")
    if to.path.exists():
        raise InputError(f"{to.path}: is there already; choose another folder with --to")
    policy = Ensemble([trained.policy for trained in loaded])
    members = [{"seed": trained.config.seed, "learner": trained.config.learner_name, **trained.chosen} for trained in loaded]
    make_folder(to.path, "choose another folder with --to")
    checkpoint.save(to.model, policy.state_dict(), {"members": members})
    to.describe(first.config, first.vocabulary, source)

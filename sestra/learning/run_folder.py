"""The folder of a training run: what is in it, and how a trained policy is loaded.

run.json  config.json  vocab.json  data.json  metrics.jsonl  times.json  examples.json  model.safetensors
checkpoints/epoch-0007.safetensors
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import filelock

from sestra.agent.execution import Execution
from sestra.data.batch import Turns
from sestra.data.sources import Source
from sestra.data.vocabulary import MAX_WORD_LENGTH, Vocabulary
from sestra.errors import InputError
from sestra.io import (
    MAX_TEXT,
    build,
    make_folder,
    parse_json,
    read_bytes,
    read_json,
    remove_unfinished_files,
    to_json,
    write_json,
    write_text,
)
from sestra.learning import checkpoint, migrations
from sestra.learning.config import TrainConfig
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import execute_greedily
from sestra.worlds import get_world
from sestra.worlds.tables import Tables, compile_world

FORMAT = 1
MANIFEST, CONFIG, VOCABULARY, SOURCE = "run.json", "config.json", "vocab.json", "data.json"
BEGUN_WITH = (VOCABULARY, SOURCE, CONFIG)
"""The files that never change; what is in them decides every bit of the run."""
KEPT = 2
"""Checkpoints that are kept: if the newest is damaged, the one before it is used."""
CHECKPOINT = re.compile(r"epoch-(\d{4,9})(?:-batch-(\d{1,9}))?\.safetensors")


@dataclass(frozen=True)
class Manifest:
    """What run.json holds."""

    run: str
    """What checkpoints and the model name as their run: a checksum of the files that the run began with."""
    files: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of every file; that of the model is the one in its metadata, of all that is in it."""
    format: int = FORMAT

    @classmethod
    def of(cls, files: Mapping[str, str]) -> Manifest:
        begun_with = "".join(f"{name} {files.get(name)}\n" for name in BEGUN_WITH)
        return cls(hashlib.sha256(begun_with.encode()).hexdigest(), dict(files))


@dataclass(frozen=True)
class RunFolder:
    path: Path

    @property
    def model(self) -> Path:
        return self.path / "model.safetensors"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def times(self) -> Path:
        return self.path / "times.json"

    def exists(self) -> bool:
        return (self.path / CONFIG).exists()

    @property
    def resumable(self) -> bool:
        """Whether it is a run."""
        return self.exists() and (self.path / "checkpoints").is_dir()

    def create(self, config: TrainConfig, vocabulary: Vocabulary, source: Source) -> None:
        """Make the folder of a new run."""
        self.check_unused()
        make_folder(self.path / "checkpoints", "choose another folder with --out")
        self.remove_unfinished_files()
        contents = {VOCABULARY: list(vocabulary.words), SOURCE: dataclasses.asdict(source), CONFIG: config.to_json()}
        texts = {name: to_json(value, indent=2) + "\n" for name, value in contents.items()}
        manifest = Manifest.of({name: _sha256(text.encode()) for name, text in texts.items()})
        write_json(self.path / MANIFEST, manifest)
        for name, text in texts.items():  # the configuration last: a folder that has it is complete
            write_text(self.path / name, text)

    def check_unused(self) -> None:
        """Raise InputError if it holds a run, or files that no run has begun to write; a killed one may have been at it."""
        if self.exists():
            raise InputError(f"{self.path}: holds a run already; continue it with --resume, or choose another folder with --out")
        names = {each.name for each in self.path.iterdir()} if self.path.is_dir() else set()
        begun = {"checkpoints", MANIFEST, *BEGUN_WITH} if names & {"checkpoints", MANIFEST} else set()
        foreign = sorted(name for name in names - begun - {"lock", "worker.json"} if not name.endswith(".part"))
        if foreign:
            raise InputError(f"{self.path}: has other files in it, such as {foreign[0]}; choose another folder with --out")

    def manifest(self) -> Manifest:
        """InputError where it is not that of the files that it lists."""
        place = self.path / MANIFEST
        if not place.exists():
            raise InputError(f"{place}: no such file; an earlier version of sestra began the run: continue it with that version")
        manifest: Manifest = build(Manifest, read_json(place), str(place))
        if manifest.format != FORMAT or manifest.run != Manifest.of(manifest.files).run:
            raise InputError(f"{place}: was changed, or another version of sestra wrote it; put the original back, or start another run")
        return manifest

    def check(self) -> str:
        """The name of the run; InputError if any of the files that it began with was changed."""
        for name in BEGUN_WITH:
            self._read(name)
        return self.manifest().run

    def _read(self, name: str) -> Any:
        """One of the files that the run began with; InputError if it was changed. Runs of earlier versions have no manifest."""
        place = self.path / name
        content = read_bytes(place, MAX_TEXT)
        if (self.path / MANIFEST).exists() and self.manifest().files.get(name) != _sha256(content):
            raise InputError(f"{place}: is not as the run wrote it (its checksum differs); put the original back, or start another run")
        return parse_json(content, place)

    def config(self) -> TrainConfig:
        return TrainConfig.from_json(self._read(CONFIG), str(self.path / CONFIG), self.path)

    def source(self) -> Source:
        source: Source = build(Source, self._read(SOURCE), str(self.path / SOURCE))
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
        words = self._read(VOCABULARY)
        if not isinstance(words, list) or not all(isinstance(word, str) and len(word) <= MAX_WORD_LENGTH for word in words):
            raise InputError(f"{self.path / VOCABULARY}: is not a list of words of up to {MAX_WORD_LENGTH} characters; use another run")
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

    def checkpoint(self, epoch: int, batch: int = 0) -> Path:
        """After that many epochs and, within the next one, that many batches."""
        within = f"-batch-{batch}" if batch else ""
        return self.path / "checkpoints" / f"epoch-{epoch:04}{within}.safetensors"

    def checkpoints(self) -> list[Path]:
        """Newest first."""
        found = [(matched, path) for path in (self.path / "checkpoints").iterdir() if (matched := CHECKPOINT.fullmatch(path.name))]
        return [path for _, path in sorted(found, key=lambda pair: (int(pair[0][1]), int(pair[0][2] or 0)), reverse=True)]

    def write_results(self, history: Sequence[Mapping[str, Any]], times: Sequence[float]) -> None:
        """The metrics of every epoch, the seconds until its end, and the manifest with the checksums of metrics and model."""
        metrics = "".join(f"{to_json(record)}\n" for record in history)
        write_text(self.metrics, metrics)
        write_json(self.times, list(times))
        files = {name: digest for name, digest in self.manifest().files.items() if name in BEGUN_WITH}
        files[self.metrics.name] = _sha256(metrics.encode())
        if self.model.exists():
            files[self.model.name] = checkpoint.checksum(self.model)
        write_json(self.path / MANIFEST, Manifest.of(files))

    def remove_unfinished_files(self) -> None:
        """Remove what a killed run had begun to write."""
        for folder in (self.path, self.path / "checkpoints"):
            remove_unfinished_files(folder)

    def remove_old_checkpoints(self) -> None:
        for old in self.checkpoints()[KEPT:]:
            old.unlink()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
        tables = compile_world(get_world(config.world))
        policy = config.build_policy(tables, vocabulary)
    except InputError as error:
        raise InputError(f"{folder.path / CONFIG}: {error}") from error
    if not folder.model.exists():
        raise InputError(f"{folder.model}: no such file; train at least one epoch with 'sestra train --resume --out {folder.path}'")
    tensors, chosen = checkpoint.load(folder.model, 2 * checkpoint.size(policy) + MAX_TEXT)
    if (run := chosen.pop("run", None)) is not None:  # earlier versions did not store it
        manifest = folder.manifest()
        if run != manifest.run or checkpoint.checksum(folder.model) != manifest.files.get(folder.model.name):
            raise InputError(
                f"{folder.model}: is not the model of this run, or the run was killed as it wrote it; "
                f"'sestra train --resume --out {folder.path}' restores it"
            )
    if migrations.version_of(read_json(folder.path / CONFIG)) == 1:
        tensors = migrations.migrate_weights(tensors)
    checkpoint.restore(policy, tensors, folder.model, "the config.json beside it")
    return Trained(config, vocabulary, tables, policy.eval(), chosen)

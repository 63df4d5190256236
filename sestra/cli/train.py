"""``sestra train``: one run, with a progress bar, TensorBoard and resume."""

from __future__ import annotations

import dataclasses
import math
import signal
import sys
import threading
import typing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import tyro

from sestra.cli.options import DataFolder, Folder, Json, Switch, print_json
from sestra.cli.setting_flags import field_help, given
from sestra.errors import InputError, check_number
from sestra.learning.config import DECIDING, GROUPS, PLUGINS, TrainConfig, configure
from sestra.worlds import WORLDS, get_world

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from sestra.learning.trainer import Trainer

COMMON = ("world", "policy", "learner", "preset", "seed", "epochs", "batch_size", "learning_rate", "teacher")
"""Settings that stand at the top of the help; the others follow in their groups."""


@dataclass(frozen=True)
class TrainFlags:
    """Train a policy from start and goal states.

    Defaults depend on --world, --policy, --learner and --preset; --help-all shows all flags.
    """

    out: Folder = Path("runs/latest")
    """The run's folder: configuration, checkpoints, metrics and the selected model."""
    resume: Switch = False
    """Resume the run in --out from its last checkpoint, with its own configuration: all other settings are ignored."""
    data: DataFolder = None
    checkpoint_minutes: float = 10.0
    """After how many minutes a checkpoint is also written within an epoch, not only at its end."""
    tensorboard: Switch = False
    """Also write TensorBoard event files into the run's folder."""
    json: Json = False

    defaults: ClassVar[TrainConfig]
    """The settings before the flags change them."""

    @property
    def config(self) -> TrainConfig:
        values = {name: getattr(self, name) for name in COMMON if name not in DECIDING}
        for group in GROUPS:
            if settings := getattr(self, f"{group}_settings", None):
                values |= vars(settings)
        return self.defaults.changed(**values)

    def run(self) -> int:
        from rich.console import Console

        from sestra.data import sources
        from sestra.learning.export import export_run
        from sestra.learning.learners import distillation
        from sestra.learning.run_folder import RunFolder
        from sestra.learning.runtime_settings import use_one_core
        from sestra.learning.trainer import Trainer

        check_number("--checkpoint-minutes", self.checkpoint_minutes, 0, 1_000_000, whole=False)
        tensorboard = _import_tensorboard() if self.tensorboard else None
        use_one_core()
        console = Console(stderr=True, highlight=False)
        folder = RunFolder(self.out)
        resuming = self.resume and folder.resumable
        if self.resume and not resuming:
            raise InputError(f"{self.out}: holds no run to resume; leave --resume away, and name a new folder, to start one")
        config = folder.config() if resuming else self.config
        if config.teacher and not resuming:
            config = replace(config, teacher=distillation.absolute_name(config.teacher))
        config.check()
        config = replace(config, world=WORLDS.reference(type(get_world(config.world))))  # where it is found from anywhere
        interactions, source = sources.load(config.world, "train", self.data)
        if resuming:
            folder.check_source(source)
        training = Trainer(config, interactions, folder)
        training.checkpoint_seconds = 60 * self.checkpoint_minutes
        with folder.locked(), stopping(training) as received:
            if resuming:
                for complaint in training.resume():
                    console.print(f"skipped {complaint}", markup=False)
                console.print(f"Resuming after {reached(training)}, with the settings that the run began with.")
            else:
                folder.create(config, training.vocabulary, source)
            if source.generated:
                console.print("SCONE was not found: training on generated interactions (see 'sestra data download').")
            try:
                with ProgressBars(training, console, tensorboard) as bars:
                    training.callback = bars
                    progress = training.run()
                if not training.unfinished:
                    export_run(folder, training.validation)
            except KeyboardInterrupt:
                received.append(signal.SIGINT)
            if received:
                advice = f"continue with: sestra train --resume --out {self.out}"
                console.print(f"Stopped after {reached(training)}; {advice}", markup=False, soft_wrap=True)
                return 128 + received[0]
        best = {**progress.history[progress.best_epoch - 1], "seconds": progress.times[progress.best_epoch - 1]}
        if self.json:
            print_json({"world": config.world, "learner": config.learner_name, "seed": config.seed, "epochs": progress.epoch, "best": best})
        else:
            sys.stdout.write(
                f"{self.out}: of {progress.epoch} epochs, {best['epoch']} is selected, with Inst {best['inst']:.1f}, "
                f"3utts {best['utts3']:.1f} and 5utts {best['utts5']:.1f} on validation; evaluate it with: sestra evaluate {self.out}\n"
            )
        return 0


def reached(training: Trainer) -> str:
    """Where the training stands."""
    progress = training.progress
    return f"epoch {progress.epoch}" + (f" and batch {progress.sums.batches} of the next" if progress.sums.batches else "")


@contextmanager
def stopping(training: Trainer) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM end the training after the batch, with a checkpoint; a second one ends it at once. Gives what was received."""
    received: list[int] = []

    def stop(number: int, _frame: object) -> None:
        received.append(number)
        if training.stop_requested or not training.unfinished:
            raise KeyboardInterrupt
        training.stop_requested = True

    if threading.current_thread() is not threading.main_thread():  # which alone may set what signals do
        yield received
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _import_tensorboard() -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InputError("--tensorboard needs the package tensorboard; install it with: pip install 'sestra[plot]'") from error
    return SummaryWriter


class ProgressBars:
    """A bar for the epochs, one for the batches, a line per epoch; and TensorBoard."""

    def __init__(self, training: Trainer, console: Any, tensorboard: Any = None) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self.training = training
        self.bars: Progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"), console=console, speed_estimate_period=600,
        )  # fmt: skip
        epoch = training.progress.epoch
        self.epochs: TaskID = self.bars.add_task("epochs", total=training.epochs, completed=epoch, note="")
        self.batches: TaskID = self.bars.add_task("batches", total=None, note="")
        self.events = tensorboard and tensorboard(str(training.folder.path / "tensorboard"), purge_step=epoch + 1)

    def __enter__(self) -> ProgressBars:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()
        if self.events:
            self.events.close()

    def on_batch_end(self, done: int, total: int, objective: float) -> None:
        if done == 1:
            self.bars.reset(self.batches)  # its clock stops when all batches are done
        self.bars.update(self.batches, completed=done, total=total, note=f"objective {objective:.3f}")

    def on_epoch_end(self, record: dict[str, Any]) -> None:
        figures = f"Inst {record['inst']:.1f}  3utts {record['utts3']:.1f}  5utts {record['utts5']:.1f}"
        sampled = "" if math.isnan(record["train_inst"]) else f"  train Inst {record['train_inst']:.1f}"
        self.bars.update(self.epochs, completed=record["epoch"], note=f"the best is epoch {self.training.progress.best_epoch}")
        self.bars.print(
            f"epoch {record['epoch']:3}  objective {record['objective']:.3f}{sampled}  "
            f"validation reward {record['reward']:.3f}  {figures}  {record['seconds']:.0f} s"
        )
        if self.events:
            for name, value in record.items():
                if name != "epoch":
                    self.events.add_scalar(name, value, record["epoch"])


def command(arguments: Sequence[str]) -> type[TrainFlags]:
    """The command with a flag for each setting of the policy and the learner that the arguments name."""
    own = arguments[1:] if arguments[:1] == ["train"] else []
    found = given(own, *DECIDING, "epochs")
    config = configure({name: value for name, value in found.items() if name != "epochs"})
    if "epochs" in found:
        config = config.changed(min_updates=0)
    common: dict[str, tuple[Any, Any]] = {}
    groups = []
    for group, part in {"": config, **{group: getattr(config, group) for group in GROUPS}}.items():
        flags = _flags(part, hide_rare=not {"-h", "--help"}.isdisjoint(own))  # what tyro suppresses is not accepted either
        common |= {name: flags.pop(name) for name in COMMON if name in flags}
        if group and flags:
            settings = dataclasses.make_dataclass(f"{group}_settings", [(name, *rest) for name, rest in flags.items()], frozen=True)
            settings.__doc__ = (type(part).__doc__ or "").partition("\n")[0]
            groups.append((f"{group}_settings", Annotated[settings, tyro.conf.arg(name=group)], settings()))
    first = dataclasses.make_dataclass("CommonFlags", [(name, *common[name]) for name in COMMON], frozen=True)
    made = dataclasses.make_dataclass("Train", groups, bases=(TrainFlags, first), frozen=True, namespace={"defaults": config})
    made.__doc__ = TrainFlags.__doc__
    return typing.cast("type[TrainFlags]", made)


def _flags(part: Any, *, hide_rare: bool) -> dict[str, tuple[Any, Any]]:
    """Of each field, its annotation with help and its default."""
    hints, texts, values = typing.get_type_hints(type(part)), field_help(type(part)), vars(part)
    flags: dict[str, tuple[Any, Any]] = {}
    for each in dataclasses.fields(part):
        hint, value = hints[each.name], values[each.name]
        metavar = None
        if isinstance(part, TrainConfig) and each.name in PLUGINS:
            hint, value = str, getattr(part, f"{each.name}_name")
            metavar = f"{{{','.join(PLUGINS[each.name].names())}}}"
        elif isinstance(part, TrainConfig) and each.name == "world":
            metavar = f"{{{','.join(WORLDS.names())}}}"
        marks: list[Any] = [tyro.conf.arg(help=texts.get(each.name), metavar=metavar, help_behavior_hint="" if value == "" else None)]
        if each.metadata.get("rare") and hide_rare:
            marks.append(tyro.conf.Suppress)
        flags[each.name] = Annotated[(hint, *marks)], value
    return flags

"""``sestra train``: one run, with a progress bar, TensorBoard, a clean end by signals, and resume."""

from __future__ import annotations

import dataclasses
import shlex
import signal
import sys
import threading
import typing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import tyro

from sestra.cli.options import DataFolder, Folder, Json, Switch, print_json
from sestra.cli.progress import ProgressBars, accuracies, reached
from sestra.cli.setting_flags import field_help, given
from sestra.learning.config import DECIDING, GROUPS, PLUGINS, TrainConfig, configure
from sestra.worlds import WORLDS

COMMON = ("world", "policy", "learner", "preset", "seed", "epochs", "batch_size", "learning_rate", "teacher", "init_from")
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
    device: Annotated[str, tyro.conf.arg(metavar="{cpu,cuda}")] = "cpu"
    """Where the policy computes; the built-in policies run on the CPU alone."""
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
        from sestra.learning.callbacks import Callback, TensorBoard
        from sestra.learning.run import train_config

        bars = ProgressBars()
        callbacks: list[Callback] = [bars, *([TensorBoard()] if self.tensorboard else [])]
        where = shlex.join([str(self.out), *(["--data", str(self.data)] if self.data else [])])
        with stopping(bars) as received:
            try:
                run = train_config(
                    None if self.resume else self.config,
                    self.data,
                    self.out,
                    callbacks=callbacks,
                    checkpoint_minutes=self.checkpoint_minutes,
                    device=self.device,
                )
            except KeyboardInterrupt:
                received.append(signal.SIGINT)
        if received:
            if bars.trainer:
                bars.print(f"Stopped after {reached(bars.trainer)}; continue with: sestra train --resume --out {where}")
            return 128 + received[0]
        config, best, epochs = run.config, run.best, len(run.history)
        if self.json:
            print_json({"world": config.world, "learner": config.learner_name, "seed": config.seed, "epochs": epochs, "best": best})
        else:
            sys.stdout.write(
                f"{self.out}: of {epochs} epochs, {best['epoch']} is selected, with {', '.join(accuracies(best))} on validation; "
                f"evaluate it with: sestra evaluate {where}\n"
            )
        return 0


@contextmanager
def stopping(bars: ProgressBars) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM end the training after the batch, with a checkpoint; a second one ends it at once. Gives what was received."""
    received: list[int] = []

    def stop(number: int, _frame: object) -> None:
        received.append(number)
        trainer = bars.trainer
        if trainer is None or trainer.stop_requested or not trainer.unfinished:
            raise KeyboardInterrupt
        trainer.stop_requested = True

    if threading.current_thread() is not threading.main_thread():  # which alone may set what signals do
        yield received
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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

"""``sestra train``: one run, with a progress bar, TensorBoard and resume."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import tyro

from sestra.cli.options import OptionalFolder, Switch, print_json
from sestra.errors import InputError
from sestra.learning.config import LearnerName, Network, Preset, TrainConfig, preset
from sestra.worlds import WORLDS, get_world

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from sestra.learning.trainer import Training


@dataclass(frozen=True)
class Train:
    """Train a policy from start and goal states; a flag's default depends on --world, --network, --learner and --preset."""

    out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path("runs/latest")
    """The run's folder: configuration, checkpoints, metrics and the best model."""
    resume: Switch = False
    """Continue the run in --out from its last checkpoint; its own configuration is used, whatever other flags say."""
    data: OptionalFolder = None
    """Where SCONE's files are; by default SCONE_DATA, the user's cache, or else generated interactions."""
    tensorboard: Switch = False
    """Also write TensorBoard's event files into the run's folder."""
    json: Switch = False
    """Print the best epoch's figures as one JSON object at the end."""
    config: TrainConfig = field(default_factory=TrainConfig)
    """What is trained and how."""

    def run(self) -> int:
        from rich.console import Console

        from sestra.data import sources
        from sestra.learning.learners import distillation as teaching
        from sestra.learning.run_folder import RunFolder
        from sestra.learning.runtime_settings import use_one_core
        from sestra.learning.trainer import Training

        use_one_core()
        console = Console(stderr=True, highlight=False)
        folder = RunFolder(self.out)
        resuming = self.resume and folder.resumable
        if self.resume and not resuming:
            raise InputError(f"{self.out}: holds no run to resume; leave --resume away, and name a new folder, to start one")
        config = folder.config() if resuming else self.config
        if config.teacher and not resuming:
            config = replace(config, teacher=teaching.in_full(config.teacher))
        config.check()
        config = replace(config, world=WORLDS.reference(type(get_world(config.world))))  # where it is found from anywhere
        interactions, source = sources.load(config.world, "train", self.data)
        if resuming:
            folder.check_source(source)
        training = Training(config, interactions, folder)
        with folder.alone():
            if resuming:
                for complaint in training.resume():
                    console.print(f"passed over {complaint}", markup=False)
                console.print(f"Resuming after epoch {training.progress.epoch}, with the settings that the run began with.")
            else:
                folder.create(config, training.vocabulary, source)
            if source.generated:
                console.print("SCONE was not found: training on generated interactions (see 'sestra data download').")
            try:
                with Bars(training, console, self.tensorboard) as bars:
                    training.watch = bars
                    progress = training.run()
            except KeyboardInterrupt:
                advice = f"continue with: sestra train --resume --out {self.out}"
                console.print(f"Stopped in epoch {training.progress.epoch + 1}; {advice}", markup=False)
                return 130
        best = progress.history[progress.best_epoch - 1]
        if self.json:
            print_json({"world": config.world, "learner": config.learner, "seed": config.seed, "epochs": progress.epoch, "best": best})
        else:
            sys.stdout.write(
                f"{self.out}: of {progress.epoch} epochs {best['epoch']} is chosen, with Inst {best['inst']:.1f}, "
                f"3utts {best['utts3']:.1f} and 5utts {best['utts5']:.1f} on validation; measure it with: sestra evaluate {self.out}\n"
            )
        return 0


class Bars:
    """A bar for the epochs, one for the batches, a line an epoch; and TensorBoard."""

    def __init__(self, training: Training, console: Any, tensorboard: bool) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self.training = training
        self.bars: Progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"), console=console, speed_estimate_period=600,
        )  # fmt: skip
        self.epochs: TaskID = self.bars.add_task("epochs", total=training.config.epochs, completed=training.progress.epoch, note="")
        self.batches: TaskID = self.bars.add_task("batches", total=None, note="")
        self.events = self._open_events() if tensorboard else None

    def _open_events(self) -> Any:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise InputError("--tensorboard needs the package tensorboard; install it with: pip install 'sestra[plot]'") from error
        return SummaryWriter(str(self.training.folder.path / "tensorboard"), purge_step=self.training.progress.epoch + 1)

    def __enter__(self) -> Bars:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()
        if self.events:
            self.events.close()

    def batch(self, done: int, total: int, objective: float) -> None:
        self.bars.update(self.batches, completed=done, total=total, note=f"objective {objective:.3f}")

    def epoch(self, record: dict[str, Any]) -> None:
        figures = f"Inst {record['inst']:.1f}  3utts {record['utts3']:.1f}  5utts {record['utts5']:.1f}"
        self.bars.update(self.epochs, completed=record["epoch"], note=f"the best is epoch {self.training.progress.best_epoch}")
        self.bars.print(
            f"epoch {record['epoch']:3}  objective {record['objective']:.3f}  train Inst {record['train_inst']:.1f}  "
            f"validation reward {record['reward']:.3f}  {figures}  {record['seconds']:.0f} s"
        )
        if self.events:
            for name, value in record.items():
                if name != "epoch":
                    self.events.add_scalar(name, value, record["epoch"])


def with_defaults(arguments: Sequence[str]) -> Train:
    """A run with the settings that --world, --network, --learner and --preset name; whatever else is wrong, tyro will say."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    for flag in ("--world", "--learner", "--preset", "--network"):
        parser.add_argument(flag)
    try:
        chosen, _ = parser.parse_known_args(list(arguments))
    except argparse.ArgumentError:
        return Train()
    try:
        world = chosen.world or TrainConfig.world
        get_world(world)
    except InputError:
        world = TrainConfig.world
    learner = chosen.learner if chosen.learner in get_args(LearnerName) else None
    network = chosen.network if chosen.network in get_args(Network) else TrainConfig.network
    name = chosen.preset if chosen.preset in get_args(Preset) else TrainConfig.preset
    return Train(config=preset(name, world, learner, network))

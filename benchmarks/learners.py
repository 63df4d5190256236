"""What the comparison of all learners costs: ``python benchmarks/learners.py [--world tangrams] [--preset paper] [--epochs 20] [--json]``.

The comparison is the figure ``observations.svg`` of ``sestra paper report``. For every learner, some updates with fresh weights are timed
on one thread, in processor time, so that other programs on the machine do not count. From these follow the processor minutes of a run and
the number of observations. A trained policy executes instructions in fewer steps, so later epochs take less.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import tyro
from timing import WorldOptions, one_core, show

from sestra.data import sources
from sestra.data.batch import batches
from sestra.errors import check_number
from sestra.experiments.grid import LEARNERS, SYSTEMS
from sestra.experiments.verdicts import Reading
from sestra.learning.progress import Permutations
from sestra.learning.run_folder import RunFolder
from sestra.learning.trainer import Trainer

WARM_UP = 2
"""Updates before timing starts."""


@dataclass(frozen=True)
class Options(WorldOptions):
    """Estimate what the comparison of all learners takes."""

    preset: Reading = "paper"
    """The settings of the paper's text, or of the program that its authors released."""
    epochs: int = 20
    """Of each run."""
    updates: int = 20
    """Updates to time, at most an epoch's."""


@dataclass(frozen=True)
class Figure:
    """What one run of a learner takes."""

    world: str
    learner: str
    instructions: float
    """Per processor second."""
    observations: float
    """Per instruction."""
    minutes_per_epoch: float
    """Of the processor, without validation."""
    minutes: float
    """Of all epochs."""


def measure(options: Options, world: str, system: str, folder: Path) -> Figure:
    interactions, _ = sources.load(world, "train", options.data)
    config = SYSTEMS[system].config(world, 1, options.preset)
    training = Trainer(config, interactions, RunFolder(folder / system))
    training.policy.train()
    drawn = batches(training.train, config.optimisation.batch_size, Permutations(training.generator).replayed())
    todo = [batch for _, batch in zip(range(WARM_UP + options.updates), drawn, strict=False)]
    for batch in todo[:WARM_UP]:
        training.update(training.augment(batch))
    begun, observed = time.process_time(), 0
    for batch in todo[WARM_UP:]:
        observed += training.update(training.augment(batch)).observations
    done = sum(map(len, todo[WARM_UP:]))
    speed = done / (time.process_time() - begun)
    minutes = len(training.train) / speed / 60
    return Figure(world, system, speed, observed / done, minutes, options.epochs * minutes)


def numbers(figure: Figure) -> tuple[float, float, float, float]:
    return figure.instructions, figure.observations, figure.minutes_per_epoch, figure.minutes


def main() -> None:
    options = tyro.cli(Options)
    with one_core(), tempfile.TemporaryDirectory() as folder:
        check_number("--updates", options.updates, 1)
        check_number("--epochs", options.epochs, 1)
        figures = [measure(options, world, system, Path(folder) / world) for world in options.worlds for system in LEARNERS]
    totals = {world: sum(figure.minutes for figure in figures if figure.world == world) for world in options.worlds}
    flags = f"--systems learners --preset {options.preset} --seeds 1 --epochs {options.epochs}"
    show(
        options.json,
        {**{name: getattr(options, name) for name in ("preset", "epochs", "updates")}, "runs": [asdict(each) for each in figures]},
        f"all learners, preset {options.preset}, one thread, processor time",
        ("world", "learner", "instructions/s", "observations per instruction", "minutes per epoch", f"minutes, {options.epochs} epochs"),
        [
            (each.world, each.learner, *(f"{figure:.{digits}f}" for figure, digits in zip(numbers(each), (0, 1, 2, 0), strict=True)))
            for each in figures
        ],
        *(f"{world}: {total:.0f} minutes for: sestra paper run --worlds {world} {flags}" for world, total in totals.items()),
        left=2,
    )


if __name__ == "__main__":
    main()

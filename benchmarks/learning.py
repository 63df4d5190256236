"""How long the agents take to learn: ``python benchmarks/learning.py [--world alchemy] [--json]``.

Times updates of the object policy with its default settings on one thread: with fresh weights, as in the first epoch of a run, and with
those of the shipped agent, as in all later ones. From these it computes the time of a run, and of all networks of the agent. Validation,
about one second per epoch, is not included.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import tyro
from timing import WorldOptions, one_core, peak_gflops, seconds, show

from sestra.agent import folder as agent_folder
from sestra.data import sources
from sestra.data.batch import Turns, batches
from sestra.errors import InputError, check_number
from sestra.learning.config import preset
from sestra.learning.export import load_weights
from sestra.learning.progress import Permutations
from sestra.learning.run_folder import RunFolder
from sestra.learning.trainer import Trainer

WARM_UP = 5
"""Updates before timing starts."""


@dataclass(frozen=True)
class Options(WorldOptions):
    """Time the training of the shipped agents."""

    updates: int = 60
    """Updates to time, at most an epoch's."""


@dataclass(frozen=True)
class Figure:
    """What the training of one agent takes."""

    world: str
    instructions: int
    """Per epoch."""
    epochs: int
    fresh: float
    """Instructions per second with fresh weights."""
    trained: float
    """Instructions per second with the agent's weights."""
    networks: int
    """Of the ensemble."""
    minutes_a_network: float
    minutes: float


def measure(options: Options, world: str, folder: Path) -> Figure:
    interactions, _ = sources.load(world, "train", options.data)
    config = preset("default", world, policy="objects")
    training = Trainer(config, interactions, RunFolder(folder))
    shipped = agent_folder.read(agent_folder.find(world))
    if training.vocabulary != shipped.vocabulary:
        raise InputError(
            f"{world}: the shipped agent learnt from other interactions than these, or with other settings; name SCONE's folder with --data"
        )
    fresh = speed(training, options.updates)
    load_weights(training.policy, world)
    for group in training.optimiser.param_groups:
        group["lr"] = 0.0  # they stay the agent's
    trained = speed(training, options.updates)
    minutes = len(training.train) / 60 * (1 / fresh + (training.epochs - 1) / trained)
    return Figure(
        world, len(training.train), training.epochs, fresh, trained, len(shipped.networks), minutes, len(shipped.networks) * minutes
    )


def speed(training: Trainer, updates: int) -> float:
    """Instructions per second."""
    training.policy.train()
    drawn = batches(training.train, training.config.optimisation.batch_size, Permutations(torch.Generator().manual_seed(0)).replayed())
    todo = [batch for _, batch in zip(range(WARM_UP + updates), drawn, strict=False)]

    def update(some: list[Turns]) -> None:
        for batch in some:
            training.update(training.augment(batch))

    update(todo[:WARM_UP])
    return sum(map(len, todo[WARM_UP:])) / seconds(lambda: update(todo[WARM_UP:]))


def main() -> None:
    options = tyro.cli(Options)
    with one_core(), tempfile.TemporaryDirectory() as folder:
        check_number("--updates", options.updates, 1)
        figures = [measure(options, world, Path(folder)) for world in options.worlds]
        peak = peak_gflops()
    show(
        options.json,
        {"updates": options.updates, "agents": [asdict(figure) for figure in figures], "peak_gflops": peak},
        "training of the shipped agents, one thread",
        ("world", "instructions", "epochs", "per second, fresh", "per second, trained", "networks", "minutes per network", "minutes"),
        [
            (
                *(figure.world, f"{figure.instructions:,}", str(figure.epochs), f"{figure.fresh:.0f}", f"{figure.trained:.0f}"),
                *(str(figure.networks), f"{figure.minutes_a_network:.1f}", f"{figure.minutes:.1f}"),
            )
            for figure in figures
        ],
        f"one large matrix product: {peak:.0f} GFLOP/s",
    )


if __name__ == "__main__":
    main()

"""How long the agents take to learn: ``python benchmarks/learning.py [--world alchemy] [--json]``.

Times updates of the object policy with its default settings on one thread, first with fresh weights, as in a run's first epoch, then with
those of the shipped agent, as in all others, and says how long a run and the agent's networks take in all. Validation is not counted: it
takes about a second an epoch.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import torch
import tyro
from rich.console import Console
from rich.table import Table
from training import peak_gflops

from sestra import pretrained
from sestra.data import sources
from sestra.data.batch import batches
from sestra.errors import InputError
from sestra.experiments.grid import WORLDS_OF_PAPER
from sestra.learning.config import preset
from sestra.learning.policies.ensemble import Ensemble
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.learning.runtime_settings import use_one_core
from sestra.learning.trainer import Trainer, permutations

WARM_UP = 5
"""Updates that are made first and not timed."""


@dataclass(frozen=True)
class Options:
    """Time the training of the shipped agents."""

    world: Literal["all", "alchemy", "scene", "tangrams"] = "all"
    """Which world."""
    updates: int = 60
    """Updates to time, at most an epoch's."""
    data: Path | None = None
    """Where SCONE's files are."""
    json: bool = False
    """Print one JSON object instead of a table."""


@dataclass(frozen=True)
class Figure:
    """What the training of one agent takes."""

    world: str
    instructions: int
    """That an epoch has."""
    epochs: int
    fresh: float
    """Instructions a second with fresh weights."""
    trained: float
    """Instructions a second with the agent's weights."""
    networks: int
    """How many runs the agent joins."""
    minutes_a_network: float
    minutes: float


def measure(options: Options, world: str, folder: Path) -> Figure:
    interactions, _ = sources.load(world, "train", options.data)
    config = preset("default", world, policy="objects")
    training = Trainer(config, interactions, RunFolder(folder))
    shipped = load_trained(pretrained.find(world))
    if training.vocabulary != shipped.vocabulary:
        raise InputError(
            f"{world}: the shipped agent learnt from other interactions than these, or with other settings; name SCONE's folder with --data"
        )
    members = list(shipped.policy.members) if isinstance(shipped.policy, Ensemble) else [shipped.policy]
    fresh = speed(training, options.updates)
    training.policy.load_state_dict(members[0].state_dict())
    for group in training.optimiser.param_groups:
        group["lr"] = 0.0  # they stay the agent's
    trained = speed(training, options.updates)
    seconds = len(training.train) * (1 / fresh + (training.epochs - 1) / trained)
    return Figure(world, len(training.train), training.epochs, fresh, trained, len(members), seconds / 60, len(members) * seconds / 60)


def speed(training: Trainer, updates: int) -> float:
    """Instructions a second."""
    training.policy.train()
    todo = batches(training.train, training.config.optimisation.batch_size, permutations(torch.Generator().manual_seed(0)))
    for _, batch in zip(range(WARM_UP), todo, strict=False):
        training.update(training.augment(batch))
    done, begun = 0, time.perf_counter()
    for _, batch in zip(range(updates), todo, strict=False):
        training.update(training.augment(batch))
        done += len(batch)
    return done / (time.perf_counter() - begun)


def main() -> None:
    options = tyro.cli(Options)
    if options.updates < 1:
        sys.exit(f"learning: --updates {options.updates}; expected at least 1")
    use_one_core()
    worlds = WORLDS_OF_PAPER if options.world == "all" else (options.world,)
    try:
        with tempfile.TemporaryDirectory() as folder:
            figures = [measure(options, world, Path(folder)) for world in worlds]
    except InputError as error:
        sys.exit(f"learning: {error}")
    if options.json:
        result = {"updates": options.updates, "agents": [asdict(figure) for figure in figures], "peak_gflops": peak_gflops()}
        print(json.dumps(result, indent=2))
        return
    table = Table(title="training of the shipped agents, one thread")
    columns = ("world", "instructions", "epochs", "a second, fresh", "a second, trained", "networks", "minutes a network", "minutes")
    for column in columns:
        table.add_column(column, justify="left" if column == "world" else "right")
    for figure in figures:
        table.add_row(
            *(figure.world, f"{figure.instructions:,}", str(figure.epochs), f"{figure.fresh:.0f}", f"{figure.trained:.0f}"),
            *(str(figure.networks), f"{figure.minutes_a_network:.1f}", f"{figure.minutes:.1f}"),
        )
    console = Console(width=120)
    console.print(table)
    console.print(f"one large matrix product: {peak_gflops():.0f} GFLOP/s")


if __name__ == "__main__":
    main()

"""How fast training and evaluation are, and where the time goes: ``python benchmarks/training.py [--world alchemy] [--json]``.

Every figure is one thread's, and the median of several rounds, with the slowest and the fastest. Beside each of SESTRA's stands the
authors' own program (DyNet, one core of a machine of the same kind, measured by running it; instructions per second with a fresh and with
a trained policy, and in evaluation).
"""

from __future__ import annotations

import copy
import dataclasses
import resource
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
import tyro
from timing import Rounds, WorldOptions, one_core, peak_gflops, seconds, show
from torch.utils.flop_counter import FlopCounterMode

from sestra import Agent, pretrained
from sestra.agent.evaluation import evaluate, executions
from sestra.agent.execution import Execution
from sestra.data import sources
from sestra.data.batch import Turns, batches, encode_turns
from sestra.errors import check_number
from sestra.learning.config import TrainConfig, preset
from sestra.learning.export import load_weights
from sestra.learning.progress import Permutations
from sestra.learning.run_folder import RunFolder
from sestra.learning.trainer import Trainer

LEARNERS = ("sestra", "policy-gradient", "contextual-bandit", "supervised")
AUTHORS = {"alchemy": (39, 110), "scene": (28, 65), "tangrams": (56, 138)}
"""The authors' program: instructions per second in training with SESTRA, fresh and trained."""
AUTHORS_EVALUATE = (300, 500)
"""The instructions per second at which it evaluates, from the slowest world to the fastest."""
ROUNDS = 5
"""Times that the same updates are made and the same turns evaluated."""


@dataclass(frozen=True)
class Options(WorldOptions):
    """Time training, learner by learner, with a fresh and a trained policy; and evaluation."""

    learner: Literal["all", "sestra", "policy-gradient", "contextual-bandit", "supervised"] = "all"
    """Which learner."""
    batch_size: int = 20
    """Instructions per update."""
    updates: int = 100
    """Updates to time."""


@dataclass(frozen=True)
class Figure:
    """One measurement of training."""

    world: str
    learner: str
    policy: str
    instructions: float
    """Per second, the median of the rounds."""
    range: tuple[float, float]
    """Of the slowest round and of the fastest."""
    actions: float
    """Mean per execution."""
    times: float | None
    """As many instructions per second as the authors' program in the same world."""
    shares: dict[str, float]
    """Of the time of the median round."""
    gflops: float
    """Matrix products' operations per second, in billions."""


PARTS = ("encoder", "decoder", "world", "backward", "optimiser", "rest")


@contextmanager
def timed(clock: dict[str, float], places: dict[str, list[tuple[Any, str]]]) -> Iterator[None]:
    """While it lasts, the time spent in each named method is added to the clock."""
    originals = [(owner, name, owner.__dict__.get(name)) for methods in places.values() for owner, name in methods]

    def watch(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                clock[part] += time.perf_counter() - begun

        return call

    for part, methods in places.items():
        for owner, name in methods:
            setattr(owner, name, watch(part, getattr(owner, name)))
    try:
        yield
    finally:
        for owner, name, original in originals:
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def measure(options: Options, world: str, learner: str, trained: bool, folder: Path) -> Figure | None:
    """A policy's updates on the first batches of an epoch."""
    interactions, _ = sources.load(world, "train", options.data)
    config = preset("paper", world, learner).changed(batch_size=options.batch_size, dropout=0.0)
    if trained:
        name = f"{world}-{'supervised' if learner == 'supervised' else 'sestra'}"
        if name not in pretrained.names():
            return None
        known = Agent.from_pretrained(name)
        stored = TrainConfig.from_json(known.training["config"], name)
        config = dataclasses.replace(config, policy=stored.policy, data=dataclasses.replace(stored.data, rename_symbols=False))
    training = Trainer(config, interactions, RunFolder(folder))
    if trained:
        if training.vocabulary != known.vocabulary:
            return None  # trained on other data
        load_weights(training.policy, name)
    training.policy.train()
    _ = training.tables.distance, training.tables.steps
    drawn = batches(training.train, options.batch_size, Permutations(training.generator).replayed())
    todo = [batch for _, batch in zip(range(options.updates), drawn, strict=False)]
    for batch in todo[:5]:
        training.update(batch)

    places: dict[str, list[tuple[Any, str]]] = {
        "encoder": [(training.policy, "encode")],
        "decoder": [(training.policy, name) for name in ("step", "select", "replay")],
        "world": [(training.tables, "step"), (training.tables, "demonstrate"), (training.tables, "edit_rewards")],
        "backward": [(torch.Tensor, "backward")],
        "optimiser": [(training.optimiser, "step")],
    }
    done, rounds, weights = sum(map(len, todo)), [], copy.deepcopy(training.policy.state_dict())
    for _ in range(ROUNDS):
        training.policy.load_state_dict(weights)
        clock: dict[str, float] = defaultdict(float)
        begun, steps = time.perf_counter(), 0
        with timed(clock, places):
            for batch in todo:
                steps += int(training.update(batch).execution.alive.sum())
        rounds.append((time.perf_counter() - begun, steps, clock))
    speeds = Rounds.of([done / elapsed for elapsed, _, _ in rounds])
    elapsed, steps, clock = sorted(rounds, key=lambda one: one[0])[ROUNDS // 2]
    clock["rest"] = elapsed - sum(clock.values())

    counter = FlopCounterMode(display=False)
    counted = 0
    with counter:
        for batch in todo[:5]:
            training.execute(batch, training.learner)
            counted += len(batch)
    per_instruction = 3 * (counter.get_total_flops() / counted + lstm_flops(training))  # the backward pass takes two products for each
    theirs = AUTHORS[world][trained] if learner == "sestra" else None
    return Figure(
        world,
        learner,
        "trained" if trained else "fresh",
        speeds.median,
        speeds[1:],
        steps / done,
        speeds.median / theirs if theirs else None,
        {part: clock[part] / elapsed for part in PARTS},
        speeds.median * per_instruction / 1e9,
    )


def lstm_flops(training: Trainer) -> float:
    """Of the instruction encoder, forward, per instruction: torch's counter does not see them."""
    sizes: Any = training.config.policy  # the attention policy's
    words = float(training.train.lengths.mean())
    return words * 2 * 2 * 4 * float(sizes.hidden * (sizes.embedding + sizes.hidden))


def evaluation_speed(options: Options, world: str) -> dict[str, Rounds] | None:
    """Executed instructions per second, greedily: alone, from their annotated starts, and in a whole evaluation.

    There an instruction is also a part of its interaction, but is executed again, and counted again, only if the interaction went astray
    before it.
    """
    name = f"{world}-sestra"
    if name not in pretrained.names():
        return None
    known = Agent.from_pretrained(name)
    interactions, _ = sources.load(world, "dev", options.data)
    turns = encode_turns(interactions, known.vocabulary, known.tables)

    executed = 0

    def execute(batch: Turns) -> Execution:
        nonlocal executed
        executed += len(batch)
        return known.execute(batch)

    def speed(follow: Callable[[], object]) -> Rounds:
        nonlocal executed
        speeds = []
        for _ in range(ROUNDS):
            executed = 0
            elapsed = seconds(follow)
            speeds.append(executed / elapsed)
        return Rounds.of(speeds)

    return {
        "executes": speed(lambda: list(executions(execute, turns, known.batch_size))),
        "evaluates": speed(lambda: evaluate(execute, known.tables, turns, batch_size=known.batch_size)),
    }


def times(speed: Rounds) -> list[float]:
    """As many as the authors' program, in its slowest world and in its fastest."""
    return [speed.median / theirs for theirs in AUTHORS_EVALUATE]


def main() -> None:
    options = tyro.cli(Options)
    learners = LEARNERS if options.learner == "all" else (options.learner,)
    with one_core(), tempfile.TemporaryDirectory() as folder:
        check_number("--batch-size", options.batch_size, 1)
        check_number("--updates", options.updates, 1)
        measured = [
            measure(options, world, learner, trained, Path(folder))
            for world in options.worlds
            for learner in learners
            for trained in (False, True)
        ]
        evaluated = {world: speeds for world in options.worlds if (speeds := evaluation_speed(options, world))}
        peak = peak_gflops()
    figures = [figure for figure in measured if figure]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = {
        "batch_size": options.batch_size,
        "training": [dataclasses.asdict(figure) for figure in figures],
        "evaluation": {
            world: {name: {"instructions": speed.median, "range": speed[1:], "times": times(speed)} for name, speed in speeds.items()}
            for world, speeds in evaluated.items()
        },
        "peak_gflops": peak,
        "memory_mb": memory,
    }
    rows = [
        (
            *(figure.world, figure.learner, figure.policy, Rounds(figure.instructions, *figure.range).text(), f"{figure.actions:.1f}"),
            f"{figure.times:.1f}" if figure.times else "",
            *(f"{figure.shares[part]:.0%}" for part in PARTS),
            f"{figure.gflops / peak:.0%}",
        )
        for figure in figures
    ]
    notes = []
    for world, speeds in evaluated.items():
        for name, speed in speeds.items():
            slowest, fastest = (f"{ratio:.1f} times {theirs}" for ratio, theirs in zip(times(speed), AUTHORS_EVALUATE, strict=True))
            notes.append(
                f"{world}: {name} {speed.text()} instructions per second, {slowest} and {fastest}, the authors' slowest and fastest"
            )
    show(
        options.json,
        result,
        f"training, batch size {options.batch_size}, one thread, medians of {ROUNDS} rounds",
        ("world", "learner", "policy", "instructions/s", "actions", "times the authors'", *PARTS, "of the product rate"),
        rows,
        *notes,
        f"one large matrix product: {peak:.0f} GFLOP/s; memory at most {memory:,.0f} MB",
        left=3,
        width=170,
    )


if __name__ == "__main__":
    main()

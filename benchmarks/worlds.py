"""How fast the compiled worlds are, beside the plain-Python ones: ``python benchmarks/worlds.py [--world alchemy] [--json]``.

Four things are timed, each for the same states, goals and actions on both sides, on one thread: the bare transition; a step as an
environment takes it (the transition, the action's reward, and which actions are valid next); the reward of every action; and a step as
SESTRA takes it (the transition and the reward of every action).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from timing import WorldOptions, one_core, show

from sestra.data.synthetic import splits
from sestra.errors import check_number
from sestra.worlds import STOP, Action, World, get_world
from sestra.worlds.reward import rewards, step_with_rewards
from sestra.worlds.tables import Tables, compile_world

VERBOSITY = 0.15
State = tuple[Any, ...]
Turn = tuple[State, State, Action]


@dataclass(frozen=True)
class Options(WorldOptions):
    """Time the worlds, batched on tables and in plain Python."""

    batch: int = 256
    """States per batch."""
    seconds: float = 2.0
    """Duration of each measurement."""


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    world: str
    measured: str
    unit: str
    batched: float
    plain: float

    @property
    def ratio(self) -> float:
        return self.batched / self.plain


# Plain Python: what the worlds' own methods give, state by state.


def plain_rewards(world: World[Any], state: State, goal: State) -> list[float]:
    here, found = world.state_distance(state, goal), []
    for action in world.actions[:-1]:
        after = world.apply(state, action)
        found.append(-1.0 - VERBOSITY if after == state else here - world.state_distance(after, goal) - VERBOSITY)
    return [*found, 1.0 if state == goal else -1.0]


def plain_step(world: World[Any], state: State, goal: State, action: Action) -> tuple[State, float, list[bool]]:
    after = world.apply(state, action)
    if action == STOP:
        reward = 1.0 if state == goal else -1.0
    elif after == state:
        reward = -1.0 - VERBOSITY
    else:
        reward = world.state_distance(state, goal) - world.state_distance(after, goal) - VERBOSITY
    return after, reward, [*(world.apply(after, choice) != after for choice in world.actions[:-1]), True]


# The same on the tables, for a whole batch.


def batched_step(
    tables: Tables, states: NDArray[np.int64], goals: NDArray[np.int64], actions: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """What ``sestra.envs.vector`` calls, with the arrays that it has."""
    at_horizon = np.zeros(len(states), np.bool_)  # [batch]
    after, reward, _ = step_with_rewards(tables, states, goals, actions, verbosity=VERBOSITY, at_horizon=at_horizon)
    return after, reward, tables.valid_actions(after)


def turns(tables: Tables, count: int) -> list[Turn]:
    """States and goals out of the generated interactions, as a policy meets them: on the way, with any action about to be taken."""
    world, generator = tables.world, torch.Generator().manual_seed(0)
    pairs = [(start, goal) for interaction in splits(world.name, seed=0)["train"] for _, start, goal in interaction.turns()]
    chosen = [pairs[index] for index in torch.randint(len(pairs), (count,), generator=generator).tolist()]
    actions = torch.randint(tables.actions, (2, count), generator=generator)  # [2, count]
    return [
        (world.apply(start, tables.action(first)), goal, tables.action(second))
        for (start, goal), first, second in zip(chosen, *actions.tolist(), strict=True)
    ]


def per_second(function: Callable[[], object], seconds: float) -> float:
    """Calls per second: the median of eleven stretches that take that long together."""
    function()
    stretches = []
    for _ in range(11):
        calls, begun = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < seconds / 11:
            function()
            calls += 1
        stretches.append(calls / elapsed)
    return sorted(stretches)[5]


def measure(name: str, batch: int, seconds: float) -> list[Figure]:
    """The world's four figures; both sides must give the same answers first."""
    tables = compile_world(get_world(name))
    world, examples = tables.world, turns(tables, batch)
    states, goals = (tables.encode(part) for part in list(zip(*examples, strict=True))[:2])  # [batch, slots]
    actions = np.array([tables.world.action_indices[action] for _, _, action in examples])  # [batch]

    after, reward, valid = batched_step(tables, states, goals, actions)
    every = rewards(tables, states, goals, verbosity=VERBOSITY)
    for place, (state, goal, action) in enumerate(examples):
        wanted, gained, mask = plain_step(world, state, goal, action)
        same = tables.decode(after[place : place + 1])[0] == wanted and valid[place].tolist() == mask and abs(reward[place] - gained) < 1e-5
        if not same or np.abs(every[place] - plain_rewards(world, state, goal)).max() > 1e-5:
            raise RuntimeError(f"{name}: tables and plain Python disagree on {action} in {world.format(state)}")

    both: dict[tuple[str, str, int], tuple[Callable[[], object], Callable[[], object]]] = {
        ("transition", "transitions", 1): (
            lambda: tables.step(states, actions),
            lambda: [world.apply(state, action) for state, _, action in examples],
        ),
        ("environment's step", "steps", 1): (
            lambda: batched_step(tables, states, goals, actions),
            lambda: [plain_step(world, *example) for example in examples],
        ),
        ("reward of every action", "rewards", tables.actions): (
            lambda: rewards(tables, states, goals, verbosity=VERBOSITY),
            lambda: [plain_rewards(world, state, goal) for state, goal, _ in examples],
        ),
        ("SESTRA's step", "steps", 1): (
            lambda: (tables.step(states, actions), rewards(tables, states, goals, verbosity=VERBOSITY)),
            lambda: [(world.apply(state, action), plain_rewards(world, state, goal)) for state, goal, action in examples],
        ),
    }
    return [
        Figure(name, measured, unit, *(per_second(side, seconds) * batch * times for side in sides))
        for (measured, unit, times), sides in both.items()
    ]


def main() -> None:
    options = tyro.cli(Options)
    with one_core(), torch.inference_mode():
        check_number("--batch", options.batch, 1)
        check_number("--seconds", options.seconds, 0.001, 1_000_000, whole=False)
        figures = [figure for name in options.worlds for figure in measure(name, options.batch, options.seconds)]
    found = [
        {"world": f.world, "measured": f.measured, "unit": f"{f.unit}/s", "batched": f.batched, "plain": f.plain, "ratio": f.ratio}
        for f in figures
    ]
    show(
        options.json,
        {"batch": options.batch, "threads": 1, "figures": found},
        f"batch {options.batch}, one thread",
        ("world", "measured", "batched, per second", "plain Python, per second", "ratio"),
        [(f.world, f.measured, f"{f.batched:,.0f}", f"{f.plain:,.0f}", f"{f.ratio:,.0f}") for f in figures],
        left=2,
    )


if __name__ == "__main__":
    main()

"""What a data set consists of: the paper's Table 1, and how its steps can be executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

from sestra.data.scone import Interaction, State
from sestra.worlds import World


@dataclass(frozen=True)
class Table1:
    """A column of the paper's Table 1."""

    sequences: Mapping[str, int]
    """Interactions in each split."""
    mean_length: float
    """Tokens per instruction."""
    deviation: float
    """The standard deviation of that."""
    vocabulary: int
    """Different tokens."""


PAPER = {
    "alchemy": Table1({"train": 3657, "dev": 245, "test": 899}, 8.0, 3.2, 695),
    "scene": Table1({"train": 3352, "dev": 198, "test": 1035}, 10.5, 5.5, 816),
    "tangrams": Table1({"train": 4189, "dev": 199, "test": 800}, 5.4, 2.4, 475),
}
"""Suhr and Artzi (2018), Table 1."""
COUNTED = ("train", "dev")
"""The splits whose instructions the paper's mean length and vocabulary are counted over; they come out exactly with these two."""


def table1(splits: Mapping[str, Sequence[Interaction]]) -> Table1:
    """Table 1 of what is there; tokens are what whitespace separates, over train and dev together (over everything if neither is there)."""
    counted = [splits[split] for split in COUNTED if split in splits] or list(splits.values())
    instructions = [instruction.split() for part in counted for interaction in part for instruction in interaction.instructions]
    lengths = [len(tokens) for tokens in instructions] or [0]
    vocabulary = {token for tokens in instructions for token in tokens}
    return Table1({split: len(part) for split, part in splits.items()}, fmean(lengths), pstdev(lengths), len(vocabulary))


@dataclass(frozen=True)
class Steps:
    """The instructions of a split whose start and goal states are both known."""

    total: int
    unchanged: int
    """Steps whose goal is their start."""
    reached: int
    """Steps whose demonstration ends at the goal after the least number of actions."""
    actions: int
    """The actions of all demonstrations together, STOP not counted."""
    longest: int
    """The most actions that a step takes."""


def count_steps(world: World[Any], interactions: Sequence[Interaction]) -> Steps:
    """Demonstrate every step, replay the demonstration in the compiled world and check that it ends at the goal."""
    from sestra.worlds.tables import compile_world

    pairs: list[tuple[State, State]] = [(start, goal) for interaction in interactions for _, start, goal in interaction.turns()]
    if not pairs:
        return Steps(0, 0, 0, 0, 0)
    tables = compile_world(world)
    starts = tables.encode(start for start, _ in pairs)  # [steps, slots]
    goals = tables.encode(goal for _, goal in pairs)  # [steps, slots]
    executions = tables.demonstrate(starts, goals)  # [steps, longest + 1]
    states = starts
    for actions in executions.T:
        states = tables.step(states, actions)  # [steps, slots]
    taken = (executions != tables.stop).sum(1)  # [steps]
    least = tables.steps_to_go(starts, goals)  # [steps]
    return Steps(
        total=len(pairs),
        unchanged=int((starts == goals).all(1).sum()),
        reached=int(((states == goals).all(1) & (taken == least)).sum()),
        actions=int(taken.sum()),
        longest=int(taken.max()),
    )

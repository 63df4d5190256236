"""How large a world may be: ``python benchmarks/sizes.py [--json]``.

Three kinds of worlds grow, each in one respect: the contents of a slot (stacks of up to so many blocks of six colours, changed at the top),
the slots (each with a stack of at most one block), and the actions (each slot is set to any of so many contents). Of each world are
measured the time to compile its tables, the time of an epoch on 1,000 one-action instructions with validation, and the peak memory of the
process. Times are CPU seconds on one thread. Each measurement has a process of its own.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Literal

import tyro
from timing import one_core, show

from sestra.data.scone import Interaction
from sestra.worlds import WORLDS, Edit, World
from sestra.worlds.base import parse_numbered
from sestra.worlds.tables import Tables

Kind = Literal["stacks", "choices"]
Policy = Literal["attention", "objects", "none"]
COLOURS = "rgbyop"
INTERACTIONS, TURNS = 200, 5
SIZES: Sequence[tuple[Kind, int, int]] = (
    ("stacks", 1, 7), ("stacks", 3, 7), ("stacks", 4, 7),
    ("stacks", 1, 25), ("stacks", 1, 100), ("stacks", 1, 200),
    ("choices", 100, 7), ("choices", 500, 7),
)  # fmt: skip
"""Kind; the highest stack, or the number of contents; slots."""


class Sized(World[str]):
    """What both kinds of worlds share."""

    name = "sized"
    slots = 1

    def parse(self, text: str) -> tuple[str, ...]:
        return tuple(parse_numbered(text, self.name, self.slots))

    def format(self, state: tuple[str, ...]) -> str:
        return " ".join(f"{number}:{content}" for number, content in enumerate(state, start=1))


class Stacks(Sized):
    """Blocks are taken from a stack, or put onto it."""

    highest = 1
    edits = (Edit("pop"), *(Edit("push", (colour,)) for colour in COLOURS))

    def edit(self, content: str, edit: Edit) -> str | None:
        blocks = content.strip("_")
        if edit.kind == "pop":
            return (blocks[:-1] or "_") if blocks else None
        return blocks + edit.arguments[0] if len(blocks) < self.highest else None

    def distance(self, content: str, goal: str) -> int:
        content, goal = content.strip("_"), goal.strip("_")
        common = next((place for place, pair in enumerate(zip(content, goal, strict=False)) if pair[0] != pair[1]), None)
        shared = min(len(content), len(goal)) if common is None else common
        return len(content) + len(goal) - 2 * shared


class Choices(Sized):
    """A slot is set to any content."""

    def edit(self, content: str, edit: Edit) -> str | None:
        return edit.arguments[0] if edit.arguments[0] != content else None

    def distance(self, content: str, goal: str) -> int:
        return int(content != goal)


def make(kind: Kind, size: int, slots: int) -> type[World[str]]:
    """The class of a world of that size, registered under its name."""
    made: type[World[str]]
    if kind == "stacks":
        contents = ("_", *("".join(blocks) for height in range(1, size + 1) for blocks in product(COLOURS, repeat=height)))
        made = type("Made", (Stacks,), {"slots": slots, "highest": size, "contents": contents})
    else:
        contents = tuple(f"c{number}" for number in range(size))
        made = type("Made", (Choices,), {"slots": slots, "contents": contents, "edits": tuple(Edit("set", (each,)) for each in contents)})
    return WORLDS.register("sized", made)


def interactions(world: World[str]) -> list[Interaction]:
    """Each instruction is one action that is possible, in its own notation."""
    rng, found = Random(1), []
    for number in range(INTERACTIONS):
        states, said = [(world.contents[0],) * world.slots], list[str]()
        while len(said) < TURNS:
            action = rng.choice(world.actions[:-1])
            after = world.apply(states[-1], action)
            if after != states[-1]:
                states.append(after)
                said.append(str(action))
        found.append(Interaction(f"sized-{number}", tuple(states), tuple(said)))
    return found


def measure(kind: Kind, size: int, slots: int, policy: Policy) -> dict[str, Any]:
    """In this process: the figures of one world."""
    world = make(kind, size, slots)()
    begun = time.process_time()
    tables = Tables(world)
    parts = (tables.distance, tables.steps, tables._reward_table("steps"))
    compiled = time.process_time() - begun
    del parts
    found: dict[str, Any] = {"kind": kind, "contents": len(world.contents), "slots": slots, "actions": tables.actions}
    found["compile_seconds"] = round(compiled, 2)
    if policy != "none":
        found |= {"policy": policy, "epoch_seconds": round(_epoch(world, policy), 1)}
    return found | {"peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}


def _epoch(world: World[str], policy: str) -> float:
    """Without the export, which takes the same time in every world."""
    from sestra.data.sources import Source
    from sestra.learning.config import configure
    from sestra.learning.run_folder import RunFolder
    from sestra.learning.trainer import Trainer

    config = configure({"world": "sized", "policy": policy, "epochs": 1})
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, interactions(world), RunFolder(Path(folder) / "run"))
        trainer.folder.create(config, trainer.vocabulary, Source("sized", "0"))
        begun = time.process_time()
        trainer.run()
        return time.process_time() - begun


@dataclass(frozen=True)
class Options:
    """Measure worlds of growing size."""

    policy: Policy = "attention"
    """Which policy an epoch is measured with; 'none' compiles the tables only."""
    json: bool = False
    """Print one JSON object instead of a table."""


def main() -> None:
    options = tyro.cli(Options)
    figures = []
    with one_core():
        for size in SIZES:
            with multiprocessing.get_context("fork").Pool(1) as fresh:
                figures.append(fresh.apply(measure, (*size, options.policy)))
            print(figures[-1], file=sys.stderr, flush=True)
    columns = ("kind", "contents", "slots", "actions", "compile_seconds", "epoch_seconds", "peak_mb")
    rows = [[str(figure.get(column, "")) for column in columns] for figure in figures]
    show(options.json, {"policy": options.policy, "threads": 1, "figures": figures}, "sizes of worlds, one thread", columns, rows)


if __name__ == "__main__":
    main()

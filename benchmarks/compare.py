"""The same benchmark in two checkouts, by turns in one run: ``python benchmarks/compare.py --other ../old training --world scene``."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from timing import show

HERE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Options:
    """Compare this checkout with another one: medians over rounds in which each runs the benchmark once."""

    benchmark: tyro.conf.Positional[str]
    """The benchmark: a file in the folder benchmarks, without its ending; the other checkout's own one, if it has it."""
    arguments: tyro.conf.Positional[tuple[str, ...]] = ()
    """Its arguments; put -- before the first one that begins with a dash."""
    other_arguments: tuple[str, ...] | None = None
    """The other checkout's arguments, if they are others, such as the names of its own agents; figures are then paired in order."""
    other: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path("../old")
    """The other checkout."""
    figure: str = "instructions"
    """The figure to compare: the name of a number in the benchmark's JSON."""
    rounds: int = 5
    """How often each checkout runs it."""
    json: bool = False
    """Print one JSON object instead of a table."""


@dataclass(frozen=True)
class Comparison:
    name: str
    here: float
    other: float
    ratio: float
    """Of the medians, here over other."""
    lowest: float
    """Of the ratios of single rounds."""
    highest: float


def figures(found: Any, wanted: str, place: tuple[str, ...] = ()) -> Iterator[tuple[str, float]]:
    """Every number of that name, under the names that lead to it."""
    if isinstance(found, list):
        for number, each in enumerate(found):
            labels = [value for value in each.values() if isinstance(value, str)] if isinstance(each, dict) else [str(number)]
            yield from figures(each, wanted, (*place, *labels))
    elif isinstance(found, dict):
        for name, each in found.items():
            if name == wanted and isinstance(each, int | float):
                yield " ".join(place), float(each)
            else:
                yield from figures(each, wanted, (*place, name))


def run(checkout: Path, options: Options) -> dict[str, float]:
    name = f"benchmarks/{options.benchmark}.py"
    own = options.arguments if checkout == HERE or options.other_arguments is None else options.other_arguments
    command = [sys.executable, str((checkout if (checkout / name).exists() else HERE) / name), *own, "--json"]
    done = subprocess.run(
        command, cwd=checkout, env=os.environ | {"PYTHONPATH": str(checkout)}, capture_output=True, text=True, check=False
    )
    if not done.stdout:
        sys.exit(f"compare: {checkout}: {' '.join(command)} failed:\n{done.stderr}")
    return dict(figures(json.loads(done.stdout), options.figure))


def main() -> None:
    options = tyro.cli(Options)
    rounds: dict[Path, dict[str, list[float]]] = {HERE: defaultdict(list), options.other.resolve(): defaultdict(list)}
    for number in range(options.rounds):
        for checkout in (*rounds,) if number % 2 else (*reversed(rounds),):
            for name, value in run(checkout, options).items():
                rounds[checkout][name].append(value)
    here, other = rounds.values()
    if options.other_arguments is not None:
        if len(here) != len(other):
            sys.exit(f"compare: {len(here)} figures here and {len(other)} in the other checkout; expected as many of each")
        other = dict(zip(here, other.values(), strict=True))
    compared = []
    for name in here:
        ratios = [new / old for new, old in zip(here[name], other.get(name, []), strict=False)]
        if ratios:
            new, old = statistics.median(here[name]), statistics.median(other[name])
            compared.append(Comparison(name, new, old, new / old, min(ratios), max(ratios)))
    result = {
        "benchmark": options.benchmark,
        "arguments": options.arguments,
        "other_arguments": options.other_arguments,
        "rounds": options.rounds,
        "figure": options.figure,
    }
    show(
        options.json,
        result | {"compared": [asdict(each) for each in compared]},
        f"{options.benchmark}: {options.figure}, medians of {options.rounds} rounds",
        ("", "here", "other", "ratio", "of single rounds"),
        [(c.name, f"{c.here:,.4g}", f"{c.other:,.4g}", f"{c.ratio:.2f}", f"{c.lowest:.2f} to {c.highest:.2f}") for c in compared],
    )


if __name__ == "__main__":
    main()

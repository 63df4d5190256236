"""What the benchmarks share: options, timing, and how results are printed."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rich.console import Console

from sestra.cli.tables import table
from sestra.errors import InputError
from sestra.worlds import WORLDS


@dataclass(frozen=True)
class WorldOptions:
    """The options of benchmarks that run world by world."""

    world: Literal["all", "alchemy", "scene", "tangrams"] = "all"
    """Which world."""
    data: Path | None = None
    """The folder of SCONE's files."""
    json: bool = False
    """Print one JSON object instead of tables."""

    @property
    def worlds(self) -> list[str]:
        return WORLDS.names() if self.world == "all" else [self.world]


@contextmanager
def one_core() -> Iterator[None]:
    """One thread; an error in the input ends the program with its message."""
    with suppress(
        ModuleNotFoundError
    ):  # agents have one thread by themselves; torch, which they do not need, has as many as there are cores
        from sestra.learning.runtime_settings import use_one_core

        use_one_core()
    try:
        yield
    except InputError as error:
        sys.exit(f"{Path(sys.argv[0]).stem}: {error}")


def seconds(function: Callable[[], object]) -> float:
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


class Rounds(NamedTuple):
    """What several rounds of the same measurement came to."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Rounds:
        return cls(statistics.median(values), min(values), max(values))

    def text(self) -> str:
        return f"{self.median:,.0f} ({self.lowest:,.0f} to {self.highest:,.0f})"


def peak_gflops() -> float:
    """The rate of one thread in one large matrix product, in billions of operations per second: the median of 20."""
    import torch

    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    return 2 * 1024**3 / statistics.median(seconds(lambda: torch.mm(a, b)) for _ in range(20)) / 1e9


def show(
    as_json: bool,
    result: Any,
    title: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[str]],
    *notes: str,
    left: int = 1,
    width: int = 120,
) -> None:
    """The result as one JSON object, or the table and the notes."""
    if as_json:
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
        return
    drawn = table(title, *columns, left=left)
    for row in rows:
        drawn.add_row(*row)
    console = Console(width=width)
    console.print(drawn)
    for note in notes:
        console.print(note)

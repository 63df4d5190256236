"""``sestra data stats``: the paper's Table 1 for the data at hand, and how many steps demonstrations execute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sestra.cli.options import OptionalFolder, Switch, print_json
from sestra.data import locate, scone
from sestra.data.statistics import PAPER, Steps, Table1, count_steps, table1
from sestra.worlds import WORLDS, get_world

if TYPE_CHECKING:
    from rich.table import Table

Splits = dict[str, list[scone.Interaction]]


@dataclass(frozen=True)
class Stats:
    """The paper's Table 1 for the splits that are there, and how many steps a shortest demonstration executes."""

    data: OptionalFolder = None
    """The folder with SCONE's files; by default SCONE_DATA or your cache."""
    seed: int = 0
    """The seed of the data that is generated where SCONE is not found."""
    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        folder = locate.find(self.data)
        splits = self._generate() if folder is None else _read(folder)
        table = {name: table1(parts) for name, parts in splits.items()}
        steps = {name: {split: count_steps(get_world(name), part) for split, part in parts.items()} for name, parts in splits.items()}
        if self.json:
            print_json({"source": "generated" if folder is None else str(folder), "worlds": _object(table, steps)})
            return 0
        from rich.console import Console

        console = Console(highlight=False, markup=False)
        if folder is None:
            console.print(f"SCONE was not found: this is generated data (seed {self.seed}), not the paper's.")
            console.print(f"To have SCONE: {locate.HOW_TO_GET_IT}.")
        else:
            console.print(f"SCONE in {folder}", soft_wrap=True)
        console.print()
        console.print(_table1(table), _steps(steps))
        return 0

    def _generate(self) -> dict[str, Splits]:
        from sestra.data.synthetic import splits

        return {name: splits(name, self.seed) for name in WORLDS.names() if get_world(name).grammar() is not None}


def _read(folder: Path) -> dict[str, Splits]:
    splits: dict[str, Splits] = {}
    for (name, split), path in locate.files(folder).items():
        if name not in WORLDS.names():  # the file of a world that is given as FILE.py:CLASS elsewhere
            continue
        splits.setdefault(name, {})[split] = scone.read(path, get_world(name))
    return splits


def _object(table: Mapping[str, Table1], steps: Mapping[str, Mapping[str, Steps]]) -> dict[str, Any]:
    return {
        name: {
            **asdict(table[name]),
            "steps": {split: asdict(counted) for split, counted in steps[name].items()},
            "paper": asdict(PAPER[name]) if name in PAPER else None,
        }
        for name in table
    }


def _table1(table: Mapping[str, Table1]) -> Table:
    from rich import box
    from rich.table import Table

    drawn = Table(
        title="Table 1, beside the paper's (Suhr and Artzi, 2018)", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    drawn.add_column("sequences in", no_wrap=True)
    for name in table:
        drawn.add_column(name, justify="right")
        drawn.add_column("paper", justify="right", style="dim")
    columns = [column for name, ours in table.items() for column in (ours, PAPER.get(name))]
    for split in scone.SPLITS:
        counts = [column.sequences.get(split) if column else None for column in columns]
        if any(count is not None for count in counts):
            drawn.add_row(split, *("–" if count is None else f"{count:,}" for count in counts))
    drawn.add_section()
    drawn.add_row("instruction length", *(f"{column.mean_length:.1f}±{column.deviation:.1f}" if column else "–" for column in columns))
    drawn.add_row("vocabulary", *(f"{column.vocabulary:,}" if column else "–" for column in columns))
    return drawn


def _steps(steps: Mapping[str, Mapping[str, Steps]]) -> Table:
    from rich import box
    from rich.table import Table

    drawn = Table(title="Steps whose start and goal are known", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    drawn.add_column("world")
    drawn.add_column("split")
    for heading in ("steps", "change\nnothing", "demonstrated in\nthe fewest actions", "actions\nper step", "most\nactions"):
        drawn.add_column(heading, justify="right", no_wrap=True)
    together: dict[str, list[Steps]] = {}
    for name, parts in steps.items():
        for split, part in parts.items():
            drawn.add_row(name, split, *_cells([part]))
            together.setdefault(split, []).append(part)
    drawn.add_section()
    for split, counted in together.items():
        drawn.add_row("together", split, *_cells(counted))
    return drawn


def _cells(parts: Sequence[Steps]) -> list[str]:
    """Counts, summed over the parts."""
    total, actions = sum(part.total for part in parts), sum(part.actions for part in parts)
    unchanged, reached = sum(part.unchanged for part in parts), sum(part.reached for part in parts)
    mean = f"{actions / total:.2f}" if total else "–"
    return [f"{total:,}", f"{unchanged:,}", f"{reached:,}", mean, str(max(part.longest for part in parts))]

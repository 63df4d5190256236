"""``sestra data stats``: the paper's Table 1 for the data at hand, and how many steps demonstrations execute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from sestra.cli.options import DataFolder, Json, print_json
from sestra.data import locate, scone, synthetic
from sestra.data.statistics import PAPER, Steps, Table1, count_steps, table1
from sestra.worlds import WORLDS, get_world

Splits = dict[str, list[scone.Interaction]]


@dataclass(frozen=True)
class Stats:
    """The paper's Table 1 for the splits that are there, and how many steps a shortest demonstration executes."""

    data: DataFolder = None
    seed: int = 0
    """The seed of the data that is generated where SCONE is not found."""
    json: Json = False

    def run(self) -> int:
        folder = locate.find(self.data)
        with_grammar = [name for name in WORLDS.names() if get_world(name).grammar() is not None]
        splits = {name: synthetic.splits(name, self.seed) for name in with_grammar} if folder is None else _read(folder)
        table = {name: table1(parts) for name, parts in splits.items()}
        steps = {name: {split: count_steps(get_world(name), part) for split, part in parts.items()} for name, parts in splits.items()}
        if self.json:
            worlds = {name: {**asdict(table[name]), "steps": steps[name], "paper": PAPER.get(name)} for name in table}
            print_json({"source": "generated" if folder is None else str(folder), "worlds": worlds})
            return 0
        console = Console(highlight=False, markup=False)
        if folder is None:
            console.print(f"SCONE was not found: this is generated data (seed {self.seed}), not the paper's.")
            console.print(f"To have SCONE: {locate.HOW_TO_GET_IT}.")
        else:
            console.print(f"SCONE in {folder}", soft_wrap=True)
        console.print()
        console.print(_table1(table), _steps(steps))
        return 0


def _read(folder: Path) -> dict[str, Splits]:
    splits: dict[str, Splits] = {}
    for (name, split), path in locate.files(folder).items():
        if name in WORLDS.names():  # else it is a file of a world that is given as FILE.py:CLASS elsewhere
            splits.setdefault(name, {})[split] = scone.read(path, get_world(name))
    return splits


def _empty(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))


def _table1(table: Mapping[str, Table1]) -> Table:
    drawn = _empty("Table 1, beside the paper's (Suhr and Artzi, 2018)")
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
    drawn = _empty("Steps whose start and goal are known")
    drawn.add_column("world")
    drawn.add_column("split")
    for heading in ("steps", "change\nnothing", "demonstrated in\nthe fewest actions", "actions\nper step", "most\nactions"):
        drawn.add_column(heading, justify="right", no_wrap=True)
    together: dict[str, list[Steps]] = {}
    for name, parts in steps.items():
        for split, part in parts.items():
            drawn.add_row(name, split, *_cells(part))
            together.setdefault(split, []).append(part)
    drawn.add_section()
    for split, counted in together.items():
        drawn.add_row("together", split, *_cells(*counted))
    return drawn


def _cells(*parts: Steps) -> list[str]:
    """Counts, summed over the parts."""
    total, unchanged, reached, actions, longest = zip(*map(astuple, parts), strict=True)
    mean = f"{sum(actions) / sum(total):.2f}" if sum(total) else "–"
    return [f"{sum(total):,}", f"{sum(unchanged):,}", f"{sum(reached):,}", mean, str(max(longest))]

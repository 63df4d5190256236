"""``sestra paper``: the paper's experiments, run on Ray, and its tables and figures with our numbers beside the authors'."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from sestra.cli.options import DataFolder, File, Folder, Json, OptionalNumber, Switch, print_json
from sestra.cli.outputs import Force, check_output
from sestra.cli.ray_options import OnRay
from sestra.data import locate
from sestra.errors import InputError, check_number
from sestra.experiments import grid, records
from sestra.experiments.analyses import read_analyses
from sestra.experiments.driver import run_grid
from sestra.experiments.figures import write_figures
from sestra.experiments.grid import Trial
from sestra.experiments.report import write_report
from sestra.io import make_folder
from sestra.learning.config import Preset

RESULTS = Path("results/paper")
RUNS = Path("runs/paper")


@dataclass(frozen=True)
class Which:
    """Which part of the grid."""

    worlds: Annotated[tuple[str, ...], tyro.conf.arg(metavar="WORLD...")] = grid.WORLDS_OF_PAPER
    """The worlds."""
    systems: Annotated[tuple[str, ...], tyro.conf.arg(metavar="SYSTEM...")] = ("paper",)
    """The rows of the tables, by name, or all of the paper's ('paper'), all learners with its network ('learners') or the object policy and
    its parts ('parts')."""
    seeds: OptionalNumber = None
    """How many seeds each system has; by default five, as in the paper; three for ablations and the object policy, one for its parts
    and for other learners."""
    preset: Preset = "default"
    """Our settings ('default'), those of the paper's text, or those of the program that its authors released."""
    epochs: OptionalNumber = None
    """The most passes over train, instead of the preset's."""

    def trials(self, *, generated: bool) -> list[Trial]:
        if self.seeds is not None:
            check_number("--seeds", self.seeds, 1, 1_000)
        if not self.worlds or not self.systems:
            raise InputError("--worlds, --systems: expected at least one of each")
        changes: dict[str, Any] = {} if self.epochs is None else {"epochs": self.epochs}
        trials = grid.trials(self.worlds, self.systems, self.seeds, self.preset, generated=generated, **changes)
        for trial in trials:
            trial.config.check()
        return trials


@dataclass(frozen=True)
class List:
    """List the grid's runs and which of them are finished."""

    which: Which
    """Which part of the grid."""
    data: DataFolder = None
    runs: Folder = RUNS
    """Where the runs' folders are."""
    results: Folder = RESULTS
    """Where finished runs' results are."""
    json: Json = False

    def run(self) -> int:
        generated = locate.find(self.data) is None
        trials = self.which.trials(generated=generated)
        rows: list[dict[str, Any]] = [
            {"name": trial.name, "state": self._state(trial), "epochs": trial.config.optimisation.epochs} for trial in trials
        ]
        if self.json:
            print_json({"generated": generated, "runs": rows})
            return 0
        table = Table("run", "state")
        for row in rows:
            table.add_row(row["name"], row["state"], style="" if row["state"] != "pending" else "dim")
        done = sum(row["state"].startswith("finished") for row in rows)
        console = Console(highlight=False)
        console.print(table)
        console.print(f"{len(rows)} runs, {done} finished")
        if generated:
            console.print("SCONE was not found: these are the runs on generated interactions; 'sestra data download' fetches it.")
        return 0

    def _state(self, trial: Trial) -> str:
        if found := records.find(self.results / f"{trial.name}.json", trial):
            record, different = found
            return f"finished after epoch {record['epochs']}" + (f", with other settings: {grid.describe(different)}" if different else "")
        try:
            lines = (self.runs / trial.name / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        except OSError:
            return "pending"
        return f"epoch {len(lines)} of {trial.config.optimisation.epochs}"


@dataclass(frozen=True)
class Run(OnRay):
    """Run the grid. Unfinished runs are resumed, finished ones left alone; stopping at any moment loses no finished epoch."""

    which: Which
    """Which part of the grid."""
    runs: Folder = RUNS
    """Where each run has its folder, WORLD-SYSTEM-SEED; on a cluster, a folder that all machines share."""
    results: Folder = RESULTS
    """Where each finished run's figures are written, one JSON file per run."""

    def run(self) -> int:
        console = Console(stderr=True, highlight=False)
        trials = self.which.trials(generated=locate.find(self.data) is None)
        tally = run_grid(trials, self.results, *self.prepare(console, self.runs))
        for name, what in tally.different.items():
            console.print(f"{name}: was there already, with other settings: {what}; it counts as what it is", markup=False, soft_wrap=True)
        if self.json:
            print_json(dataclasses.asdict(tally))
        else:
            rest = f"; {len(tally.stopped)} stopped, to be continued by the same command" if tally.stopped else ""
            failed = f"; {len(tally.failed)} FAILED" if tally.failed else ""
            done = len(tally.already) + len(tally.ended)
            sys.stdout.write(
                f"{done} of {len(trials)} runs are finished, {len(tally.ended)} of them now{rest}{failed}; "
                f"see them with: sestra paper report --results {self.results}\n"
            )
        return 1 if tally.failed else 0


@dataclass(frozen=True)
class Report:
    """Write RESULTS.md, the paper's tables with our numbers beside the authors', and the figures, from the finished runs' JSON files."""

    results: Folder = RESULTS
    """Where finished runs' results are; notes.md beside them, if there is one, is taken over into the report."""
    analyses: Folder = Path("results/analysis")
    """Where 'sestra analyze --json' was written to, one file per agent; they become the report's part about references and errors."""
    out: File = Path("results/RESULTS.md")
    """Where to write the tables."""
    images: Folder = Path("docs/images")
    """Where to write the figures."""
    no_figures: Switch = False
    """Write the tables alone."""
    force: Force = False

    def run(self) -> int:
        check_output("--out", self.out, force=self.force)
        found = records.read_all(self.results)
        if not found:
            raise InputError(f"{self.results}: holds no finished run's results; run the experiments with 'sestra paper run' first")
        analyses = read_analyses(self.analyses)
        make_folder(self.out.resolve().parent)
        write_report(found, self.out, self.results, analyses)
        written = [self.out]
        if not self.no_figures:
            make_folder(self.images)
            written += write_figures([record for record in found if not record["generated"]], self.images)
        sys.stdout.write(f"{len(found)} finished runs: wrote {', '.join(map(str, written))}\n")
        return 0


@dataclass(frozen=True)
class Paper:
    """Run the paper's experiments and compare the results with the paper's."""

    command: List | Run | Report

    def run(self) -> int:
        return self.command.run()

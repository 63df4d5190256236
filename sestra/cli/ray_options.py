"""The flags of commands that run many trainings on Ray."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from sestra.cli.options import DataFolder, Json, OptionalNumber, OptionalText
from sestra.data import locate
from sestra.errors import InputError, check_number
from sestra.experiments.progress import View, parse_budget
from sestra.experiments.ray_pool import Pool
from sestra.experiments.trials import Conditions


@dataclass(frozen=True, kw_only=True)
class OnRay:
    data: DataFolder = None
    budget: OptionalText = None
    """Stop between two epochs when this much time has passed: 90m, 1h30m, 45s."""
    plateau: int = 0
    """End a run when its validation accuracy has been no better for so many epochs (0: when its settings say so)."""
    ray_address: OptionalText = None
    """Address of a Ray cluster; by default the runs share this machine."""
    cpus: OptionalNumber = None
    """How many runs are trained in parallel on this machine; by default as many as it has CPUs."""
    max_failures: int = 3
    """How often a run that dies is resumed from its checkpoint."""
    json: Json = False

    def prepare(self, console: Console, runs: Path, *, splits: bool = True, strict: bool = False) -> tuple[Pool, View]:
        """Check the flags and find the data; Ray starts with the first trial."""
        deadline = None if self.budget is None else time.time() + parse_budget(self.budget)
        if self.cpus is not None:
            check_number("--cpus", self.cpus, 1)
            if self.ray_address is not None:
                raise InputError(f"--cpus {self.cpus}: a cluster has the CPUs it was started with; leave the flag out, or --ray-address")
        check_number("--max-failures", self.max_failures, 0)
        check_number("--plateau", self.plateau, 0)
        data = locate.find(self.data)
        conditions = Conditions(
            runs.resolve(), data and data.resolve(), splits=splits, deadline=deadline, plateau=self.plateau, strict=strict
        )  # fmt: skip
        pool = Pool(conditions, address=self.ray_address, cpus=self.cpus, max_failures=self.max_failures)
        if data is None:
            console.print("SCONE was not found: training on generated interactions (see 'sestra data download').")
        return pool, View(console, conditions.runs, deadline)

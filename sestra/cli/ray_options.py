"""The flags of commands that run many trainings on Ray."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sestra.cli.options import OptionalFolder, OptionalNumber, OptionalText, Switch
from sestra.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from sestra.experiments.progress import View
    from sestra.experiments.ray_pool import Pool
    from sestra.experiments.trials import Conditions

STOPPED = "Stopped; give the same command again to continue from each run's last epoch."


@dataclass(frozen=True)
class Prepared:
    """What a driver needs."""

    conditions: Conditions
    make_pool: Callable[[], Pool]
    view: View


@dataclass(frozen=True, kw_only=True)
class OnRay:
    data: OptionalFolder = None
    """Where SCONE's files are; by default SCONE_DATA, the user's cache, or else generated interactions."""
    budget: OptionalText = None
    """Stop between two epochs when this much time has passed: 90m, 1h30m, 45s."""
    flat: int = 0
    """End a run when its validation accuracy has been no better for so many epochs (0: when its settings say so)."""
    ray_address: OptionalText = None
    """Address of a Ray cluster; by default the runs share this machine."""
    cpus: OptionalNumber = None
    """How many runs are trained in parallel on this machine; by default as many as it has CPUs."""
    max_failures: int = 3
    """How often a run that dies is resumed from its checkpoint."""
    json: Switch = False
    """Print the results as one JSON object at the end."""

    def prepare(self, console: Console, runs: Path, *, splits: bool = True, strict: bool = False) -> Prepared:
        """Check the flags and find the data."""
        from sestra.data import locate
        from sestra.experiments.progress import View, parse_budget
        from sestra.experiments.ray_pool import Pool, import_ray
        from sestra.experiments.trials import Conditions

        deadline = None if self.budget is None else time.time() + parse_budget(self.budget)
        if self.cpus is not None and self.cpus < 1:
            raise InputError(f"--cpus {self.cpus}: expected 1 or more")
        if self.cpus is not None and self.ray_address is not None:
            raise InputError(f"--cpus {self.cpus}: a cluster has the CPUs it was started with; leave the flag out, or --ray-address")
        for flag, value in (("--max-failures", self.max_failures), ("--flat", self.flat)):
            if value < 0:
                raise InputError(f"{flag} {value}: expected 0 or more")
        data = locate.find(self.data)
        import_ray()
        if data is None:
            console.print("SCONE was not found: training on generated interactions (see 'sestra data download').")
        conditions = Conditions(
            runs.resolve(), data and data.resolve(), splits=splits, deadline=deadline, flat=self.flat, strict=strict
        )  # fmt: skip

        def make_pool() -> Pool:
            return Pool(conditions, address=self.ray_address, cpus=self.cpus, max_failures=self.max_failures)

        return Prepared(conditions, make_pool, View(console, conditions.runs, deadline))

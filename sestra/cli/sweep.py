"""``sestra sweep``: runs with each of the listed values of any setting, or with values that Optuna proposes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

import tyro
from rich.console import Console

from sestra.cli.options import Folder, Switch, print_json
from sestra.cli.ray_options import OnRay
from sestra.cli.setting_flags import field_help, given
from sestra.cli.tables import table
from sestra.errors import InputError, check_number
from sestra.experiments import sweep
from sestra.experiments.driver import Sweep
from sestra.learning.config import DEFAULTS, FOLDS
from sestra.metrics import METRICS, tenths


@dataclass(frozen=True)
class SweepFlags(OnRay):
    """Train with each of several values of any setting, with commas between them, and compare; the flags are those of 'sestra train'."""

    out: Folder = Path("runs/sweep")
    """Where each run has its folder, and sweep.json with what came out."""
    seeds: int = 1
    """How many seeds, from 1, each combination has."""
    cross_validate: Switch = False
    """Train each combination five times, each time with another fifth of the training data held out for validation."""
    search: Literal["grid", "optuna"] = "grid"
    """'grid' tries every combination; 'optuna' proposes --trials of them, also from ranges such as 0.01..0.3 or 0.001..0.1:log."""
    trials: int = 20
    """How many combinations Optuna proposes."""

    known: ClassVar[Mapping[str, Any]]
    """The settings that have flags, with their types."""

    def run(self) -> int:
        check_number("--seeds", self.seeds, 1, 1_000)
        check_number("--trials", self.trials, 1)
        chosen = {name: text for name in self.known if (text := getattr(self, name)) is not None}
        if "seed" in chosen:
            raise InputError("--seed: a sweep numbers its seeds itself; say how many with --seeds")
        fixed, varied = sweep.split_fixed(chosen, self.known)
        if self.cross_validate and "fold" in chosen:
            raise InputError("--fold: a cross-validation holds out each fold in turn; leave out --fold, or --cross-validate")
        repeats = sweep.Repeats(range(1, self.seeds + 1), range(1, FOLDS + 1) if self.cross_validate else (0,))
        limit = self.trials if self.search == "optuna" else None
        sweeping = Sweep(self.out.resolve(), chosen, fixed, varied, repeats, limit)
        console = Console(stderr=True, highlight=False)
        lines = sweeping.run(*self.prepare(console, self.out, splits=False, strict=True))
        tally = sweeping.tally
        if self.json:
            print_json({"combinations": lines, "stopped": tally.stopped, "failed": tally.failed})
        else:
            _print(lines, list(varied))
            if tally.stopped:
                console.print(f"{len(tally.stopped)} runs were stopped; give the same command again to continue them.")
        return 1 if tally.failed else 0


def _print(lines: list[dict[str, Any]], varied: list[str]) -> None:
    headings = (*(name.replace("_", "-") for name in varied), "runs", *METRICS.values(), "best epoch")
    drawn = table("on the validation part of train, the best first", *headings, left=len(varied))
    for line in lines:
        drawn.add_row(
            *(f"{line['values'][name]}" for name in varied),
            f"{line['ended']} of {line['of']}",
            *(_cell(line[name], line[f"{name}_deviation"]) for name in METRICS),
            ", ".join(map(str, line["best_epochs"])) or "–",
        )
    Console(highlight=False).print(drawn)


def _cell(mean: float | None, deviation: float | None) -> str:
    if mean is None:
        return "–"
    return str(tenths(mean)) + ("" if deviation is None else f" ± {tenths(deviation)}")


def command(arguments: Sequence[str]) -> type[SweepFlags]:
    """The command with a flag for each setting of the policies and learners that the arguments name, or else of all."""
    found = given(arguments[1:], "policy", "learner") if arguments[:1] == ["sweep"] else DEFAULTS  # other commands load no plug-ins
    policies, learners = (found[name].split(",") if name in found else [] for name in ("policy", "learner"))
    kinds = sweep.kinds(policies, learners)
    texts = {name: text for kind in reversed(kinds) for name, text in field_help(kind).items()}
    flags = [
        (name, Annotated[str | None, tyro.conf.arg(metavar="VALUE,...", help=texts.get(name, ""), help_behavior_hint="")], None)
        for name in sweep.settings(kinds)
    ]
    made = dataclasses.make_dataclass("Sweep", flags, bases=(SweepFlags,), frozen=True, namespace={"known": sweep.settings(kinds)})
    made.__doc__ = SweepFlags.__doc__
    return cast("type[SweepFlags]", made)

"""The driver: submits trials, follows their progress and writes their results. Killed at any moment, it can be started again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sestra.errors import InputError
from sestra.experiments import records
from sestra.experiments.grid import Trial, describe, differences
from sestra.experiments.progress import View
from sestra.experiments.ray_pool import Pool
from sestra.experiments.sweep import Combination, Proposals, Range, combine, summarise
from sestra.experiments.trials import Outcome
from sestra.io import make_folder, read_json, write_json
from sestra.learning.config import TrainConfig
from sestra.version import __version__


@dataclass
class Tally:
    """What became of the trials of one command, by name."""

    already: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    different: dict[str, str] = field(default_factory=dict)
    """Runs that were there already, with other settings than the grid's; they count, but not among the grid's."""

    def add(self, outcome: Outcome) -> None:
        name = outcome.name
        if outcome.state == "ended" and outcome.record:
            self.ended.append(name)
            if outcome.record["different"]:
                self.different[name] = describe(outcome.record["different"])
        elif outcome.state == "stopped":
            self.stopped.append(name)
        else:
            self.failed[name] = outcome.message


def follow(pool: Pool, view: View, ended: Callable[[Outcome], None], refill: Callable[[], None] = lambda: None) -> None:
    """Until no trial is left and ``refill`` adds none."""
    refill()
    while pool.attempts:
        view.refresh(pool)
        for outcome in pool.poll(1.0):
            view.ended(outcome)
            ended(outcome)
        refill()


def run_grid(trials: Sequence[Trial], results: Path, make_pool: Callable[[], Pool], view: View) -> Tally:
    """Run what has no result yet; each result is written as soon as its trial has ended."""
    make_folder(results)
    tally = Tally()
    waiting = []
    for trial in trials:
        path = results / f"{trial.name}.json"
        if not path.exists():
            view.add(trial)
            waiting.append(trial)
            continue
        view.add(trial, "there")
        tally.already.append(trial.name)
        different = differences(trial.config, TrainConfig.from_json(records.read(path)["config"], f"{path}: config"))
        if different:
            tally.different[trial.name] = describe(different)

    def ended(outcome: Outcome) -> None:
        if outcome.record:
            write_json(results / f"{outcome.name}.json", outcome.record)
        tally.add(outcome)

    if waiting:
        with make_pool() as pool, view:
            for trial in waiting:
                pool.submit(trial)
            follow(pool, view, ended)
    return tally


@dataclass(frozen=True)
class SweepPlan:
    """What is swept over; ``limit`` is how many combinations Optuna may propose, None for all in ``combinations``."""

    fixed: Mapping[str, Any]
    varied: Mapping[str, list[Any] | Range]
    given: Mapping[str, str]
    seeds: Sequence[int]
    combinations: Sequence[Combination] = ()
    limit: int | None = None


class Sweep:
    """Runs a plan's combinations in a folder; ``sweep.json`` there says what was tried and what it came to."""

    def __init__(self, plan: SweepPlan, out: Path, deadline: float | None) -> None:
        self.plan, self.out, self.deadline = plan, out, deadline
        self.tally = Tally()
        self.combinations: list[Combination] = list(plan.combinations)
        self.records: dict[str, dict[str, Any]] = {}
        self.over: set[str] = set()
        self.proposals: Proposals | None = None
        if plan.limit is not None:
            before = self._proposed_before()
            self.proposals = Proposals(plan.varied, len(before))
            for number, values in enumerate(before):
                self.proposals.proposed(number, values)
                self.combinations.append(combine(values, plan.fixed, plan.seeds))

    def _proposed_before(self) -> list[dict[str, Any]]:
        path = self.out / "sweep.json"
        if not path.exists():
            return []
        written = read_json(path)
        settings = {"given": dict(self.plan.given), "seeds": list(self.plan.seeds), "search": "optuna"}
        if not isinstance(written, dict) or {name: written.get(name) for name in settings} != settings:
            raise InputError(f"{path}: holds a sweep with other flags; repeat those to continue it, or choose another folder with --out")
        try:
            return [dict(combination["values"]) for combination in written["combinations"]]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: is damaged ({error!r}); choose another folder with --out") from error

    def run(self, make_pool: Callable[[], Pool], view: View) -> list[dict[str, Any]]:
        """The rows of the table, the best first."""
        make_folder(self.out)
        with make_pool() as pool, view:
            for number in range(len(self.combinations)):
                self._start(number, pool, view)
            follow(pool, view, self._ended, lambda: self._propose(pool, view))
        self._save()
        return self.summary()

    def summary(self) -> list[dict[str, Any]]:
        lines = [summarise(combination, self.records) for combination in self.combinations]
        return sorted(lines, key=lambda line: (line["score"] is None, -(line["score"] or 0.0)))

    def _start(self, number: int, pool: Pool, view: View) -> None:
        for trial in self.combinations[number].trials:
            path = self.out / trial.name / "record.json"
            record = records.read(path) if path.exists() else None
            if record and not differences(trial.config, TrainConfig.from_json(record["config"], f"{path}: config")):
                view.add(trial, "there")
                self.tally.already.append(trial.name)
                self.records[trial.name] = record
                self.over.add(trial.name)
            else:
                view.add(trial)
                pool.submit(trial)
        self._tell(number)

    def _propose(self, pool: Pool, view: View) -> None:
        """As many as there are CPUs for, so that each proposal knows as much as it can."""
        late = self.deadline is not None and time.time() >= self.deadline
        while self.proposals and not late and len(self.combinations) < (self.plan.limit or 0) and len(pool.attempts) < pool.cpus:
            number = len(self.combinations)
            self.combinations.append(combine(self.proposals.propose(number), self.plan.fixed, self.plan.seeds))
            self._save()
            self._start(number, pool, view)

    def _ended(self, outcome: Outcome) -> None:
        name = outcome.name
        self.over.add(name)
        self.tally.add(outcome)
        if outcome.record:
            self.records[name] = outcome.record
            write_json(self.out / name / "record.json", outcome.record)
        for number, combination in enumerate(self.combinations):
            if name in (trial.name for trial in combination.trials):
                self._tell(number)

    def _tell(self, number: int) -> None:
        combination = self.combinations[number]
        if self.proposals and all(trial.name in self.over for trial in combination.trials):
            self.proposals.tell(number, summarise(combination, self.records)["score"])

    def _save(self) -> None:
        write_json(
            self.out / "sweep.json",
            {
                "search": "grid" if self.proposals is None else "optuna",
                "given": dict(self.plan.given),
                "seeds": list(self.plan.seeds),
                "combinations": [summarise(combination, self.records) for combination in self.combinations],
                "version": __version__,
            },
        )

"""The driver: submits trials, follows their progress and writes their results. Killed at any moment, it can be started again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sestra.errors import InputError
from sestra.experiments import records
from sestra.experiments.grid import Trial, describe
from sestra.experiments.progress import View
from sestra.experiments.ray_pool import Pool
from sestra.experiments.sweep import Proposals, Repeats, Values, check_edges, combine, grid, summarise
from sestra.experiments.trials import Outcome
from sestra.io import make_folder, read_json, write_json
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
        if outcome.record:
            self.ended.append(outcome.name)
            if different := outcome.record["different"]:
                self.different[outcome.name] = describe(different)
        elif outcome.state == "stopped":
            self.stopped.append(outcome.name)
        else:
            self.failed[outcome.name] = outcome.message


def follow(pool: Pool, view: View, ended: Callable[[Outcome], None], refill: Callable[[], None] = lambda: None) -> None:
    """Until no trial is left and ``refill`` adds none."""
    refill()
    while pool.attempts:
        view.refresh(pool)
        for outcome in pool.poll(1.0):
            view.ended(outcome)
            ended(outcome)
        refill()


def run_grid(trials: Sequence[Trial], results: Path, pool: Pool, view: View) -> Tally:
    """Run what has no result yet; each result is written as soon as its trial has ended."""
    make_folder(results)
    tally = Tally()

    def ended(outcome: Outcome) -> None:
        if outcome.record:
            write_json(results / f"{outcome.name}.json", outcome.record)
        tally.add(outcome)

    waiting = []
    for trial in trials:
        found = records.find(results / f"{trial.name}.json", trial)
        view.add(trial, "there" if found else "waiting")
        if found is None:
            waiting.append(trial)
            continue
        tally.already.append(trial.name)
        if different := found[1]:
            tally.different[trial.name] = describe(different)
    with pool, view:
        for trial in waiting:
            pool.submit(trial)
        follow(pool, view, ended)
    return tally


class Sweep:
    """Runs combinations of values in a folder; ``sweep.json`` there says what was tried and what it came to.

    ``limit`` is how many combinations Optuna may propose; None for every combination.
    """

    def __init__(
        self,
        out: Path,
        given: Mapping[str, str],
        fixed: Mapping[str, Any],
        varied: Mapping[str, Values],
        repeats: Repeats,
        limit: int | None,
    ) -> None:
        self.out, self.fixed, self.repeats, self.limit = out, fixed, repeats, limit
        self.about = {"search": "grid" if limit is None else "optuna", "given": dict(given), "seeds": list(repeats.seeds)}
        if len(repeats.folds) > 1:
            self.about["folds"] = list(repeats.folds)
        self.tally = Tally()
        self.records: dict[str, dict[str, Any]] = {}
        self.over: set[str] = set()
        self.proposals: Proposals | None = None
        if limit is None:
            self.combinations = grid(fixed, varied, repeats)
            return
        check_edges(fixed, varied, repeats)
        before = self._proposed_before()
        self.proposals = Proposals(varied, len(before))
        self.combinations = []
        for number, values in enumerate(before):
            self.proposals.proposed(number, values)
            self.combinations.append(combine(values, fixed, repeats))

    def _proposed_before(self) -> list[dict[str, Any]]:
        path = self.out / "sweep.json"
        if not path.exists():
            return []
        written = read_json(path)
        if not isinstance(written, dict) or {name: written.get(name) for name in self.about} != self.about:
            raise InputError(f"{path}: holds a sweep with other flags; repeat those to continue it, or choose another folder with --out")
        try:
            return [dict(combination["values"]) for combination in written["combinations"]]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: is damaged ({error!r}); choose another folder with --out") from error

    def run(self, pool: Pool, view: View) -> list[dict[str, Any]]:
        """The rows of the table, the best first."""
        make_folder(self.out)
        with pool, view:
            for number in range(len(self.combinations)):
                self._start(number, pool, view)
            follow(pool, view, self._ended, lambda: self._propose(pool, view))
        self._save()
        return sorted(self._summaries(), key=lambda line: (line["score"] is None, -(line["score"] or 0.0)))

    def _start(self, number: int, pool: Pool, view: View) -> None:
        for trial in self.combinations[number].trials:
            record, different = records.find(self.out / trial.name / "record.json", trial) or ({}, {})
            if record and not different:
                view.add(trial, "there")
                self.records[trial.name] = record
                self.over.add(trial.name)
            else:
                view.add(trial)
                pool.submit(trial)
        self._tell(number)

    def _propose(self, pool: Pool, view: View) -> None:
        """As many as there are CPUs for, so that each proposal knows as much as it can."""
        deadline = pool.conditions.deadline
        late = deadline is not None and time.time() >= deadline
        while self.proposals and not late and len(self.combinations) < (self.limit or 0) and len(pool.attempts) < pool.cpus:
            number = len(self.combinations)
            self.combinations.append(combine(self.proposals.propose(number), self.fixed, self.repeats))
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
        """Tell Optuna the score of a combination whose trials are all over."""
        combination = self.combinations[number]
        if self.proposals and all(trial.name in self.over for trial in combination.trials):
            self.proposals.tell(number, summarise(combination, self.records)["score"])

    def _summaries(self) -> list[dict[str, Any]]:
        return [summarise(combination, self.records) for combination in self.combinations]

    def _save(self) -> None:
        write_json(self.out / "sweep.json", {**self.about, "combinations": self._summaries(), "version": __version__})

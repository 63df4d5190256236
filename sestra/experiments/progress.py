"""The progress of all trials in one live table; where there is no terminal, a line per event."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from sestra.errors import InputError
from sestra.experiments.grid import Trial
from sestra.experiments.trials import NOTE, Outcome
from sestra.metrics import METRICS, tenths

if TYPE_CHECKING:
    from sestra.experiments.ray_pool import Pool

ORDER = {"running": 0, "failed": 1, "stopped": 2, "ended": 3, "waiting": 4, "there": 5}
STYLES = {"running": "bold", "failed": "red", "waiting": "dim", "there": "dim"}
STOPPED = "Stopped; give the same command again to continue from each run's last epoch."


@dataclass
class Row:
    trial: Trial
    state: str = "waiting"
    history: list[dict[str, Any]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """The seconds at the end of each epoch."""
    failures: int = 0

    @property
    def epoch(self) -> int:
        return len(self.history)

    @property
    def epochs(self) -> int:
        """The most; small data may have more (``min_updates``)."""
        return max(self.trial.config.optimisation.epochs, self.epoch)

    def seconds_left(self) -> float | None:
        """If the remaining epochs take as long as the last ones."""
        if self.state not in {"running", "stopped"} or not self.times:
            return None
        recent = self.times[-6:]
        taken = recent[-1] - (recent[0] if len(recent) > 1 else 0.0)
        return float(taken / max(1, len(recent) - 1) * (self.epochs - self.epoch))


class View:
    """The table; a context manager."""

    def __init__(self, console: Console, runs: Path, deadline: float | None = None) -> None:
        self.console, self.runs, self.deadline = console, runs, deadline
        self.rows: dict[str, Row] = {}
        self._live: Live | None = None

    def __enter__(self) -> View:
        if self.console.is_terminal:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._live:
            self._live.stop()
        if kind is KeyboardInterrupt:
            self.say(STOPPED)

    def add(self, trial: Trial, state: str = "waiting") -> None:
        self.rows[trial.name] = Row(trial, state)

    def say(self, line: str) -> None:
        self.console.print(line, markup=False, soft_wrap=True)

    def ended(self, outcome: Outcome) -> None:
        row = self.rows[outcome.name]
        row.state = outcome.state
        self._read(row)
        what = f"{outcome.state} after epoch {row.epoch}" if row.history else outcome.state
        figures = _figures(row.history[-1]) if row.history else ""
        self.say(f"{outcome.name}: {outcome.message or f'{what}  {figures}'}")

    def refresh(self, pool: Pool) -> None:
        """Read the folders of the running trials and show what has changed."""
        for complaint in pool.complaints:
            self.say(complaint)
        pool.complaints.clear()
        for job in pool.attempts.values():
            row = self.rows[job.name]
            row.failures = pool.failures[job.name]
            row.state = "running" if (self.runs / job.name / NOTE).exists() else "waiting"
            self._read(row)
        if self._live:
            self._live.update(self.table(), refresh=True)

    def _read(self, row: Row) -> None:
        try:
            lines = (self.runs / row.trial.name / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
            history = [json.loads(line) for line in lines]
            row.times = json.loads((self.runs / row.trial.name / "times.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        before, row.history = row.epoch, history
        if not self._live and row.state == "running" and row.epoch > before > 0:
            self.say(f"{row.trial.name}: epoch {row.epoch} of {row.epochs}  {_figures(history[-1])}")

    def table(self) -> Table:
        states = [row.state for row in self.rows.values()]
        counts = [f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states, key=lambda state: ORDER[state]))]
        if self.deadline is not None:
            counts.append(f"{duration(max(0.0, self.deadline - time.time()))} of the budget left")
        table = Table(caption=" · ".join(counts))
        for column in ("trial", "state", "epoch", *METRICS.values(), "time", "left"):
            table.add_column(column, justify="left" if column in {"trial", "state"} else "right", no_wrap=True)
        for row in sorted(self.rows.values(), key=lambda row: ORDER[row.state]):
            if row.state == "there":
                continue
            last = row.history[-1] if row.history else {}
            left = row.seconds_left()
            table.add_row(
                row.trial.name,
                row.state + (f", failed {row.failures}×" if row.failures else ""),
                f"{row.epoch}/{row.epochs}",
                *(_percent(last.get(name)) for name in METRICS),
                duration(row.times[-1]) if row.times else "",
                "" if left is None else duration(left),
                style=STYLES.get(row.state, ""),
            )
        return table


def _figures(record: dict[str, Any]) -> str:
    return "  ".join(f"{label} {_percent(record[name])}" for name, label in METRICS.items())


def _percent(value: float | None) -> str:
    return "–" if value is None else str(tenths(value))


def duration(seconds: float) -> str:
    """For people: 45 s, 12 min, 3 h 05."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02}"


def parse_budget(text: str) -> float:
    """Seconds: ``45s``, ``90m``, ``1h30m``."""
    matched = re.fullmatch(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?", text.strip())
    if not text.strip() or not matched:
        raise InputError(f"--budget {text!r}: expected a time such as 90m, 1h30m or 45s")
    hours, minutes, seconds = (float(part or 0) for part in matched.groups())
    return hours * 3600 + minutes * 60 + seconds

"""Examples in a run's folder: interactions that its agent suggests, and what the model of each epoch did with the same instructions.

``sestra serve --watch`` shows them. The file keeps actions, not states or models, so that it stays small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sestra.errors import InputError
from sestra.io import build, read_json, to_json, write_text

NAME = "examples.json"
MAX_EPOCHS = 200
"""Epochs that are kept; of more, every second, fourth, ... of the older ones."""


@dataclass(frozen=True)
class Task:
    """An instruction of the validation data."""

    instruction: str
    earlier: tuple[str, ...]
    """The instructions before it in its interaction."""
    start: str
    goal: str


@dataclass(frozen=True)
class Epoch:
    """What the model did with each task after so many epochs, greedily."""

    epoch: int
    actions: tuple[tuple[str, ...], ...]
    probabilities: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class RunExamples:
    """The content of the file."""

    epochs: int
    """The most epochs that the run will have."""
    interactions: tuple[dict[str, Any], ...] = ()
    """Of the training data, as in ``sestra.agent.folder.About.examples``."""
    tasks: tuple[Task, ...] = ()
    followed: tuple[Epoch, ...] = ()

    def with_epoch(self, epoch: Epoch) -> RunExamples:
        """With one more epoch, in place of what was known of it and of later ones."""
        followed = (*self.until(epoch.epoch - 1).followed, epoch)
        stride = 1
        while len(followed) > MAX_EPOCHS:
            stride *= 2
            followed = tuple(each for each in followed if each.epoch % stride == 0 or each is epoch)
        return replace(self, followed=followed)

    def until(self, epoch: int) -> RunExamples:
        """Without what the models of later epochs did."""
        return replace(self, followed=tuple(each for each in self.followed if each.epoch <= epoch))


def read(run: Path) -> RunExamples | None:
    """Those in a run's folder; None where there are none: earlier versions wrote none."""
    place = run / NAME
    if not place.exists():
        return None
    stored = read_json(place)
    if not isinstance(stored, dict) or not all(isinstance(stored.get(name, []), list) for name in ("tasks", "followed")):
        raise InputError(f"{place}: is not a run's examples; the file is damaged, delete it")
    rest = {name: value for name, value in stored.items() if name not in ("tasks", "followed")}
    tasks = [build(Task, each, f"{place}: task {number}") for number, each in enumerate(stored.get("tasks", []), start=1)]
    followed = [_epoch(each, f"{place}: epoch {number}") for number, each in enumerate(stored.get("followed", []))]
    found: RunExamples = replace(build(RunExamples, rest, str(place)), tasks=tuple(tasks), followed=tuple(followed))
    if any(len(each) != len(found.tasks) for epoch in found.followed for each in (epoch.actions, epoch.probabilities)):
        raise InputError(f"{place}: has an epoch with more or fewer executions than there are tasks; the file is damaged, delete it")
    return found


def _epoch(stored: Any, place: str) -> Epoch:
    """With tuples in tuples, where JSON has lists."""
    epoch: Epoch = build(Epoch, stored, place)
    return replace(epoch, actions=tuple(map(tuple, epoch.actions)), probabilities=tuple(map(tuple, epoch.probabilities)))


def write(run: Path, examples: RunExamples) -> None:
    write_text(run / NAME, to_json(examples) + "\n")

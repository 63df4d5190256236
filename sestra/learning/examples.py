"""What each run keeps for the page: interactions to suggest, and how the model of each epoch follows the same few instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sestra.agent import run_examples
from sestra.agent.limits import MAX_INSTRUCTION_LENGTH
from sestra.agent.run_examples import Epoch, RunExamples, Task
from sestra.data.batch import Turns
from sestra.data.scone import Interaction
from sestra.learning.callbacks import Callback, Record
from sestra.learning.rollout import execute_greedily
from sestra.learning.trainer import Trainer
from sestra.worlds.tables import Integers, Tables

TASKS = 5
SUGGESTED = 20
DECIMALS = 4


class KeepExamples(Callback):
    """Writes examples.json into the run's folder: before the first epoch, and after each."""

    def on_train_begin(self, trainer: Trainer, notices: Sequence[str]) -> None:
        del notices
        self._trainer, data = trainer, trainer.data
        rows = choose_rows(data.validation)
        self._turns = data.validation.select(rows)
        self._examples = RunExamples(
            trainer.epochs, suggested(data.interactions, trainer.tables), tasks(self._turns, data.held_out, trainer.tables)
        )
        before = run_examples.read(trainer.folder.path)
        if before is not None and before.tasks == self._examples.tasks:
            self._examples = replace(self._examples, followed=before.until(trainer.progress.epoch).followed)
        if trainer.progress.updates:  # of a run that is resumed
            run_examples.write(trainer.folder.path, self._examples)
        else:
            self._follow(0)

    def on_epoch_end(self, record: Record) -> None:
        self._follow(record["epoch"])

    def _follow(self, number: int) -> None:
        """Let the model follow the instructions; nothing is drawn at random."""
        trainer = self._trainer
        trainer.average.eval()
        execution = execute_greedily(trainer.average, trainer.tables, self._turns, trainer.config.rollout.execution_horizon)
        taken = np.exp(np.take_along_axis(execution.log_probs, execution.actions[..., None], -1))[..., 0]  # [steps, batch]
        names, lengths = [str(action) for action in trainer.tables.world.actions], execution.lengths.tolist()
        actions = tuple(
            tuple(names[action] for action in row[:length]) for row, length in zip(execution.actions.T.tolist(), lengths, strict=True)
        )
        rounded = taken.T.astype(np.float64).round(DECIMALS).tolist()
        probabilities = tuple(tuple(row[:length]) for row, length in zip(rounded, lengths, strict=True))
        self._examples = self._examples.with_epoch(Epoch(number, actions, probabilities))
        run_examples.write(trainer.folder.path, self._examples)


def choose_rows(turns: Turns) -> Integers:
    """Some turns of different interactions, the first of one, the second of the next and so on, as far as there are such turns."""
    found: list[int] = []
    interactions = list(dict.fromkeys(turns.interaction.tolist()))
    count = min(TASKS, len(interactions))
    for number in range(count):
        rows = np.flatnonzero(turns.interaction == interactions[number * len(interactions) // count])
        found.append(int(rows[number % len(rows)]))
    others = [row for row in range(len(turns)) if row not in found]
    return np.array([*found, *others[: TASKS - len(found)]], np.int64)


def tasks(turns: Turns, interactions: Sequence[Interaction], tables: Tables) -> tuple[Task, ...]:
    """The turns in words."""
    made = []
    states = zip(tables.decode(turns.initial), tables.decode(turns.goal), strict=True)
    for interaction, turn, (start, goal) in zip(turns.interaction.tolist(), turns.turn.tolist(), states, strict=True):
        said = interactions[interaction].instructions[: turn + 1]
        made.append(Task(said[-1], tuple(said[:-1]), tables.world.format(start), tables.world.format(goal)))
    return tuple(made)


def suggested(interactions: Sequence[Interaction], tables: Tables) -> tuple[dict[str, Any], ...]:
    """Interactions of the training data for the page of a world whose grammar cannot generate any; spread over the data."""
    if tables.world.grammar() is not None:
        return ()
    usable: list[dict[str, Any]] = [
        {"state": tables.world.format(each.states[0]), "instructions": list(each.instructions)}
        for each in interactions
        if each.states[0] is not None and each.instructions and all(0 < len(text) <= MAX_INSTRUCTION_LENGTH for text in each.instructions)
    ]
    return tuple(usable[number * len(usable) // SUGGESTED] for number in range(SUGGESTED)) if len(usable) > SUGGESTED else tuple(usable)

"""Task completion as the paper measures it: single instructions, the first three of an interaction, whole interactions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sestra.agent.execution import Execution
from sestra.data import sources
from sestra.data.batch import Turns, batches, encode_turns
from sestra.data.scone import Interaction
from sestra.data.vocabulary import Vocabulary
from sestra.metrics import METRICS, Accuracy, to_record
from sestra.version import __version__
from sestra.worlds.reward import step_with_rewards
from sestra.worlds.tables import Flags, Integers, Tables

Execute = Callable[[Turns], Execution]
"""Executes a batch of turns greedily."""


@dataclass(frozen=True)
class Evaluation:
    """What a policy reached, and how often it was right."""

    inst: Accuracy
    utts3: Accuracy
    utts5: Accuracy
    by_turn: tuple[Accuracy, ...]
    """Single instructions, by their place in the interaction."""
    reward: float
    """Mean over single instructions of the sum of an execution's rewards, as the paper defines them whatever training's shaping is."""
    reached: Integers  # [turns, slots]: from the annotated start state
    success: Flags  # [turns]


def evaluate(execute: Execute, tables: Tables, turns: Turns, *, batch_size: int, verbosity: float = 0.0) -> Evaluation:
    """Execute every instruction greedily from its annotated start, and every interaction from its start state.

    Until something has gone wrong the two are the same. From then on a turn is executed a second time, from the state that the
    interaction has reached, beside the first. Interactions with a state that nobody annotated are not followed.
    """
    reached, reward = np.empty_like(turns.goal), np.empty(len(turns))  # [turns, slots], [turns]
    interactions = int(turns.interaction.max()) + 1
    histories = np.zeros((interactions, *turns.history.shape[1:]), np.int64)  # [interactions, turns, slots]: where each turn begins
    right = np.zeros(interactions, np.bool_)  # [interactions]
    after_three = right[:0]  # [interactions that have three turns]
    numbers = range(int(turns.turn.max()) + 1)
    for number in numbers:
        rows = np.flatnonzero(turns.turn == number)
        these = turns.select(rows)
        if number == 0:
            histories[these.interaction] = these.history
        history = histories[these.interaction]  # [rows, turns, slots]
        astray = np.flatnonzero((history != these.history).any((1, 2)) & these.whole)
        both = these.select(np.concatenate([np.arange(len(rows)), astray]))
        both = both.starting_from(np.concatenate([these.history, history[astray]]))
        final, total = _execute_all(execute, tables, both, batch_size, verbosity)
        ended = final[: len(rows)].copy()  # [rows, slots]
        reached[rows], reward[rows] = ended, total[: len(rows)]
        ended[astray] = final[len(rows) :]
        histories[these.interaction, number + 1 :] = ended[:, None]
        right[these.interaction] = (ended == these.goal).all(-1)
        if number == 2:
            after_three = right[these.interaction[these.whole]]
    success = (reached == turns.goal).all(-1)  # [turns]
    return Evaluation(
        inst=Accuracy.of(success),
        utts3=Accuracy.of(after_three),
        utts5=Accuracy.of(right[np.unique(turns.interaction[turns.whole])]),
        by_turn=tuple(Accuracy.of(success[turns.turn == number]) for number in numbers),
        reward=float(reward.mean()),
        reached=reached,
        success=success,
    )


def executions(execute: Execute, turns: Turns, batch_size: int) -> Iterator[tuple[Turns, Execution]]:
    """Greedy executions of all turns, batch by batch in order of length."""
    for batch in batches(turns, batch_size):
        yield batch, execute(batch)


def _execute_all(execute: Execute, tables: Tables, turns: Turns, batch_size: int, verbosity: float) -> tuple[Integers, NDArray[np.float64]]:
    """Final states, ``[turns, slots]``, and total rewards, ``[turns]``, of greedy executions."""
    results = [
        (execution.final, _total_rewards(tables, batch, execution, verbosity))
        for batch, execution in executions(execute, turns, batch_size)
    ]
    back = turns.lengths.argsort(kind="stable").argsort()  # batches come in order of length
    final, total = (np.concatenate(column)[back] for column in zip(*results, strict=True))
    return final, total


def _total_rewards(tables: Tables, turns: Turns, execution: Execution, verbosity: float) -> NDArray[np.float64]:
    """The sum of each execution's rewards, ``[batch]``."""
    steps, batch, slots = execution.states.shape
    states, goals = execution.states.reshape(-1, slots), np.tile(turns.goal, (steps, 1))  # [steps * batch, slots]
    at_horizon = np.zeros(len(states), np.bool_)
    _, reward, _ = step_with_rewards(tables, states, goals, execution.actions.ravel(), verbosity=verbosity, at_horizon=at_horizon)
    total: NDArray[np.float64] = (reward.reshape(steps, batch) * execution.alive).sum(0)
    return total


class Evaluated(Protocol):
    """What can be evaluated: an agent, or a policy in training."""

    @property
    def tables(self) -> Tables: ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def world_reference(self) -> str: ...

    @property
    def verbosity(self) -> float: ...

    @property
    def training(self) -> dict[str, Any]:
        """How it was trained, for the record: ``learner``, ``seed``, ``chosen`` and ``config``."""

    @property
    def batch_size(self) -> int:
        """How many executions side by side are fastest."""

    def execute(self, turns: Turns) -> Execution:
        """Execute each turn's instruction greedily."""


@dataclass(frozen=True)
class SplitEvaluation:
    record: dict[str, Any]
    result: Evaluation
    interactions: list[Interaction]


def evaluate_split(evaluated: Evaluated, split: str, data: sources.Data = None, *, generated: bool = False) -> SplitEvaluation:
    """Follow the instructions and the interactions of a split."""
    interactions, source = sources.load(evaluated.world_reference, split, data, generated=generated)
    turns = encode_turns(interactions, evaluated.vocabulary, evaluated.tables)
    result = evaluate(evaluated.execute, evaluated.tables, turns, batch_size=evaluated.batch_size, verbosity=evaluated.verbosity)
    training = evaluated.training
    record = {
        "world": evaluated.tables.world.name,
        "split": split,
        **to_record({name: getattr(result, name) for name in METRICS}),
        "by_turn": [accuracy.rounded.percent for accuracy in result.by_turn],
        "reward": round(result.reward, 4),
        "learner": training.get("learner"),
        "seed": training.get("seed"),
        "training": training.get("chosen"),
        "data": dataclasses.asdict(source),
        "config": training.get("config"),
        "version": __version__,
    }
    return SplitEvaluation(record, result, interactions)

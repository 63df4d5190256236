"""Where a training run stands, so that it can be resumed after any batch."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from sestra.data.batch import Permutation
from sestra.metrics import selection_score
from sestra.worlds.tables import Integers


@dataclass
class Sums:
    """Over the batches of an epoch so far."""

    batches: int = 0
    instructions: int = 0
    objective: float = 0.0
    own: int = 0
    """Executions whose actions the policy chose itself."""
    succeeded: int = 0
    """Those of them that stopped in the goal state."""
    actions: int = 0
    observations: int = 0
    """Rewards, or actions of an oracle, that the learner was told."""

    @property
    def record(self) -> dict[str, float]:
        return {
            "objective": self.objective / self.instructions,
            "train_inst": 100 * self.succeeded / self.own if self.own else math.nan,
            "actions": self.actions / self.instructions,
            "observations": self.observations,
        }


@dataclass
class Progress:
    """Where a run stands between two batches: everything that is not a tensor."""

    epoch: int = 0
    updates: int = 0
    improvements: int = 0
    patience: float = math.inf
    best_reward: float = -math.inf
    best_epoch: int = 0
    teacher: str = ""
    """The checksum of the teacher's weights, if there is one."""
    history: list[dict[str, Any]] = field(default_factory=list)
    sums: Sums = field(default_factory=Sums)
    """Of the epoch that has begun."""
    seconds: float = 0.0
    """Of wall-clock time so far; times are the only thing that differs between two runs with the same settings."""
    times: list[float] = field(default_factory=list)
    """The seconds at the end of each epoch."""

    @property
    def best_score(self) -> tuple[float, ...]:
        """What the selected model scored on validation, whole interactions first."""
        return score(self.history[self.best_epoch - 1]) if self.best_epoch else (-math.inf,)


def score(record: dict[str, Any]) -> tuple[float, ...]:
    """By what models are chosen; where there are generated instructions to validate on, they count as much as the annotated ones."""
    interactions, *rest = selection_score(record["inst"], record["utts5"], record["reward"])
    generated = record.get("generated")
    return (interactions if generated is None else (interactions + generated) / 2, *rest)


class Permutations:
    """Random orders that a generator decides; those of an epoch are kept, so that it can be resumed after any batch."""

    def __init__(self, generator: torch.Generator) -> None:
        self.generator = generator
        self.drawn: list[Tensor] = []

    def replayed(self) -> Permutation:
        """Gives first what was drawn before, then draws."""
        given = itertools.count()

        def permutation(count: int) -> Integers:
            number = next(given)
            if number == len(self.drawn):
                self.drawn.append(torch.randperm(count, generator=self.generator))
            return self.drawn[number].numpy()

        return permutation

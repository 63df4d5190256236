"""What happened when instructions were executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sestra.agent.trace import Over
from sestra.worlds.tables import Flags, Integers


class AttentionMap(NamedTuple):
    """One kind of attention over the words of the turns or the objects of the world."""

    over: Over
    weights: NDArray[np.float32]  # [batch, heads, keys]
    places: Integers  # [batch, keys]: the column of ``words``, or the object's number as drawn from 0; -1 where there is nothing


@dataclass(frozen=True)
class Execution:
    """What happened, step by step; an execution that has ended waits with STOP until the longest has."""

    states: Integers  # [steps, batch, slots]: in which each action was chosen
    log_probs: NDArray[np.float32]  # [steps, batch, actions]
    actions: Integers  # [steps, batch]
    alive: Flags  # [steps, batch]: whether the execution had not ended before the step
    final: Integers  # [batch, slots]
    stopped: Flags  # [batch]: ended by STOP, not by the horizon
    attention: tuple[dict[str, AttentionMap], ...] = ()
    """Of each step, by name, if it was asked for."""

    @property
    def lengths(self) -> NDArray[Any]:
        """Actions of each execution, STOP included."""
        lengths: NDArray[Any] = self.alive.sum(0)
        return lengths  # [batch]

"""What happened when a policy executed a batch of turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class Execution:
    """What happened, step by step; an execution that has ended waits with STOP until the longest has."""

    states: Tensor  # [steps, batch, slots]: in which each action was chosen
    log_probs: Tensor  # [steps, batch, actions]
    actions: Tensor  # [steps, batch]
    alive: Tensor  # [steps, batch]: whether the execution had not ended before the step
    final: Tensor  # [batch, slots]
    stopped: Tensor  # [batch]: ended by STOP, not by the horizon
    attention: list[dict[str, Tensor]]
    """What each step told of what was looked at; ``Policy.attended`` reads it."""
    memory: Any
    """What the policy had read."""

    @property
    def lengths(self) -> Tensor:
        """Actions of each execution, STOP included."""
        return self.alive.sum(0)  # [batch]

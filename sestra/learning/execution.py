"""What happened when a policy executed a batch of turns, as tensors that gradients go through."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
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
    estimates: Tensor = field(default_factory=lambda: torch.empty(0))
    """What a critic estimates for every action, ``[steps, batch, actions]``, of learners that use one; else empty."""

    @property
    def lengths(self) -> Tensor:
        """Actions of each execution, STOP included."""
        return self.alive.sum(0)  # [batch]

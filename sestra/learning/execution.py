"""What happened when a policy executed a batch of turns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from sestra.learning.policies.base import Encoded


@dataclass(frozen=True)
class Execution:
    """What happened, step by step; an execution that has ended waits with STOP until the longest has."""

    states: Tensor  # [steps, batch, slots]: in which each action was chosen
    log_probs: Tensor  # [steps, batch, actions]
    actions: Tensor  # [steps, batch]
    alive: Tensor  # [steps, batch]: whether the execution had not ended before the step
    final: Tensor  # [batch, slots]
    stopped: Tensor  # [batch]: ended by STOP, not by the horizon
    attention: tuple[dict[str, Tensor], ...]
    """What each step returned of its attention."""
    encoded: Encoded
    """The turns as the policy encoded them."""

    @property
    def lengths(self) -> Tensor:
        """Actions of each execution, STOP included."""
        return self.alive.sum(0)  # [batch]

    def first(self, steps: int) -> Execution:
        """Its first steps; the final state is left as it was."""
        cut: dict[str, Any] = {name: getattr(self, name)[:steps] for name in (*STEPWISE, "attention")}
        return replace(self, **cut)

    def then(self, rest: Execution) -> Execution:
        """Both, one after the other."""
        joined: dict[str, Any] = {name: torch.cat([getattr(self, name), getattr(rest, name)]) for name in STEPWISE}
        return replace(rest, attention=self.attention + rest.attention, **joined)


STEPWISE = ("states", "log_probs", "actions", "alive")

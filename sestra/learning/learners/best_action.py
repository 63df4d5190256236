"""Best-action likelihood: the log of the total probability of the actions with the highest observed reward.

Like SESTRA it observes the reward of every action in every visited state. SESTRA's gradient is proportional to each action's probability,
so that a good action that the policy considers nearly impossible is learnt only slowly; this gradient is the larger, the less probable
the best actions are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution

TIE = 1e-6
"""Rewards that differ by less count as equal."""


@dataclass(frozen=True)
class BestAction:
    """No order is imposed on the actions: all that are best in a state count together."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = False

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        best = rewards >= rewards.amax(-1, keepdim=True) - TIE  # [steps, batch, actions]
        return execution.log_probs.masked_fill(~best, float("-inf")).logsumexp(-1)  # [steps, batch]

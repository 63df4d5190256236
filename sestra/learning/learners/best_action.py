"""Best-action likelihood: the log of the total probability of the actions with the highest observed reward.

Like SESTRA it observes the reward of every action in every visited state. SESTRA's gradient is proportional to each action's probability,
so that an action that the policy thinks nearly impossible is learnt only slowly, however good it is; this gradient is the larger, the less
probable the best actions are.

Where some annotations are wrong, that is too much of a good thing: their actions are the least probable ones. ``robust`` goes from the
likelihood (0) to the probability itself (1), with (p^q - 1) / q between them (Zhang and Sabuncu, 2018), whose gradient is p^q times that of
the likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from sestra.learning.learners.base import mean_over_steps

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution

TIE = 1e-6


@dataclass(frozen=True)
class BestAction:
    """No order is imposed on the actions: all that are best in a state count together."""

    robust: float = 0.0
    demonstrated = False
    on_policy = False

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        best = rewards >= rewards.amax(-1, keepdim=True) - TIE  # [steps, batch, actions]
        total = execution.log_probs.masked_fill(~best, float("-inf")).logsumexp(-1)  # [steps, batch]
        gain = torch.expm1(self.robust * total) / self.robust if self.robust else total  # [steps, batch]
        return mean_over_steps(gain, execution)

"""Mean Actor-Critic (Asadi et al. 2017), to whose sum over all actions the paper compares SESTRA's (Section 5).

It has SESTRA's gradient, with a critic's estimates of the returns instead of observed rewards. The critic learns from the returns of the
actions that were taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sestra.learning.learners.base import entropy, returns_to_go, taken
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


@dataclass(frozen=True)
class MeanActorCritic:
    """Maximises the expected return over all actions in every visited state, as the critic estimates it."""

    entropy: float = setting(0.1, 0, 1_000_000)
    """Weight (lambda) of the policy's entropy in the objective."""
    discount: float = setting(1.0, 0, 1)
    """Discount factor (gamma) of the return-to-go: a reward k steps later counts gamma^k times (1: not discounted)."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = True
    uses_critic: ClassVar = True

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        probabilities, estimates = execution.log_probs.exp(), execution.estimates  # [steps, batch, actions]
        actor = (probabilities * estimates.detach()).sum(-1)  # [steps, batch]: sum_a Q(s_k, a) grad pi(s_k, a)
        returns = returns_to_go(execution, rewards, self.discount)  # [steps, batch]: G_k
        critic = (taken(estimates, execution) - returns) ** 2 / 2  # [steps, batch]: (Q(s_k, a_k) - G_k) grad Q(s_k, a_k)
        return actor + self.entropy * entropy(execution) - critic  # [steps, batch]

"""Actor-critic (Sutton and Barto 2018, Chapter 13): policy gradient with a learnt baseline, as the paper suggests (Section 8).

The critic Q estimates the return-to-go of every action. Its expectation over the policy, V(s) = sum_a pi(s, a) Q(s, a), is the baseline:
what an action brings is compared with what the policy can expect in that state, so that not everything that was done early on becomes
less probable.
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
class ActorCritic:
    """Each action taken is credited with its return-to-go, less what was to be expected in its state."""

    entropy: float = setting(0.1, 0, 1_000_000)
    """Weight (lambda) of the policy's entropy in the objective."""
    discount: float = setting(1.0, 0, 1)
    """Discount factor (gamma) of the return-to-go: a reward k steps later counts gamma^k times (1: not discounted)."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = True
    uses_critic: ClassVar = True

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        returns = returns_to_go(execution, rewards, self.discount)  # [steps, batch]: G_k
        baseline = (execution.log_probs.exp() * execution.estimates).sum(-1).detach()  # [steps, batch]: V(s_k)
        actor = (returns - baseline) * taken(execution.log_probs, execution)  # [steps, batch]: (G_k - V(s_k)) grad log pi(s_k, a_k)
        critic = (taken(execution.estimates, execution) - returns) ** 2 / 2  # [steps, batch]: (Q(s_k, a_k) - G_k) grad Q(s_k, a_k)
        return actor + self.entropy * entropy(execution) - critic  # [steps, batch]

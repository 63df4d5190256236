"""Policy gradient (the paper's PolicyGradient): REINFORCE with the cumulative reward of the episode and no baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sestra.learning.learners.base import entropy, mean_over_steps, taken
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


@dataclass(frozen=True)
class PolicyGradient:
    """Each action taken is credited with the sum of all rewards of its execution."""

    entropy: float = setting(0.1, 0, 1_000_000)
    """Weight (lambda) of the policy's entropy in the objective."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = True

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        total = (taken(rewards, execution) * execution.alive).sum(0)  # [batch]
        credited = total * taken(execution.log_probs, execution)  # [steps, batch]: R grad log pi(s, a)
        return mean_over_steps(credited + self.entropy * entropy(execution), execution)

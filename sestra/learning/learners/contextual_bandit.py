"""Contextual bandit (the paper's ContextualBandit, after Misra et al. 2017): the immediate reward of the sampled action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sestra.learning.learners.base import entropy, mean_over_steps, taken
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


@dataclass(frozen=True)
class ContextualBandit:
    """Each action taken is credited with its own reward; the rewards of other actions are not observed."""

    entropy: float = setting(0.1, 0, 1_000_000)
    """Weight (lambda) of the policy's entropy in the objective."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = True

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        credited = taken(rewards, execution) * taken(execution.log_probs, execution)  # [steps, batch]: R(s, a) grad log pi(s, a)
        return mean_over_steps(credited + self.entropy * entropy(execution), execution)

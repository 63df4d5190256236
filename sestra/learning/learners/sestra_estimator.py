"""SESTRA with an estimator: the rewards of all actions are predicted, not observed; the paper names it as future work (Section 9).

The estimator learns from the rewards of the actions that were taken, so that it needs no more observations than the contextual bandit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sestra.learning.learners.base import entropy, taken
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


@dataclass(frozen=True)
class SestraEstimator:
    """Maximises the expected immediate reward over all actions in every visited state, as the estimator predicts it."""

    entropy: float = setting(0.1, 0, 1_000_000)
    """Weight (lambda) of the policy's entropy in the objective."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = True
    uses_critic: ClassVar = True

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        probabilities, predicted = execution.log_probs.exp(), execution.estimates  # [steps, batch, actions]
        expected = (probabilities * predicted.detach()).sum(-1)  # [steps, batch]: line 17 of Algorithm 1, with predicted rewards
        error = (taken(predicted, execution) - taken(rewards, execution)) ** 2 / 2  # [steps, batch]
        return expected + self.entropy * entropy(execution) - error  # [steps, batch]

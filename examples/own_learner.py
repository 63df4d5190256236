"""A learner of your own: the best action must win by a margin, the larger, the worse the other action is.

    J = -1/m sum_k ( max_a [ log pi(s_k, a) + kappa (R* - R(s_k, a)) ] - max_{b in B} log pi(s_k, b) )

B are the actions with the highest reward R* in the visited state s_k. The term in parentheses is 0 when every other action a is less
probable than the best one by a factor of exp(kappa (R* - R(s_k, a))) or more; otherwise the action that violates its margin most loses
probability to the best one. This is the hinge loss with cost-dependent margins of Tsochantaridis et al. (2005), applied to single steps.

    sestra train --world tangrams --learner examples/own_learner.py:Margin --margin 0.5 --out runs/margin
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sestra.learning.settings import setting

if TYPE_CHECKING:  # torch is not needed to show this learner's flags
    from torch import Tensor

    from sestra.learning.execution import Execution

TIE = 1e-6
"""Rewards that differ by less count as equal."""


@dataclass(frozen=True)
class Margin:
    """The best action wins by a margin that grows with the difference in reward."""

    margin: float = setting(1.0, 0, 1_000_000)
    """Margin (kappa) in log-probability per unit of reward."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = False

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        highest = rewards.amax(-1, keepdim=True)  # [steps, batch, 1]
        best = execution.log_probs.masked_fill(rewards < highest - TIE, float("-inf")).amax(-1)  # [steps, batch]
        worst_violation = (execution.log_probs + self.margin * (highest - rewards)).amax(-1)  # [steps, batch]
        return best - worst_violation  # [steps, batch]

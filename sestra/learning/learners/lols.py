"""Locally optimal learning to search (LOLS; Chang et al. 2015), the paper's Figure 3: one branch per execution, rolled out.

An execution of the policy (the roll-in) is branched in one of its steps, drawn at random. Every action is taken there and rolled out to
the end, by the policy or by a reference, and the sum of the rewards from there on is observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sestra.learning.learners.base import entropy
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution
    from sestra.learning.exploration import Exploration


@dataclass(frozen=True)
class Lols:
    """Maximises the expected return over all actions in one step of each execution."""

    entropy: float = setting(0.1, 0, 1_000_000)
    """Weight (lambda) of the policy's entropy in the objective."""
    reference_fraction: float = setting(0.5, 0, 1)
    """Fraction (beta) of the roll-outs that follow a shortest way to the goal; the policy itself continues the others."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = False

    def observe(self, exploration: Exploration) -> Tensor:
        """The return of every action in the step that is branched, 0 in the others."""
        return exploration.branch_returns(self.reference_fraction)  # [steps, batch, actions]

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        expected = (execution.log_probs.exp() * rewards).sum(-1)  # [steps, batch]: sum_a G(s_t, a) grad pi(s_t, a) in step t
        return execution.lengths * expected + self.entropy * entropy(execution)  # [steps, batch]: one step stands for all of them

"""Supervised learning (the paper's Supervised): maximum likelihood of shortest demonstrations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sestra.learning.learners.base import mean_over_steps, taken

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


@dataclass(frozen=True)
class Supervised:
    """Rewards and entropy are not used; the demonstrations come from the world's tables."""

    uses_demonstrations: ClassVar = True
    on_policy: ClassVar = False

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        del rewards
        return mean_over_steps(taken(execution.log_probs, execution), execution)

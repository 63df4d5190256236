"""SESTRA (Algorithm 1): single-step reward observation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from sestra.learning.learners.base import entropy
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


@dataclass(frozen=True)
class Sestra:
    """Maximises the expected immediate reward over all actions in every visited state."""

    entropy: float = setting(0.1, 0, 1_000_000)
    """Weight (lambda) of the policy's entropy in the objective."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = False
    readings: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({"authors": {"horizon_penalty": False}})

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        probabilities = execution.log_probs.exp()  # [steps, batch, actions]
        expected = (probabilities * rewards).sum(-1)  # [steps, batch]: line 17, whose gradient is sum_a R(s, a) grad pi(s, a)
        return expected + self.entropy * entropy(execution)  # [steps, batch]: line 14

"""Contextual bandit (the paper's ContextualBandit, after Misra et al. 2017): the immediate reward of the sampled action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from sestra.learning.learners.base import entropy, taken
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


@dataclass(frozen=True)
class ContextualBandit:
    """Each action taken is credited with its own reward; the rewards of other actions are not observed."""

    entropy: float = setting(0.1, 0, 1_000_000)
    """Weight (lambda) of the policy's entropy in the objective."""
    entropy_in_reward: bool = False
    """Whether the weighted entropy is also added to the reward of the action taken, as a constant (the authors' program)."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = True
    readings: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({"authors": {"entropy_in_reward": True}})

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        credit = taken(rewards, execution)  # [steps, batch]
        if self.entropy_in_reward:
            credit = credit + self.entropy * entropy(execution).detach()  # [steps, batch]
        credited = credit * taken(execution.log_probs, execution)  # [steps, batch]: R(s, a) grad log pi(s, a)
        return credited + self.entropy * entropy(execution)  # [steps, batch]

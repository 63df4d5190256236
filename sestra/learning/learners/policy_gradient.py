"""Policy gradient (the paper's PolicyGradient): REINFORCE with the cumulative reward of the episode and no baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sestra.errors import InputError
from sestra.learning.learners.base import entropy, returns_to_go, taken
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution

Credit = Literal["episode", "return-to-go"]


@dataclass(frozen=True)
class PolicyGradient:
    """Each action taken is credited with the sum of all rewards of its execution, or of those from this action on."""

    entropy: float = setting(0.1, 0, 1_000_000)
    """Weight (lambda) of the policy's entropy in the objective."""
    credit: Credit = "episode"
    """Which rewards each action is credited with: those of its whole execution (the paper), or those from this action on."""
    discount: float = setting(1.0, 0, 1)
    """Discount factor (gamma) of the return-to-go: a reward k steps later counts gamma^k times (1: not discounted)."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = True
    readings: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({"authors": {"credit": "return-to-go", "discount": 0.5}})

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        if self.credit == "episode" and self.discount != 1:
            raise InputError(f"--discount {self.discount}: the credit of the whole episode has none; use it with --credit return-to-go")

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        credit = returns_to_go(execution, rewards, self.discount)  # [steps, batch]
        if self.credit == "episode":
            credit = credit[0]  # [batch]: not discounted, the sum of all rewards
        credited = credit * taken(execution.log_probs, execution)  # [steps, batch]: R grad log pi(s, a)
        return credited + self.entropy * entropy(execution)  # [steps, batch]

"""Supervised learning (the paper's Supervised): maximum likelihood of shortest demonstrations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from sestra.learning.learners.base import taken

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


@dataclass(frozen=True)
class Supervised:
    """Rewards and entropy are not used; the demonstrations come from the world's tables."""

    uses_demonstrations: ClassVar = True
    on_policy: ClassVar = False
    readings: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({"authors": {"optimiser": "rmsprop", "dropout": 0.5}})

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        del rewards
        return taken(execution.log_probs, execution)  # [steps, batch]

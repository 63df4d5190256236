"""DAgger (Ross et al. 2011), of which the paper calls SESTRA a cost-sensitive variant: the likelihood of an oracle's actions.

The policy decides which states are visited. In each of them the oracle says what it would do: the next action of a demonstration.
Batches are not aggregated; each is learnt from once, which is the online form of the algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution
    from sestra.learning.exploration import Exploration


@dataclass(frozen=True)
class Dagger:
    """Rewards and entropy are not used. The mixture of policy and oracle that visits the states is ``--oracle-fraction``."""

    uses_demonstrations: ClassVar = False
    on_policy: ClassVar = False

    def observe(self, exploration: Exploration) -> Tensor:
        """1 for the oracle's action, 0 for all others."""
        return exploration.oracle_actions()  # [steps, batch, actions]

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        return execution.log_probs.masked_fill(rewards == 0, 0).sum(-1)  # [steps, batch]: log pi(s_k, a*_k)

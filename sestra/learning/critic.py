"""A critic: a second network of the policy's kind, whose scores of the actions are estimates of what they bring."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from sestra.data.batch import Turns
from sestra.learning import optim
from sestra.learning.config import OptimisationConfig
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import score_again
from sestra.worlds.tables import Tables


class Critic:
    """Its network and optimiser; the learner's objective has its loss."""

    def __init__(self, network: Policy, settings: OptimisationConfig) -> None:
        self.network, self.settings = network, settings
        self.optimiser = optim.make_optimiser(settings, network.parameters())

    def estimate(self, tables: Tables, turns: Turns, execution: Execution) -> Tensor:
        """For every action in every visited state, ``[steps, batch, actions]``."""
        return score_again(self.network, tables, turns, execution)

    def update(self, learning_rate: float) -> None:
        """One step along the gradients that the objective left."""
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate
        if self.settings.max_grad_norm:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.max_grad_norm)
        self.optimiser.step()
        self.optimiser.zero_grad()

    def tensors(self) -> dict[str, Tensor]:
        """For a checkpoint."""
        return self.network.state_dict() | {
            f"{OPTIMISER}{name}": value for name, value in optim.state_tensors(self.optimiser, self.network).items()
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """From a checkpoint."""
        self.network.load_state_dict({name: value for name, value in tensors.items() if not name.startswith(OPTIMISER)})
        stored = {name.removeprefix(OPTIMISER): value for name, value in tensors.items() if name.startswith(OPTIMISER)}
        optim.restore_state(self.optimiser, self.network, stored)


OPTIMISER = "optimiser/"
"""No weight's name begins like this."""

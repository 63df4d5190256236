"""What a learner is: a way to roll in and an objective."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


class Learner(Protocol):
    """Called once for each batch of executions."""

    demonstrated: bool
    """Whether executions follow the shortest demonstrations; else they are sampled from the policy."""
    on_policy: bool
    """Whether it learns from the actions that were taken, which must be the policy's own; else it learns about all, wherever it gets."""

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        """What each execution contributes to the objective that is maximised, ``[batch]``; rewards are ``[steps, batch, actions]``."""


def mean_over_steps(values: Tensor, execution: Execution) -> Tensor:
    """The mean over each execution's own steps of values ``[steps, batch]``."""
    return (values * execution.alive).sum(0) / execution.lengths  # [batch]


def taken(values: Tensor, execution: Execution) -> Tensor:
    """Of values for every action, ``[steps, batch, actions]``, those of the actions that were taken."""
    return values.gather(-1, execution.actions.unsqueeze(-1)).squeeze(-1)  # [steps, batch]


def entropy(execution: Execution) -> Tensor:
    """H of the policy's distribution at each step."""
    return -(execution.log_probs.exp() * execution.log_probs).sum(-1)  # [steps, batch]

"""What a learner is: which executions it learns from, and an objective."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution


class Learner(Protocol):
    """A frozen dataclass whose fields are the learner's settings, each with a default; its module does not import torch.

    Optional: a method ``check()`` that raises InputError for values that make no sense.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    uses_demonstrations: ClassVar[bool]
    """Whether executions follow shortest demonstrations; else they are sampled from the policy."""
    on_policy: ClassVar[bool]
    """Whether it learns from the actions that were taken, which must then be sampled from the policy; else it learns about all actions in
    the visited states, whoever chose the way there."""

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

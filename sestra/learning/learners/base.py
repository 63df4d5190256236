"""What a learner is: which executions it learns from, and an objective."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from torch import Tensor

    from sestra.learning.execution import Execution

Normalisation = Literal["per-execution", "per-step"]


class Learner(Protocol):
    """A frozen dataclass whose fields are the learner's settings, each with a default; its module does not import torch.

    Optional:

    - a method ``check()`` that raises InputError for values that make no sense;
    - a class attribute ``readings``: settings by the name of a preset, 'paper' or 'authors', that belong to this learner there;
    - a class attribute ``uses_critic = True``: a second network of the policy's kind, the critic, is trained beside it. Its scores of the
      actions are ``execution.estimates``; what they are estimates of, the objective decides;
    - a method ``observe(exploration: Exploration) -> Tensor``: what the objective is given instead of the immediate rewards.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    uses_demonstrations: ClassVar[bool]
    """Whether executions follow shortest demonstrations; else they are sampled from the policy."""
    on_policy: ClassVar[bool]
    """Whether it learns from the actions that were taken, which must then be sampled from the policy; else it learns about all actions in
    the visited states, whoever chose the way there."""

    def objective(self, execution: Execution, rewards: Tensor) -> Tensor:
        """What each step contributes to the objective that is maximised, ``[steps, batch]``; rewards are ``[steps, batch, actions]``.

        Steps after an execution's end may have any finite value: they do not count.
        """


def average(values: Tensor, execution: Execution, normalisation: Normalisation) -> Tensor:
    """What each execution contributes, ``[batch]``; its mean is the objective of the batch. Values are those of steps, ``[steps, batch]``.

    Per execution: the mean over the execution's own steps, so that all executions count the same (Algorithm 1, line 18). Per step: the sum
    over its steps divided by the batch's mean number of steps, so that all steps of the batch count the same (the authors' program).
    """
    lengths = execution.lengths if normalisation == "per-execution" else execution.lengths.float().mean()
    return (values * execution.alive).sum(0) / lengths  # [batch]


def taken(values: Tensor, execution: Execution) -> Tensor:
    """Of values for every action, ``[steps, batch, actions]``, those of the actions that were taken."""
    return values.gather(-1, execution.actions.unsqueeze(-1)).squeeze(-1)  # [steps, batch]


def returns_to_go(execution: Execution, rewards: Tensor, discount: float) -> Tensor:
    """G_k = R_k + gamma G_(k+1) of the actions that were taken, ``[steps, batch]``."""
    returns = taken(rewards, execution) * execution.alive  # [steps, batch]
    for step in range(len(returns) - 2, -1, -1):
        returns[step] += discount * returns[step + 1]
    return returns


def entropy(execution: Execution) -> Tensor:
    """H of the policy's distribution at each step."""
    return -(execution.log_probs.exp() * execution.log_probs).sum(-1)  # [steps, batch]

"""What a policy is: it reads a batch of turns once, then scores every action at every step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol, Self

from torch import Tensor, nn

from sestra.data.batch import Turns
from sestra.learning.execution import Execution


class Step(NamedTuple):
    """One step's answer."""

    logits: Tensor  # [batch, actions]
    carry: Any
    """What the policy remembers until the next step; a tuple of tensors, ``[batch, ...]`` each."""
    attention: dict[str, Tensor]
    """What was looked at, if it was asked for, as ``Policy.attended`` reads it: ``[batch, ...]`` each."""


class Attended(NamedTuple):
    """What the keys of one kind of attention are: words of the turns, or objects of the world."""

    over: Literal["words", "objects"]
    weights: Tensor  # [steps, batch, heads, keys]
    places: Tensor  # [batch, keys]: the column of ``turns.words``, or the object's number as drawn from 0; -1 where there is nothing


class Policy(Protocol):
    """The protocol that rollouts, learners and agents use."""

    at_once: int
    """Executions side by side with which it is fastest, where there are many to make."""

    def read(self, turns: Turns) -> Any:
        """Encode what does not change during the turn; the memory that ``step`` is given."""

    def begin(self, memory: Any) -> Any:
        """What is carried into the first step."""

    def step(self, memory: Any, carry: Any, states: Tensor, previous: Tensor, *, tell: bool = False) -> Step:
        """Score every action in the states, and tell what was looked at if that is asked for.

        ``previous`` holds the last actions, or ``actions`` (one past STOP) in the first step.
        """

    def narrow(self, memory: Any, rows: Tensor) -> Any:
        """The memory of some of the turns."""

    def finish(self, memory: Any, states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        """The logits of all steps, ``[steps, batch, actions]``, with their gradient: a policy may leave it until here.

        The memory is the one that ``read`` gave; the states, ``[steps, batch, slots]``, are those in which the steps were taken. Only where
        an execution is alive, ``[steps, batch]``, do the logits matter.
        """

    def attended(self, turns: Turns, execution: Execution) -> dict[str, Attended]:
        """What was looked at in the steps of the turns' executions, which told it."""

    # Of torch.nn.Module, which a policy that is trained or loaded is.

    def parameters(self) -> Iterator[nn.Parameter]: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: Mapping[str, Any]) -> Any: ...
    def train(self) -> Self: ...
    def eval(self) -> Self: ...
    def requires_grad_(self, requires_grad: bool = True) -> Self: ...


def spread(values: Tensor, rows: Tensor, size: int) -> Tensor:
    """The values of some rows in their places, and zeros in the others."""
    return values if len(rows) == size else values.new_zeros(size, *values.shape[1:]).index_copy(0, rows, values)  # [size, ...]

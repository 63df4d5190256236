"""What a policy is: it encodes a batch of turns once, then scores every action at every step.

``Policy`` is all that a policy has to be: an ordinary autograd module with ``encode`` and ``step`` trains correctly. The capabilities after
it are optional: a policy that also derives from one of them is faster, or can be explained.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

import torch
from torch import Tensor, nn

from sestra.agent.trace import Over
from sestra.data.batch import Turns
from sestra.learning.operators import gather_rows

Values = TypeVar("Values")


class Inputs(NamedTuple):
    """What a policy knows when turns begin; ``sestra.data.batch.Turns`` says what is in each."""

    words: Tensor  # [batch, words]: of all instructions so far, padded at the end
    lengths: Tensor  # [batch]
    current: Tensor  # [batch]: where this turn's instruction begins
    history: Tensor  # [batch, turns, slots]
    turn: Tensor  # [batch]

    @classmethod
    def of(cls, turns: Turns, device: torch.device | None = None) -> Inputs:
        """As tensors: on the CPU the same memory."""
        parts = (turns.words, turns.lengths, turns.current, turns.history, turns.turn)
        return cls(*(torch.from_numpy(part).to(device) for part in parts))

    @property
    def initial(self) -> Tensor:
        """The states in which the turns begin."""
        return self.starts(self.turn)

    def starts(self, turns: Tensor) -> Tensor:
        """The states in which the turns of these numbers, ``[batch]``, began."""
        if exporting():
            return cast("Tensor", gather_rows(self.history, turns.unsqueeze(1)).squeeze(1))  # [batch, slots]
        return self.history[torch.arange(self.turn.shape[0], device=self.turn.device), turns]  # [batch, slots]


class Encoded(NamedTuple):
    """What a policy knows of a batch of turns before their first step.

    Both are tensors ``[batch, ...]`` in any nesting of tuples, lists, dicts and dataclasses.
    """

    memory: Any
    """What stays the same through an execution."""
    carry: Any = ()
    """What is handed from each step to the next, such as the state of a recurrent decoder."""


class AttentionMap(NamedTuple):
    """One kind of attention over the words of the turns or the objects of the world."""

    over: Over
    weights: Tensor  # [batch, heads, keys]
    places: Tensor  # [batch, keys]: the column of ``words``, or the object's number as drawn from 0; -1 where there is nothing


class Step(NamedTuple):
    """What a policy returns for one step."""

    logits: Tensor  # [batch, actions]
    carry: Any = ()
    attention: Mapping[str, AttentionMap] = {}
    """What was attended to, by name, if it was asked for; for figures and the page."""
    record: Any = None
    """What ``DeferredGradients.replay`` needs of the step."""


class Policy(nn.Module, ABC):
    """A network that scores actions."""

    evaluation_batch_size = 256
    """How many executions side by side are fastest."""
    cpu_only: ClassVar[bool] = False
    """Whether it computes on the CPU alone; else all its tensors must be on the device of the inputs."""

    @abstractmethod
    def encode(self, inputs: Inputs) -> Encoded:
        """Encode what does not change during the turn."""

    @abstractmethod
    def step(self, memory: Any, carry: Any, states: Tensor, previous: Tensor, *, return_attention: bool = False) -> Step:
        """Score every action in the states, ``[batch, slots]``.

        ``previous`` has the last actions, ``[batch]``; in the first step it is ``actions``, one past STOP.
        """


class SelectsMemory(ABC):
    """Has a memory with more in it than ``[batch, ...]`` tensors, and selects from it itself."""

    @abstractmethod
    def select(self, memory: Any, rows: Tensor) -> Any:
        """The memory of some of the turns."""


class Visits(NamedTuple):
    """The steps of a batch of executions, as they were taken."""

    states: Tensor  # [steps, batch, slots]
    previous: Tensor  # [steps, batch]
    alive: Tensor  # [steps, batch]: whether the execution had not ended before the step
    logits: Tensor  # [steps, batch, actions]: without a gradient, and 0 for executions that were not scored
    rows: list[Tensor]  # [running] each: which executions were scored in the step
    records: list[Any]
    """What each step recorded."""


class DeferredGradients(ABC):
    """Computes the gradients of all steps together when executions have ended; steps are taken without autograd."""

    @abstractmethod
    def replay(self, memory: Any, visits: Visits) -> Tensor:
        """The logits of the visited steps, ``[steps, batch, actions]``, with their gradient; the memory is the one of all turns."""


class IndependentSteps(ABC):
    """Has steps that depend on the state alone, not on the steps before: they can be scored in any order, all at once."""

    @abstractmethod
    def score_steps(self, memory: Any, states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        """The logits, ``[steps, batch, actions]``, with those of living steps computed anew for the states, ``[steps, batch, slots]``."""


_EXPORTING: ContextVar[bool] = ContextVar("exporting", default=False)


def exporting() -> bool:
    """Whether the policy is being exported (``sestra.learning.graphs``): nothing may then depend on the sizes of a batch."""
    return _EXPORTING.get()


@contextmanager
def export_mode() -> Iterator[None]:
    """In which ``exporting()`` is true."""
    token = _EXPORTING.set(True)
    try:
        yield
    finally:
        _EXPORTING.reset(token)


def data_size(value: Tensor, at_most: int) -> int:
    """A size of at least one that depends on the data, as a number; exported graphs compute it anew for every batch."""
    size = cast("int", value.item())  # not int(): an exported graph keeps the size as a variable
    torch._check(size >= 1)
    torch._check(size <= at_most)
    return size


def select(policy: Policy, memory: Any, rows: Tensor) -> Any:
    """A policy's memory of some of the turns."""
    return policy.select(memory, rows) if isinstance(policy, SelectsMemory) else select_rows(memory, rows)


def select_rows(values: Values, rows: Tensor) -> Values:
    """The same rows of every tensor in nested tuples, lists, dicts and dataclasses."""
    found: Any
    if isinstance(values, Tensor):
        found = values.index_select(0, rows)
    elif isinstance(values, tuple | list):
        parts = [select_rows(value, rows) for value in values]
        found = type(values)(*parts) if hasattr(values, "_fields") else type(values)(parts)
    elif isinstance(values, dict):
        found = {name: select_rows(value, rows) for name, value in values.items()}
    elif dataclasses.is_dataclass(values) and not isinstance(values, type):
        found = type(values)(**{field.name: select_rows(getattr(values, field.name), rows) for field in dataclasses.fields(values)})
    elif values is None:
        found = None
    else:
        raise TypeError(f"a policy's memory holds {type(values).__name__}; expected tensors in tuples, lists, dicts or dataclasses")
    return cast("Values", found)


def scatter_rows(values: Tensor, rows: Tensor, size: int) -> Tensor:
    """The values of some rows in their places, and zeros in the others."""
    return values if len(rows) == size else values.new_zeros(size, *values.shape[1:]).index_copy(0, rows, values)  # [size, ...]

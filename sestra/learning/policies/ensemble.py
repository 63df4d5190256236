"""Several policies that decide together: an action's probability is the mean of their probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from sestra.learning.execution import Execution
from sestra.learning.policies.base import (
    AttentionMap,
    Encoded,
    IndependentSteps,
    Inputs,
    Policy,
    ReportsAttention,
    SelectsMemory,
    SpeculativeDecoding,
    Step,
    select,
)


class Ensemble(Policy, SelectsMemory, ReportsAttention, SpeculativeDecoding):
    """For inference, not for training; its members share policy configuration, world and vocabulary.

    Attention is that of the first member, weighted by the ensemble's probabilities where the policy weights tokens by them.
    """

    def __init__(self, members: Sequence[Policy]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.evaluation_batch_size = members[0].evaluation_batch_size

    @property
    def _members(self) -> list[Policy]:
        return cast("list[Policy]", list(self.members))

    def encode(self, inputs: Inputs) -> Encoded:
        encoded = [member.encode(inputs) for member in self._members]
        return Encoded([each.memory for each in encoded], [each.carry for each in encoded])

    def step(self, memory: Any, carry: Any, states: Tensor, previous: Tensor, *, return_attention: bool = False) -> Step:
        steps = [
            member.step(own_memory, own_carry, states, previous, return_attention=return_attention and not number)
            for number, (member, own_memory, own_carry) in enumerate(zip(self._members, memory, carry, strict=True))
        ]
        return Step(mean_log_probs(step.logits for step in steps), [step.carry for step in steps], steps[0].attention)

    def select(self, memory: Any, rows: Tensor) -> list[Any]:
        return [select(member, own, rows) for member, own in zip(self._members, memory, strict=True)]

    def attention(self, inputs: Inputs, execution: Execution) -> dict[str, AttentionMap]:
        first = self._members[0]
        if not isinstance(first, ReportsAttention):
            return {}
        return first.attention(inputs, replace(execution, encoded=Encoded(execution.encoded.memory[0])))

    def drafter(self) -> Policy | None:
        """The first member, if the steps of all others can be scored at once."""
        return self._members[0] if all(isinstance(member, IndependentSteps) for member in self._members) else None

    def verify(self, memory: Any, draft: Execution) -> Tensor:
        others = cast("list[IndependentSteps]", list(self.members)[1:])
        logits = [
            member.score_steps(own, draft.states, draft.log_probs, draft.alive) for member, own in zip(others, memory[1:], strict=True)
        ]
        return mean_log_probs([draft.log_probs, *logits])


def mean_log_probs(logits: Iterable[Tensor]) -> Tensor:
    """The logarithm of the mean of the probabilities that several logits, ``[..., actions]``, give."""
    probabilities = torch.stack([each.softmax(-1) for each in logits])  # [members, ..., actions]
    return probabilities.mean(0).clamp(min=torch.finfo().tiny).log()

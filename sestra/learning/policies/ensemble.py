"""Several policies that decide together: an action's probability is the mean of what each of them gives it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from sestra.data.batch import Turns
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Attended, Policy, Step


class Ensemble(nn.Module):
    """For use, not for training; its members have the same network, world and vocabulary.

    The first tells what it looked at; where tokens are weighted by the probability that they act, that is the ensemble's.
    """

    def __init__(self, members: Sequence[Policy]) -> None:
        super().__init__()
        self.members = nn.ModuleList(cast("Sequence[nn.Module]", members))
        self.at_once = members[0].at_once

    @property
    def _members(self) -> list[Policy]:
        return cast("list[Policy]", list(self.members))

    def read(self, turns: Turns) -> list[Any]:
        return [member.read(turns) for member in self._members]

    def begin(self, memory: list[Any]) -> tuple[Tensor, ...]:
        return tuple(part for member, own in zip(self._members, memory, strict=True) for part in member.begin(own))

    def step(self, memory: list[Any], carry: tuple[Tensor, ...], states: Tensor, previous: Tensor, *, tell: bool = False) -> Step:
        each = len(carry) // len(self.members)
        steps = [
            member.step(own, carry[number * each : (number + 1) * each], states, previous, tell=tell and not number)
            for number, (member, own) in enumerate(zip(self._members, memory, strict=True))
        ]
        carried = tuple(part for step in steps for part in step.carry)
        return Step(self.together(step.logits for step in steps), carried, steps[0].attention)

    def narrow(self, memory: list[Any], rows: Tensor) -> list[Any]:
        return [member.narrow(own, rows) for member, own in zip(self._members, memory, strict=True)]

    def finish(self, memory: list[Any], states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        del memory, states, alive
        return logits

    def attended(self, turns: Turns, execution: Execution) -> dict[str, Attended]:
        return self._members[0].attended(turns, replace(execution, memory=execution.memory[0]))

    @staticmethod
    def together(logits: Iterable[Tensor]) -> Tensor:
        """The logarithm of the mean of the members' probabilities."""
        probabilities = torch.stack([each.softmax(-1) for each in logits])  # [members, ..., actions]
        return probabilities.mean(0).clamp(min=torch.finfo().tiny).log()

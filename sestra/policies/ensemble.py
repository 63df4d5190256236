"""Several policies that decide together: an action's probability is the mean of what each of them gives it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from sestra.data.batching import Turns
from sestra.execution import Execution
from sestra.policies.attention import AttentionPolicy
from sestra.policies.base import Attended, Policy, Step
from sestra.policies.objects import ObjectPolicy


class Ensemble(nn.Module):
    """For use, not for training; its members have the same network, world and vocabulary.

    The first tells what it looked at; where tokens are weighted by the probability that they act, that is the ensemble's.
    """

    def __init__(self, members: Sequence[AttentionPolicy | ObjectPolicy]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

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
        return Step(_together(step.logits for step in steps), carried, steps[0].attention)

    def narrow(self, memory: list[Any], rows: Tensor) -> list[Any]:
        return [member.narrow(own, rows) for member, own in zip(self._members, memory, strict=True)]

    def finish(self, memory: list[Any], states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        del memory, states, alive
        return logits

    def attended(self, turns: Turns, execution: Execution) -> dict[str, Attended]:
        return self._members[0].attended(turns, replace(execution, memory=execution.memory[0]))


class Draft(Ensemble):
    """An ensemble whose first member acts; the others are asked about all of its steps at once, when it has finished.

    Its log-probabilities are the ensemble's. Where they say that the ensemble would have acted otherwise, the execution is not the
    ensemble's; mostly they do not, and then it took one member's time for the steps instead of all members'.
    """

    @classmethod
    def of(cls, policy: Policy) -> Draft | None:
        """That of an ensemble of policies none of whose steps depends on another; of any other policy there is none."""
        if not isinstance(policy, Ensemble) or not all(isinstance(member, ObjectPolicy) for member in policy.members):
            return None
        return cls([cast("ObjectPolicy", member) for member in policy.members])

    def step(self, memory: list[Any], carry: tuple[Tensor, ...], states: Tensor, previous: Tensor, *, tell: bool = False) -> Step:
        return self._members[0].step(memory[0], carry, states, previous, tell=tell)

    def finish(self, memory: list[Any], states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        others = zip(cast("list[ObjectPolicy]", list(self.members)[1:]), memory[1:], strict=True)
        return _together([logits, *(member.score_all(own, states, logits, alive) for member, own in others)])


def _together(logits: Iterable[Tensor]) -> Tensor:
    """The logarithm of the mean of the members' probabilities."""
    log_probs = torch.stack([each.log_softmax(-1) for each in logits])  # [members, ..., actions]
    return log_probs.logsumexp(0) - math.log(len(log_probs))

"""Several policies that decide together: an action's probability is the mean of what each of them gives it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from sestra.data.batching import Turns
from sestra.policies.attention import AttentionPolicy
from sestra.policies.base import Attended, Policy, Step
from sestra.policies.objects import ObjectPolicy

if TYPE_CHECKING:
    from sestra.rollout import Execution


class Ensemble(nn.Module):
    """For use, not for training; its members have the same network, world and vocabulary."""

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
            member.step(own, carry[number * each : (number + 1) * each], states, previous, tell=tell)
            for number, (member, own) in enumerate(zip(self._members, memory, strict=True))
        ]
        log_probs = torch.stack([step.logits.log_softmax(-1) for step in steps])  # [members, batch, actions]
        attention = {name: torch.stack([step.attention[name] for step in steps]).mean(0) for name in steps[0].attention}
        return Step(log_probs.logsumexp(0) - math.log(len(steps)), tuple(part for step in steps for part in step.carry), attention)

    def narrow(self, memory: list[Any], rows: Tensor) -> list[Any]:
        return [member.narrow(own, rows) for member, own in zip(self._members, memory, strict=True)]

    def finish(self, memory: list[Any], states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        del memory, states, alive
        return logits

    def attended(self, turns: Turns, execution: Execution) -> dict[str, Attended]:
        return self._members[0].attended(turns, replace(execution, memory=execution.memory[0]))  # the means are told as any member tells

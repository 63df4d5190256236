"""Executing an ensemble in less than the time of all its members' steps: the first drafts, and the others correct it.

The members' steps must not depend on each other. The first acts until it stops, then the others are asked about all of its steps at once.
Mostly all together would have done the same; from where they would not, every step is taken together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from torch import Tensor

from sestra.data.batch import Turns
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Policy, Step
from sestra.learning.policies.ensemble import Ensemble
from sestra.learning.policies.objects.policy import ObjectPolicy
from sestra.learning.rollout import Choose, roll_out
from sestra.worlds.tables import Tables


class Draft(Ensemble):
    """An ensemble whose first member acts alone; when it has finished, its steps are scored by all."""

    @classmethod
    def of(cls, policy: Policy) -> Draft | None:
        """That of an ensemble of policies none of whose steps depends on another; of any other policy there is none."""
        if not isinstance(policy, Ensemble) or not all(isinstance(member, ObjectPolicy) for member in policy.members):
            return None
        return cls([cast("Policy", member) for member in policy.members])

    def step(self, memory: list[Any], carry: tuple[Tensor, ...], states: Tensor, previous: Tensor, *, tell: bool = False) -> Step:
        return self._members[0].step(memory[0], carry, states, previous, tell=tell)

    def finish(self, memory: list[Any], states: Tensor, logits: Tensor, alive: Tensor) -> Tensor:
        others = zip(cast("list[ObjectPolicy]", list(self.members)[1:]), memory[1:], strict=True)
        return self.together([logits, *(member.score_all(own, states, logits, alive) for member, own in others)])


def roll_out_drafting(draft: Draft, ensemble: Policy, tables: Tables, turn: Turns, horizon: int, choose: Choose) -> Execution:
    """What ``roll_out`` gives for a single turn and its ensemble, where ``choose`` goes by the logits alone; it tells what is looked at."""
    drafted = roll_out(draft, tables, turn, horizon, choose, tell=True)
    wanted = choose(drafted.log_probs, drafted.states, 0)  # [steps, 1]
    agreed = int((wanted == drafted.actions).long().cumprod(0).sum())
    if agreed == len(wanted):
        return drafted
    kept, action = agreed + 1, wanted[agreed]  # the first on which they differ is taken as all together want it
    state = tables.step(drafted.states[agreed], action)  # [1, slots]
    stopped = action == tables.stop  # [1]
    corrected = replace(drafted.first(kept), actions=wanted[:kept], final=state, stopped=stopped)
    if stopped or kept == horizon:
        return corrected
    return corrected.then(roll_out(ensemble, tables, turn, horizon - kept, choose, memory=drafted.memory, start=state, tell=True))

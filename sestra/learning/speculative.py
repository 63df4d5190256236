"""Speculative decoding of an ensemble: one member drafts an execution, and the others verify all of its steps at once.

Mostly all members together would have chosen the same actions; from the first step where they would not, every step is taken together.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from sestra.data.batch import Turns
from sestra.learning.decoding import Choose
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Encoded, Inputs, Policy, SpeculativeDecoding
from sestra.learning.rollout import roll_out
from sestra.worlds.tables import Tables


def roll_out_speculatively(policy: Policy, tables: Tables, turn: Turns, horizon: int, choose: Choose) -> Execution:
    """What ``roll_out`` gives for a single turn, where ``choose`` depends on the logits alone, with attention; faster where it can be."""
    drafter = policy.drafter() if isinstance(policy, SpeculativeDecoding) else None
    if drafter is None or not isinstance(policy, SpeculativeDecoding):
        return roll_out(policy, tables, turn, horizon, choose, return_attention=True)
    encoded = policy.encode(Inputs.of(turn))
    draft = roll_out(drafter, tables, turn, horizon, choose, return_attention=True, encoded=Encoded(encoded.memory[0]))
    draft = replace(draft, log_probs=policy.verify(encoded.memory, draft).log_softmax(-1), encoded=encoded)
    wanted = choose(draft.log_probs, draft.states.numpy(), 0)  # [steps, 1]
    agreed = int((wanted == draft.actions).long().cumprod(0).sum())
    if agreed == len(wanted):
        return draft
    kept, action = agreed + 1, wanted[agreed]  # the first action on which they differ is taken as all together choose it
    state = tables.step(draft.states[agreed].numpy(), action.numpy())  # [1, slots]
    stopped = action == tables.stop  # [1]
    corrected = replace(draft.first(kept), actions=wanted[:kept], final=torch.from_numpy(state), stopped=stopped)
    if stopped or kept == horizon:
        return corrected
    return corrected.then(roll_out(policy, tables, turn, horizon - kept, choose, return_attention=True, encoded=encoded, start=state))

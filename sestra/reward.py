"""The paper's reward (Section 5): problem reward and potential-based shaping, for every action in every state at once."""

from __future__ import annotations

import torch
from torch import Tensor

from sestra.config import Shaping
from sestra.worlds.tables import Tables, rows


def rewards(
    tables: Tables, states: Tensor, goals: Tensor, *, verbosity: float, at_horizon: Tensor | bool = False, shaping: Shaping = "distance"
) -> Tensor:
    """R(s, a, T(s, a)) of every action a, for states and goals ``[..., slots]``.

    The problem reward is 1 for STOP at the goal, -1 for STOP elsewhere, -1 - verbosity for an invalid action and -verbosity for any
    other; the shaping term is how much closer to the goal the action comes, by the world's distance (as in the paper) or by the least
    number of actions. ``at_horizon`` marks states in which the last allowed action is chosen: there every action other than STOP ends the
    execution without STOP, and its problem reward is -1. (The paper says this of the action that was sampled; since SESTRA observes all
    actions, it is said of all of them here.)
    """
    merit = -rows(tables.fault, states) if shaping == "none" else tables.merit(states, goals, shaping)  # [..., slots, edits]
    price: Tensor | float = verbosity
    if at_horizon is not False:  # -1 in all: what a valid edit lacks, and what an invalid one has lost already
        last = torch.as_tensor(at_horizon)[..., None, None]  # [..., 1, 1]
        price = torch.where(last, rows(tables.valid, states).float(), verbosity)  # [..., slots, edits]
    stop = (states == goals).prod(-1, keepdim=True) * 2.0 - 1.0  # [..., 1]
    return torch.cat([(merit - price).flatten(-2), stop], -1)  # [..., actions]

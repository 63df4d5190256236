"""The paper's reward (Section 5), problem reward and potential-based shaping: of every action in every state at once, or of one in each."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sestra.learning.config import Shaping
from sestra.worlds.tables import FARTHEST, Tables, rows


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


def take_actions(
    tables: Tables,
    states: NDArray[np.int64],
    goals: NDArray[np.int64],
    actions: NDArray[np.int64],
    *,
    verbosity: float,
    at_horizon: NDArray[np.bool_],
    shaping: Shaping = "distance",
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """An environment's step: the states ``[batch, slots]`` after the actions, the actions' rewards, and where one is STOP at the goal.

    The rewards are those that ``rewards`` gives, looked up only for the slot that the action edits and on arrays, which for a few hundred
    states is more than twice as fast.
    """
    place = np.arange(len(states)) * tables.slots + tables.slot.numpy().take(actions)  # [batch]: the edited slot in the flattened states
    before, goal = states.take(place), goals.take(place)  # [batch]
    after = tables.after.numpy().take(tables.move.numpy().take(actions) + before)  # [batch]
    stop = actions == tables.stop  # [batch]
    success = stop & (states == goals).all(1)  # [batch]

    reward = np.where(after == before, -1.0 - verbosity, -verbosity)  # [batch]: an edit that changes nothing is invalid
    reward[at_horizon] = -1.0
    reward[stop] = -1.0
    reward[success] = 1.0
    if shaping != "none":
        potential = (tables.distance if shaping == "distance" else tables.steps).numpy()  # [contents, contents]
        closer = potential.take(before * len(potential) + goal) - potential.take(after * len(potential) + goal)  # [batch]
        reward += np.maximum(closer, 1 - FARTHEST)  # no further away than that where the goal has become unreachable
    changed = states.copy()
    changed.put(place, after)
    return changed, reward, success

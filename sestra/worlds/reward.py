"""The paper's reward (Section 5), problem reward and potential-based shaping: of every action in every state at once, or of one in each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sestra.worlds.base import Shaping
from sestra.worlds.tables import MAX_DISTANCE, Flags, Integers, Tables


def rewards(
    tables: Tables, states: Integers, goals: Integers, *, verbosity: float, at_horizon: Flags | bool = False, shaping: Shaping = "distance"
) -> NDArray[np.float32]:
    """R(s, a, T(s, a)) of every action a, ``[..., actions]``, for states and goals ``[..., slots]``.

    The problem reward is 1 for STOP at the goal, -1 for STOP elsewhere, -1 - verbosity for an invalid action and -verbosity for any
    other; the shaping term is how much closer to the goal the action comes, by the world's distance (as in the paper) or by the least
    number of actions. ``at_horizon`` marks states in which the last allowed action is chosen: there every action other than STOP ends the
    execution without STOP, and its problem reward is -1. (The paper applies this to the sampled action; here it applies to every action,
    since SESTRA observes all of them.)
    """
    shaped = -tables.invalid.take(states, 0) if shaping == "none" else tables.edit_rewards(states, goals, shaping)  # [..., slots, edits]
    price: NDArray[np.float32] | np.float32 = np.float32(verbosity)
    if at_horizon is not False:  # every edit's problem reward is -1 there; an invalid one has lost 1 already
        last = np.asarray(at_horizon)[..., None, None]  # [..., 1, 1]
        price = np.where(last, tables.valid.take(states, 0), price)  # [..., slots, edits]
    reward = np.empty((*states.shape[:-1], tables.actions), np.float32)  # [..., actions]
    reward[..., :-1] = np.subtract(shaped, price, dtype=np.float32).reshape(reward[..., :-1].shape)
    reward[..., -1] = np.where((states == goals).all(-1), 1, -1)
    return reward


def step_with_rewards(
    tables: Tables,
    states: Integers,
    goals: Integers,
    actions: Integers,
    *,
    verbosity: float,
    at_horizon: Flags,
    shaping: Shaping = "distance",
) -> tuple[Integers, NDArray[np.float64], Flags]:
    """An environment's step: the states ``[batch, slots]`` after the actions, the actions' rewards, and where one is STOP at the goal.

    The rewards are those that ``rewards`` gives, looked up only for the slot that the action edits.
    """
    place, after = tables.edited(states, actions)  # [batch]
    before, goal = states.take(place), goals.take(place)  # [batch]
    stop = actions == tables.stop  # [batch]
    success = stop & (states == goals).all(1)  # [batch]

    reward = np.where(after == before, -1.0 - verbosity, -verbosity)  # [batch]: an edit that changes nothing is invalid
    reward[at_horizon] = -1.0
    reward[stop] = -1.0
    reward[success] = 1.0
    if shaping != "none":
        potential = tables.distance if shaping == "distance" else tables.steps  # [contents, contents]
        closer = potential.take(before * len(potential) + goal) - potential.take(after * len(potential) + goal)  # [batch]
        reward += np.maximum(closer, 1 - MAX_DISTANCE)  # no further away than that where the goal has become unreachable
    changed = states.copy()
    changed.put(place, after)
    return changed, reward, success

"""The reward of every action at once, against the paper's definition followed action by action; and that of one, against all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lamps import Lamps

from sestra.worlds import STOP, WORLDS, get_world
from sestra.worlds.reward import rewards, step_with_rewards
from sestra.worlds.tables import Tables, compile_world

NAMES = sorted(WORLDS.names())
TABLES = {name: compile_world(get_world(name)) for name in NAMES}


def plain_reward(world, state, goal, action, *, verbosity, at_horizon=False, shaping="distance"):
    """Section 5, to the letter: R = P + phi(s') - phi(s)."""
    after = world.apply(state, action)
    if action == STOP:
        problem = 1.0 if after == goal else -1.0
    elif at_horizon:
        problem = -1.0
    elif after == state:
        problem = -1.0 - verbosity
    else:
        problem = -verbosity

    def potential(s):
        if shaping == "steps":
            tables = TABLES[world.name]
            return -int(tables.steps_to_go(tables.encode([s]), tables.encode([goal]))[0])
        return -world.state_distance(s, goal)

    return problem + (potential(after) - potential(state) if shaping != "none" else 0.0)


def draw_state(data, world):
    return data.draw(st.tuples(*[st.sampled_from(world.contents)] * world.slots))


@pytest.mark.parametrize("shaping", ["distance", "steps", "none"])
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_every_action_in_random_states(name, shaping, data):
    tables, world = TABLES[name], TABLES[name].world
    verbosity = data.draw(st.floats(0, 2))
    states = [draw_state(data, world) for _ in range(3)]
    goals = [draw_state(data, world), states[1], world.apply(states[2], data.draw(st.sampled_from(world.actions)))]
    horizon = data.draw(st.lists(st.booleans(), min_size=3, max_size=3))
    found = rewards(tables, tables.encode(states), tables.encode(goals), verbosity=verbosity, at_horizon=np.array(horizon), shaping=shaping)
    wanted = [
        [plain_reward(world, state, goal, action, verbosity=verbosity, at_horizon=last, shaping=shaping) for action in world.actions]
        for state, goal, last in zip(states, goals, horizon, strict=True)
    ]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, atol=1e-5, rtol=0)
    after, reward, success = take_each(tables, tables.encode(states), tables.encode(goals), np.array(horizon), verbosity, shaping)
    assert tables.decode(after) == [world.apply(state, action) for state in states for action in world.actions]
    assert reward.tolist() == pytest.approx([value for row in wanted for value in row], abs=1e-9)
    reached = [state == goal and action == STOP for state, goal in zip(states, goals, strict=True) for action in world.actions]
    assert success.tolist() == reached


def take_each(tables, states, goals, at_horizon, verbosity, shaping):
    """``step_with_rewards`` for every action in every state, one after the other."""
    actions = np.tile(np.arange(tables.actions), len(states))  # [batch * actions]
    states, goals, at_horizon = (part.repeat(tables.actions, 0) for part in (states, goals, at_horizon))
    return step_with_rewards(tables, states, goals, actions, verbosity=verbosity, at_horizon=at_horizon, shaping=shaping)


class Fuses(Lamps):
    """Lamps that go out for good: most goals are out of reach."""

    def edit(self, content, edit):
        return "_" if edit.kind == "out" and content != "_" else None


@pytest.mark.parametrize("shaping", ["distance", "steps", "none"])
@pytest.mark.parametrize("tables", [*TABLES.values(), Tables(Fuses())], ids=[*TABLES, "fuses"])
def test_one_action_is_as_all_have_it(tables, shaping):
    """At the goal, an action away and anywhere; at the horizon and before."""
    generator = np.random.default_rng(0)
    states, goals = generator.integers(len(tables.world.contents), size=(2, 300, tables.slots))  # [300, slots]
    goals[:100] = states[:100]
    goals[100:200] = tables.step(states[100:200], generator.integers(tables.actions, size=100))
    at_horizon = generator.random(300) < 0.3  # [300]
    every = rewards(tables, states, goals, verbosity=0.15, at_horizon=at_horizon, shaping=shaping)  # [300, actions]
    actions = np.tile(np.arange(tables.actions), (300, 1))  # [300, actions]
    then = tables.step(states[:, None].repeat(tables.actions, 1), actions)  # [300, actions, slots]
    stopped = (actions == tables.stop) & (states == goals).all(1, keepdims=True)  # [300, actions]
    after, reward, success = take_each(tables, states, goals, at_horizon, 0.15, shaping)
    assert np.array_equal(after, then.reshape(after.shape))
    np.testing.assert_allclose(reward, every.ravel(), atol=1e-5, rtol=0)
    assert np.array_equal(success, stopped.ravel())


@pytest.mark.parametrize("name", NAMES)
def test_horizon_as_one_answer_for_all(name):
    tables = TABLES[name]
    states = np.random.default_rng(0).integers(len(tables.world.contents), size=(2, 5, tables.slots))
    goals = states[::-1]
    for answer in (True, False):
        each = rewards(tables, states, goals, verbosity=0.1, at_horizon=np.full((2, 5), answer))
        assert np.array_equal(rewards(tables, states, goals, verbosity=0.1, at_horizon=answer), each)
        assert each.shape == (2, 5, tables.actions)


STATE, GOAL = "1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:oooo", "1:gg 2:_ 3:_ 4:_ 5:_ 6:_ 7:oooo"


@pytest.mark.parametrize(
    ("state", "action", "last", "problem", "shaped"),
    [
        (GOAL, "stop", False, 1.0, 1.0),
        (GOAL, "stop", True, 1.0, 1.0),
        (STATE, "stop", False, -1.0, -1.0),
        (STATE, "pop 2", False, -1.15, -1.15),  # nothing to pop
        (STATE, "push 7 o", False, -1.15, -1.15),  # full
        (STATE, "push 1 g", False, -0.15, 0.85),  # to the goal
        (STATE, "push 1 r", False, -0.15, -0.15),  # "gr" is one substitution from "gg", as far as "g" is
        (STATE, "pop 1", False, -0.15, -1.15),  # away
        (STATE, "push 1 g", True, -1.0, 0.0),  # at the goal, but never stopped
        (STATE, "pop 1", True, -1.0, -2.0),
        (STATE, "pop 2", True, -1.0, -1.0),
    ],
)
def test_case_by_case(state, action, last, problem, shaped):
    tables = TABLES["alchemy"]
    states, goals = (tables.encode([tables.world.parse(text)]) for text in (state, GOAL))
    index = tables.world.action_indices[tables.world.parse_action(action)]
    for shaping, wanted in (("none", problem), ("distance", shaped)):
        found = rewards(tables, states, goals, verbosity=0.15, at_horizon=last, shaping=shaping)[0, index]
        assert float(found) == pytest.approx(wanted)
        _, taken, _ = take_each(tables, states, goals, np.array([last]), 0.15, shaping)
        assert float(taken[index]) == wanted


def test_no_states_have_no_rewards():
    tables, none = TABLES["scene"], np.zeros((0, 10), np.int64)
    assert rewards(tables, none, none, verbosity=0.1, at_horizon=np.zeros(0, np.bool_)).shape == (0, tables.actions)

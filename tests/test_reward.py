"""The reward of every action at once, against the paper's definition followed action by action."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sestra.reward import rewards
from sestra.worlds import STOP, WORLDS, get_world
from sestra.worlds.tables import compile_world

NAMES = sorted(WORLDS)
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
            return -int(tables.steps_to_go(tables.encode([s]), tables.encode([goal])))
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
    found = rewards(
        tables, tables.encode(states), tables.encode(goals), verbosity=verbosity, at_horizon=torch.tensor(horizon), shaping=shaping
    )
    wanted = [
        [plain_reward(world, state, goal, action, verbosity=verbosity, at_horizon=last, shaping=shaping) for action in world.actions]
        for state, goal, last in zip(states, goals, horizon, strict=True)
    ]
    torch.testing.assert_close(found, torch.tensor(wanted), atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_horizon_as_one_answer_for_all(name):
    tables = TABLES[name]
    states = torch.randint(len(tables.world.contents), (2, 5, tables.slots), generator=torch.Generator().manual_seed(0))
    goals = states.flip(0)
    for answer in (True, False):
        each = rewards(tables, states, goals, verbosity=0.1, at_horizon=torch.full((2, 5), answer))
        assert torch.equal(rewards(tables, states, goals, verbosity=0.1, at_horizon=answer), each)
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
    index = tables.action_index(tables.world.parse_action(action))
    for shaping, wanted in (("none", problem), ("distance", shaped)):
        found = rewards(tables, states, goals, verbosity=0.15, at_horizon=last, shaping=shaping)[0, index]
        assert float(found) == pytest.approx(wanted)

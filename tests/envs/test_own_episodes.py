"""Environments with states, instructions, settings and worlds of the user's own, and what is refused."""

from __future__ import annotations

import gymnasium
import pytest
from environments import END, FEW, MIDDLE, START, act, make, two_instructions
from lamps import Lamps

from sestra.data.scone import Interaction
from sestra.envs import InstructionEnv, InstructionVectorEnv
from sestra.errors import InputError
from sestra.worlds import get_world


@pytest.fixture
def alchemy() -> gymnasium.Env:
    return two_instructions()


def test_state_instructions_and_goal(alchemy):
    _, info = alchemy.reset(options={"state": MIDDLE, "instructions": ["throw it out", "now add red to the last"], "goal": END})
    assert (info["example"], info["id"], info["turn"], info["history"]) == (-1, "custom", 2, ("throw it out",))
    steps = act(alchemy, "push 7 r", "stop")
    assert [step[0] for step in steps] == [0.85, 1.0]
    assert steps[-1][1]
    assert steps[-1][3]["success"]
    _, info = alchemy.reset(options={"example": 1})
    assert info["id"] == "mine/2"


def test_without_a_goal_there_is_no_reward(alchemy):
    alchemy.reset(options={"state": MIDDLE, "instructions": ["add red to the last"]})
    steps = act(alchemy, "push 7 r", "stop")
    assert [step[0] for step in steps] == [0.0, 0.0]
    assert not steps[-1][3]["success"]
    assert steps[-1][3]["goal"] is None


def test_an_interaction_of_ones_own():
    env = make("alchemy", episode="interaction")
    options = {"state": START, "instructions": ["throw out the first", "add red to the last"], "goal": END}
    env.reset(options=options)
    steps = act(env, "pop 1", "stop", "push 7 r", "stop")
    assert [(step[0], step[1]) for step in steps] == [(0.0, False), (0.0, False), (0.85, False), (1.0, True)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exemple": 1}, "unknown reset option 'exemple'"),
        ({"example": 24}, "no example 24; expected a number from 0 to 1, or an identifier such as 'mine/1'"),
        ({"example": -1}, "no example -1"),
        ({"example": True}, "no example True"),
        ({"example": "mine"}, "no example 'mine'"),
        ({"example": None}, "no example None"),
        ({"example": 1, "state": START}, "stands beside others"),
        ({"state": START}, "need each other"),
        ({"instructions": ["pour"]}, "need each other"),
        ({"goal": START}, "need each other"),
        ({"state": START, "instructions": []}, "expected a list of texts"),
        ({"state": START, "instructions": "pour it"}, "expected a list of texts"),
        ({"state": START, "instructions": ["pour it", " "]}, "not empty"),
        ({"state": START, "instructions": ["pour it", 3]}, "not empty"),
        ({"state": "1:_", "instructions": ["pour it"]}, "the reset option 'state': 1 objects"),
        ({"state": 3, "instructions": ["pour it"]}, "the reset option 'state' is 3"),
        ({"state": START, "instructions": ["pour it"], "goal": "nowhere"}, "the reset option 'goal': 'nowhere' is not an object"),
        ({"state": START, "instructions": ["pour " * 41]}, "41 tokens in the instruction 'pour .*raise instruction_length"),
        ({"state": START, "instructions": ["pour it"] * 6}, "5 earlier instructions; an observation has room for 4: raise history_length"),
    ],
)
def test_bad_options_are_refused(alchemy, options, message):
    _, before = alchemy.reset(options={"example": 0})
    with pytest.raises(InputError, match=message):
        alchemy.reset(options=options)
    assert act(alchemy, "pop 1")[0][3]["id"] == before["id"]  # the episode that was running still is


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"episode": "turn"}, "episode='turn'; expected one of 'instruction', 'interaction'"),
        ({"verbosity": -0.1}, "verbosity=-0.1"),
        ({"verbosity": float("nan")}, "verbosity=nan"),
        ({"horizon": 0}, "horizon=0; expected a whole number of at least 1"),
        ({"horizon": 2.5}, "horizon=2.5"),
        ({"instruction_length": 0}, "instruction_length=0"),
        ({"instruction_length": 2}, "raise instruction_length"),
        ({"history_length": 1}, "raise history_length"),
        ({"interactions": []}, "no interaction has an instruction with a known start and goal"),
        ({"interactions": FEW["scene"]}, "not a content of world alchemy"),
        ({"render_mode": "human"}, "render_mode='human'; expected one of 'ansi', 'rgb_array'"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    for build in (InstructionEnv, InstructionVectorEnv):
        with pytest.raises(InputError, match=message):
            build(world="alchemy", **{"interactions": FEW["alchemy"], **settings})


@pytest.mark.parametrize("action", [-1, 50, 1.0, "stop", None, [1], True])
def test_bad_actions_are_refused(alchemy, action):
    env = alchemy.unwrapped
    env.reset(seed=0)
    with pytest.raises(InputError, match="expected a whole number from 0 to 49"):
        env.step(action)


def test_unknown_states_are_left_out():
    parse = get_world("alchemy").parse
    interaction = Interaction("gap", (parse(START), None, parse(MIDDLE), parse(END)), ("one", "two", "add red to the last one"))
    assert InstructionEnv("alchemy", interactions=[interaction]).reset()[1]["id"] == "gap/3"
    env = InstructionEnv("alchemy", interactions=[interaction], episode="interaction")
    env.reset()
    assert [step[0] for step in act(env, "pop 1", "stop", "stop", "push 7 r", "stop")] == [0.0, 0.0, 1.0, 0.85, 1.0]


def test_a_world_of_ones_own():
    lamps = Lamps()
    dark, lit = lamps.parse("1:_ 2:_ 3:_"), lamps.parse("1:_ 2:r 3:_")
    env = InstructionEnv(lamps, interactions=[Interaction("dark", (dark, lit), ("light please",))], verbosity=0.25)
    env.reset(seed=0)
    assert [step[0] for step in act(env, "light 2 r", "stop")] == [0.75, 1.0]
    with pytest.raises(InputError, match="lamps"):
        InstructionEnv(lamps)

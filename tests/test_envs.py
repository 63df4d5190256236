"""The Gymnasium environments: their contract, their rewards and that one and many behave alike."""

from __future__ import annotations

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import sestra.envs
from sestra.config import PAPER
from sestra.data.scone import Interaction
from sestra.data.synthetic import generate
from sestra.data.text import UNKNOWN, Vocabulary, tokenize
from sestra.envs.single import InstructionEnv
from sestra.envs.vector import InstructionVectorEnv
from sestra.errors import InputError
from sestra.worlds import STOP, WORLDS, Edit, World, get_world
from sestra.worlds.tables import compile_world

NAMES = sorted(WORLDS)
FEW = {name: generate(name, 12, seed=3) for name in NAMES}
START, MIDDLE, END = "1:r 2:_ 3:_ 4:_ 5:_ 6:_ 7:g", "1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:g", "1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:gr"


def identifier(name: str) -> str:
    return f"sestra/{name.capitalize()}-v0"


def make(name: str, **settings) -> gymnasium.Env:
    return gymnasium.make(identifier(name), **{"interactions": FEW[name], **settings})


def act(env: gymnasium.Env, *texts: str) -> list[tuple]:
    world = env.unwrapped.world
    return [env.step(world.action_indices[world.parse_action(text)])[1:] for text in texts]


@pytest.fixture
def alchemy() -> gymnasium.Env:
    """Two instructions: empty the first beaker, then put its red unit into the last."""
    parse = get_world("alchemy").parse
    interaction = Interaction("mine", (parse(START), parse(MIDDLE), parse(END)), ("throw out the first beaker", "add red to the last one"))
    return make("alchemy", interactions=[interaction])


# Gymnasium's contract.


def test_import_is_cheap_and_enough():
    code = "import sys, sestra.envs, gymnasium; gymnasium.spec('sestra/Scene-v0'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    sestra.envs.register()  # once more does no harm
    assert gymnasium.make("sestra.envs:sestra/Tangrams-v0", interactions=FEW["tangrams"]).unwrapped.world.name == "tangrams"


@pytest.mark.parametrize("episode", ["instruction", "interaction"])
@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_finds_nothing_to_complain_about(name, episode):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name, episode=episode).unwrapped)


@pytest.mark.parametrize("name", NAMES)
def test_by_default_the_generated_interactions(name):
    env = gymnasium.make(identifier(name))
    _, info = env.reset(seed=0)
    assert info["id"].startswith("generated-train")
    assert (env.unwrapped.task.verbosity, env.unwrapped.task.horizon) == (PAPER[name]["verbosity"], PAPER[name]["horizon"])


@pytest.mark.parametrize("name", NAMES)
def test_random_policies_with_masks(name):
    env = make(name, episode="interaction")
    env.action_space.seed(1)
    ended = set()
    for seed in range(10):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            action = env.action_space.sample(info["action_mask"])
            before = info
            observation, reward, terminated, truncated, info = env.step(action)
            assert observation in env.observation_space
            assert np.isfinite(reward)
            assert action == env.action_space.n - 1 or info["state"] != before["state"]
            over = terminated or truncated
        ended.add("terminated" if terminated else "truncated")
    assert "truncated" in ended


def rollout(env: gymnasium.Env, seed: int) -> list:
    env.action_space.seed(seed)
    _, info = env.reset(seed=seed)
    found = [info["id"]]
    for _ in range(40):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        found.append((observation["current"].tolist(), reward, terminated, truncated, info["success"], info["id"]))
        if terminated or truncated:
            _, info = env.reset()
    return found


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_rollout(name):
    assert rollout(make(name), 5) == rollout(make(name), 5)
    assert rollout(make(name), 5) != rollout(make(name), 6)


# Rewards and ends.


@pytest.mark.parametrize("episode", ["instruction", "interaction"])
@pytest.mark.parametrize("name", NAMES)
def test_rewards_are_the_papers_along_random_rollouts(name, episode):
    env, world = make(name, episode=episode, verbosity=0.3, horizon=4), get_world(name)
    rng = np.random.default_rng(0)
    for example in range(10):
        _, info = env.reset(options={"example": example})
        over, taken = False, 0
        while not over:
            index = int(rng.choice([rng.integers(len(world.actions)), len(world.actions) - 1]))
            action, state, goal = world.actions[index], world.parse(info["state"]), world.parse(info["goal"])
            _, reward, terminated, truncated, info = env.step(index)
            after, taken = world.apply(state, action), taken + 1
            if action == STOP:
                problem = 1.0 if state == goal else -1.0
            elif taken == 4:
                problem = -1.0
            else:
                problem = -1.3 if after == state else -0.3
            assert reward == pytest.approx(problem + world.state_distance(state, goal) - world.state_distance(after, goal))
            assert world.parse(info["state"]) == after
            assert truncated == (taken == 4 and action != STOP)
            assert info["success"] == (action == STOP and state == goal)
            over, taken = terminated or truncated, 0 if action == STOP else taken


@pytest.mark.parametrize("name", NAMES)
def test_a_demonstration_succeeds(name):
    tables, world = compile_world(get_world(name)), get_world(name)
    env = make(name, episode="interaction", horizon=100)
    for example in range(len(FEW[name])):
        _, info = env.reset(options={"example": example})
        for number in range(1, 6):
            assert info["turn"] == number
            pair = (tables.encode([world.parse(info[key])]) for key in ("state", "goal"))
            for action in tables.demonstrate(*pair)[0].tolist():
                assert info["action_mask"][action]
                _, reward, terminated, truncated, info = env.step(action)
            assert (info["success"], reward, terminated, truncated) == (True, 1.0, number == 5, False)


def test_shaping_off(alchemy):
    env = make("alchemy", interactions=alchemy.unwrapped.spec.kwargs["interactions"], shaping="none")
    env.reset(options={"example": 0})
    assert [step[0] for step in act(env, "pop 1", "push 1 r", "pop 2")] == [-0.15, -0.15, -1.15]


def test_the_horizon_truncates(alchemy):
    alchemy.reset(options={"example": "mine/1"})
    steps = act(alchemy, "push 7 g", "pop 7", "push 7 g", "pop 7", "push 7 g", "pop 7", "pop 1")
    assert [step[1:3] for step in steps] == [(False, False)] * 6 + [(False, True)]
    assert [step[0] for step in steps[-2:]] == [0.85, 0.0]
    with pytest.raises(ResetNeeded, match="call reset"):
        alchemy.step(0)


def test_step_before_reset():
    with pytest.raises(ResetNeeded):
        InstructionEnv("alchemy", interactions=FEW["alchemy"]).step(0)
    with pytest.raises(ResetNeeded):
        InstructionVectorEnv(2, "alchemy", interactions=FEW["alchemy"]).step(np.zeros(2, int))


# Observations.


def test_what_is_observed(alchemy):
    env, world = alchemy.unwrapped, get_world("alchemy")
    observation, info = env.reset(options={"example": "mine/2"})
    words = env.vocabulary.decode([number for number in observation["instruction"].tolist() if number])
    assert len(words) == 6
    assert all(word in ("<unknown>", original) for word, original in zip(words, tokenize(info["instruction"]), strict=True))
    assert np.count_nonzero(observation["history"][0]) == 5
    assert not observation["history"][1:].any()
    assert [world.contents[index] for index in observation["current"]] == [*world.parse(MIDDLE)]
    assert (info["turn"], info["history"], info["goal"]) == (2, ("throw out the first beaker",), END)
    act(env, "push 7 r")
    observation = env.step(0)[0]
    assert [world.contents[index] for index in observation["initial"]] == [*world.parse(MIDDLE)]
    assert [world.contents[index] for index in observation["current"]] == [*world.parse(END)]


def test_a_vocabulary_of_ones_own(alchemy):
    vocabulary = Vocabulary(("throw", "first"))
    env = make("alchemy", interactions=FEW["alchemy"], vocabulary=vocabulary, instruction_length=30, history_length=5)
    assert env.unwrapped.vocabulary == vocabulary
    observation, _ = env.reset(options={"state": START, "instructions": ["throw out the first one"]})
    assert observation["instruction"][:6].tolist() == [4, UNKNOWN, UNKNOWN, 5, UNKNOWN, 0]
    assert observation["history"].shape == (5, 30)


def test_a_whole_interaction_goes_on_from_where_the_agent_left():
    parse = get_world("alchemy").parse
    interaction = Interaction("mine", (parse(START), parse(MIDDLE), parse(END)), ("throw out the first beaker", "add red to the last one"))
    env = make("alchemy", interactions=[interaction], episode="interaction")
    env.reset(options={"example": "mine"})
    stopped, failed = act(env, "stop", "push 7 r")
    assert stopped[:3] == (-1.0, False, False)  # too early: the goal of the first instruction is not reached
    assert (stopped[3]["turn"], stopped[3]["initial"], stopped[3]["state"], stopped[3]["goal"]) == (2, START, START, END)
    assert failed[3]["state"] == "1:r 2:_ 3:_ 4:_ 5:_ 6:_ 7:gr"
    popped, ended = act(env, "pop 1", "stop")
    assert (popped[0], ended[0], ended[1], ended[3]["success"]) == (0.85, 1.0, True, True)


# Episodes of one's own.


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
        ({"episode": "turn"}, "episode='turn'; expected 'instruction' or 'interaction'"),
        ({"verbosity": -0.1}, "verbosity=-0.1"),
        ({"verbosity": float("nan")}, "verbosity=nan"),
        ({"horizon": 0}, "horizon=0; expected a whole number of at least 1"),
        ({"horizon": 2.5}, "horizon=2.5"),
        ({"instruction_length": 0}, "instruction_length=0"),
        ({"instruction_length": 2}, "raise instruction_length"),
        ({"history_length": 1}, "raise history_length"),
        ({"interactions": []}, "no interaction has an instruction with a known start and goal"),
        ({"interactions": FEW["scene"]}, "not a content of world alchemy"),
        ({"render_mode": "human"}, "render_mode='human'; expected 'ansi' or 'rgb_array'"),
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


class Lamp(World[str]):
    """A lamp and its switch: a world in a few lines."""

    name = "lamp"
    slots = 1
    contents = ("off", "on")
    edits = (Edit("press"),)

    def edit(self, content: str, edit: Edit) -> str | None:
        return {"off": "on", "on": "off"}[content]

    def distance(self, content: str, goal: str) -> int:
        return int(content != goal)

    def parse(self, text: str) -> tuple[str, ...]:
        return (text,)

    def format(self, state: tuple[str, ...]) -> str:
        return state[0]


def test_a_world_of_ones_own():
    env = InstructionEnv(Lamp(), interactions=[Interaction("dark", (("off",), ("on",)), ("light please",))], verbosity=0.25)
    env.reset(seed=0)
    assert [step[0] for step in act(env, "press", "stop")] == [0.75, 1.0]
    with pytest.raises(InputError, match="lamp"):
        InstructionEnv(Lamp())


# Pictures.


@pytest.mark.parametrize("name", NAMES)
def test_render(name):
    env = make(name, render_mode="ansi")
    _, info = env.reset(seed=0)
    drawing = env.render()
    assert drawing.splitlines()[0] == info["instruction"]
    assert len(drawing.splitlines()) > 3
    env = make(name, render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render()
    assert image.dtype == np.uint8
    assert image.ndim == 3
    assert image.shape[2] == 3
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 3
    assert make(name).unwrapped.render() is None
    frames = InstructionVectorEnv(2, name, interactions=FEW[name], render_mode="rgb_array")
    frames.reset(options={"example": [0, 5]})
    assert [frame.shape for frame in frames.render()] == [image.shape] * 2


# Many at once.


def make_vec(name: str, count: int, **settings) -> InstructionVectorEnv:
    settings = {"interactions": FEW[name], "vectorization_mode": "vector_entry_point", **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return gymnasium.make_vec(identifier(name), num_envs=count, **settings)


@pytest.mark.parametrize("episode", ["instruction", "interaction"])
@pytest.mark.parametrize("name", NAMES)
def test_one_and_many_agree_step_by_step(name, episode):
    """Each place of the vector environment beside a single one; where the one starts anew, so does the other."""
    count = 6
    many = make_vec(name, count, episode=episode, texts=True)
    singles = [make(name, episode=episode).unwrapped for _ in range(count)]
    assert many.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    rng, ends = np.random.default_rng(2), 0
    observations, infos = many.reset(seed=11)
    assert observations in many.observation_space
    over = np.ones(count, bool)
    rewards, terminated, truncated = np.zeros(count), np.zeros(count, bool), np.zeros(count, bool)
    actions = np.zeros(count, int)
    for _ in range(60):
        for place, env in enumerate(singles):
            if over[place]:
                observation, info = env.reset(options={"example": int(infos["example"][place])})
                result = (0.0, False, False)
            else:
                observation, *result, info = env.step(actions[place])
            assert (rewards[place], terminated[place], truncated[place]) == tuple(result)
            assert all(np.array_equal(observation[key], observations[key][place]) for key in observation)
            assert all(infos[f"_{key}"][place] for key in info)
            assert all(np.array_equal(value, infos[key][place]) for key, value in info.items())
        over = terminated | truncated
        ends += over.sum()
        actions = np.array([rng.choice([env.action_space.n - 1, *np.flatnonzero(infos["action_mask"][0])]) for env in singles])
        observations, rewards, terminated, truncated, infos = many.step(actions)
        assert observations in many.observation_space
    assert ends > 20


@pytest.mark.parametrize("name", NAMES)
def test_many_of_one_is_one(name):
    """With the same seed the only place of a vector environment sees the episodes that a single environment does."""
    one, many = make(name), make_vec(name, 1)
    ids = [one.reset(seed=4)[1]["example"]] + [one.reset()[1]["example"] for _ in range(5)]
    found = [many.reset(seed=4)[1]["example"][0]]
    for _ in range(5):
        many.step(np.array([many.single_action_space.n - 1]))
        found.append(many.step(np.array([0]))[-1]["example"][0])
    assert found == ids


def test_vectors_are_deterministic_and_share_nothing():
    def trace() -> list:
        envs = make_vec("scene", 5)
        envs.action_space.seed(0)
        found = [envs.reset(seed=9)]
        found += [envs.step(envs.action_space.sample()) for _ in range(20)]
        return found

    first, second = trace(), trace()
    assert repr(first) == repr(second)
    assert len({id(step[0]["current"]) for step in first}) == len(first)
    before = first[3][0]["current"].copy()
    first[4][0]["current"][:] = 0
    assert np.array_equal(first[3][0]["current"], before)


def test_vector_options():
    envs = make_vec("alchemy", 3)
    assert envs.reset(options={"example": 7})[1]["example"].tolist() == [7, 7, 7]
    assert envs.reset(options={"example": [2, "generated-0/1", 5]})[1]["example"].tolist() == [2, 0, 5]
    _, infos = envs.reset(options={"state": START, "instructions": ["throw out the first beaker"], "goal": MIDDLE})
    assert infos["example"].tolist() == [-1] * 3
    pop, stop, push = (envs.world.action_indices[envs.world.parse_action(text)] for text in ("pop 1", "stop", "push 1 g"))
    assert envs.step(np.array([pop, stop, push]))[1].tolist() == [0.85, -1.0, -1.15]
    _, rewards, terminated, _, infos = envs.step(np.array([stop, stop, stop]))  # the second place starts anew
    assert rewards.tolist() == [1.0, 0.0, -1.0]
    assert terminated.tolist() == [True, False, True]
    assert infos["success"].tolist() == [True, False, False]
    assert (infos["example"] >= 0).tolist() == [False, True, False]
    for options in (
        {"example": [1, 2]},
        {"example": [1, 2, 999]},
        {"example": [1, 2, 3], "goal": MIDDLE},
        {"reset_mask": np.ones(3, bool)},
    ):
        with pytest.raises(InputError):
            envs.reset(options=options)
    for actions in ([1, 2], [1, 2, 50], [0.0, 1.0, 2.0], 3):
        with pytest.raises(InputError, match="expected 3 whole numbers from 0 to 49"):
            envs.step(actions)
    with pytest.raises(InputError, match="num_envs=0"):
        InstructionVectorEnv(0, "alchemy", interactions=FEW["alchemy"])


def test_gymnasiums_own_vectors_work_too():
    envs = gymnasium.make_vec(identifier("tangrams"), num_envs=2, vectorization_mode="sync", interactions=FEW["tangrams"])
    _, infos = envs.reset(seed=0)
    assert infos["action_mask"].shape == (2, 31)
    envs.step(envs.action_space.sample())
    envs.close()

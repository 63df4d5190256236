"""The Gymnasium environments, one at a time: their contract, their rewards, what is observed and drawn."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from environments import END, FEW, MIDDLE, NAMES, START, act, identifier, make, two_instructions
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from lamps import Lamps
from lamps import interactions as lamps_interactions

import sestra.envs
from sestra.data.scone import Interaction
from sestra.data.vocabulary import UNKNOWN, Vocabulary, tokenize
from sestra.envs.single import InstructionEnv
from sestra.envs.vector import InstructionVectorEnv
from sestra.worlds import STOP, WORLDS, get_world
from sestra.worlds.tables import compile_world


@pytest.fixture
def alchemy() -> gymnasium.Env:
    return two_instructions()


# Gymnasium's contract.


def test_import_is_enough():
    sestra.envs.register("tangrams")  # once more does no harm
    assert gymnasium.make("sestra.envs:sestra/Tangrams-v0", interactions=FEW["tangrams"]).unwrapped.world.name == "tangrams"


@pytest.mark.parametrize(("name", "expected"), [("lamps", "Lamps"), ("my-lamps_2", "MyLamps2"), ("redLamps", "RedLamps")])
def test_a_world_that_is_registered_later_has_an_identifier(name, expected, monkeypatch):
    monkeypatch.setattr(WORLDS, "_registered", {})
    monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(gymnasium.registry))
    WORLDS.register(name, Lamps)
    single = gymnasium.make(f"sestra/{expected}-v0", interactions=lamps_interactions(3, seed=1))
    assert type(single.unwrapped.world) is Lamps
    assert isinstance(single.unwrapped, sestra.envs.InstructionEnv)
    assert single.reset(seed=1)[1]["instruction"]
    vector = gymnasium.make_vec(
        f"sestra/{expected}-v0", num_envs=2, vectorization_mode="vector_entry_point", interactions=lamps_interactions(3, seed=1)
    )
    assert isinstance(vector, sestra.envs.InstructionVectorEnv)


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
    assert (env.unwrapped.task.verbosity, env.unwrapped.task.horizon) == (
        get_world(name).settings.verbosity,
        get_world(name).settings.horizon,
    )


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

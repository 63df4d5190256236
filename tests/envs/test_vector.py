"""Many environments at once: they behave as single ones do."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from environments import FEW, MIDDLE, NAMES, START, identifier, make
from gymnasium.vector import AutoresetMode

from sestra.envs.vector import InstructionVectorEnv
from sestra.errors import InputError


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

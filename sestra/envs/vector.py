"""Many episodes at once, stepped together on the compiled tables: the environment behind ``gymnasium.make_vec``."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sestra.envs.batch import METADATA, Batch, Flags, RenderMode, check_actions
from sestra.envs.task import Array, Settings, Task
from sestra.errors import check_choice, check_number
from sestra.worlds import World

Observation = dict[str, Array]


class InstructionVectorEnv(VectorEnv[Observation, Array, NDArray[Any]]):
    """As many ``InstructionEnv`` as asked for, in one; see there for observations, rewards and settings.

    An episode that ends starts anew with the next step, whose action is ignored (``AutoresetMode.NEXT_STEP``). One random generator draws
    the examples of all places in turn. ``info`` holds ``action_mask``, ``success`` and ``example`` as arrays; with ``texts=True`` also all
    that an ``InstructionEnv`` says in words, which takes most of the time. ``options={"example": ...}`` may be a list with one per place.
    """

    metadata = METADATA | {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        world: str | World[Any] = "alchemy",
        *,
        render_mode: str | None = None,
        texts: bool = False,
        **settings: Any,
    ) -> None:
        check_number("num_envs", num_envs, 1)
        check_choice("render_mode", render_mode, RenderMode)
        self.num_envs, self.render_mode, self.task = num_envs, render_mode, Task(world, Settings(**settings))
        self.world, self.vocabulary = self.task.world, self.task.vocabulary
        self.single_observation_space = self.task.observation_space
        self.single_action_space = self.task.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._texts = texts
        self._batch = Batch(self.task, self.num_envs)
        self._over: Flags | None = None  # [num_envs]: whose episode ended with the last step

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self._batch.reset(options, self.np_random)
        self._over = np.zeros(self.num_envs, np.bool_)
        return self._batch.observation(), self._info()

    def step(self, actions: Array) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        if self._over is None:
            raise ResetNeeded("no episode has begun; call reset() first")
        over = self._over
        reward, terminated, truncated = self._batch.act(check_actions(actions, self.task.tables.actions, (self.num_envs,)))
        if over.any():
            self._batch.begin_any(over, int(over.sum()), self.np_random)
            reward[over], terminated[over], truncated[over] = 0.0, False, False
        self._over = terminated | truncated
        return self._batch.observation(), reward, terminated, truncated, self._info()

    def render(self) -> tuple[Any, ...]:
        return tuple(self._batch.render(place, self.render_mode) for place in range(self.num_envs))

    def _info(self) -> dict[str, Any]:
        info = self._batch.info()
        info |= {f"_{key}": np.ones(self.num_envs, np.bool_) for key in info}  # Gymnasium's way to say: every place has this
        if self._texts:
            for place in range(self.num_envs):
                self._add_info(info, self._batch.texts(place), place)
        return info

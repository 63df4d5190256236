"""One episode at a time: the environment behind ``gymnasium.make``."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from sestra.envs.task import Array
from sestra.envs.vector import METADATA, InstructionVectorEnv, check_actions
from sestra.worlds import World


class InstructionEnv(gymnasium.Env[dict[str, Array], np.int64]):
    """Follow an instruction in a world, one action at a time, and say STOP at the goal.

    Observation: ``instruction`` and ``history`` (the earlier instructions, first one first) as token numbers of ``vocabulary``, padded
    with 0; ``initial`` and ``current``, the states at the start of the instruction and now, as the index of each slot's content in
    ``world.contents``. Action: an index into ``world.actions``, the last of which is STOP. Reward: the paper's, see
    ``sestra.worlds.reward``; 0 throughout where the goal is unknown.

    An episode terminates with STOP (of the last instruction, if it is a whole interaction, where each instruction goes on from the state
    that the agent left). It is truncated when the horizon is reached without STOP, which in an interaction ends all of it.

    ``info``: ``action_mask`` as ``action_space.sample(mask)`` takes it; ``success``, whether STOP was just chosen at the instruction's
    goal; ``example`` and ``id``, which repeat an episode as ``reset(options={"example": ...})``; ``turn``, ``instruction``, ``history``,
    ``initial``, ``state`` and ``goal`` as text. ``reset(options={"state": ..., "instructions": [...], "goal": ...})`` starts an episode of
    your own; of its instructions the last is executed and the earlier ones are history or, in a whole interaction, all are executed and
    the goal is the last one's. Settings: see ``sestra.envs.task.Settings``.
    """

    metadata = METADATA

    def __init__(self, world: str | World[Any] = "alchemy", *, render_mode: str | None = None, **settings: Any) -> None:
        self._vector = InstructionVectorEnv(1, world, render_mode=render_mode, **settings)
        self.render_mode, self.task = render_mode, self._vector.task
        self.world, self.vocabulary = self.task.world, self.task.vocabulary
        self.observation_space = self.task.observation_space
        self.action_space = self.task.action_space
        self._running = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Array], dict[str, Any]]:
        super().reset(seed=seed)
        self._vector.np_random = self.np_random
        self._vector.reset(options=options)
        self._running = True
        return self._observation(), self._info()

    def step(self, action: np.int64 | int) -> tuple[dict[str, Array], float, bool, bool, dict[str, Any]]:
        if not self._running:
            raise ResetNeeded("the episode is over, or has not begun; call reset() first")
        reward, terminated, truncated = self._vector.act(check_actions(action, self.task.tables.actions, ()).reshape(1))
        self._running = not (terminated[0] or truncated[0])
        return self._observation(), float(reward[0]), bool(terminated[0]), bool(truncated[0]), self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are valid now: the name and form in which MaskablePPO of sb3-contrib asks for it."""
        mask: NDArray[np.bool_] = self._vector.arrays()["action_mask"][0].astype(bool)
        return mask

    def render(self) -> Any:
        return self._vector.render()[0]

    def _observation(self) -> dict[str, Array]:
        return {key: array[0] for key, array in self._vector.observation().items()}

    def _info(self) -> dict[str, Any]:
        info = {key: array[0] for key, array in self._vector.arrays().items()}
        return {**info, "success": bool(info["success"]), "example": int(info["example"]), **self._vector.texts(0)}

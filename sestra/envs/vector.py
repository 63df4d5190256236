"""Many episodes at once, stepped together on the compiled tables: the environment behind ``gymnasium.make_vec``."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray
from rich.console import Console

from sestra.drawing import draw_image, draw_terminal
from sestra.envs.task import CUSTOM, Array, Settings, Task
from sestra.errors import InputError, check_choice, check_number
from sestra.worlds import World
from sestra.worlds.reward import step_with_rewards

Flags = NDArray[np.bool_]
Observation = dict[str, Array]
RenderMode = Literal["ansi", "rgb_array", None]
METADATA: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}


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
        self.num_envs, self.render_mode = num_envs, render_mode
        self.task = task = Task(world, Settings(**settings))
        self.world, self.vocabulary = task.world, task.vocabulary
        self.single_observation_space, self.single_action_space = task.observation_space, task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._texts = texts
        self._turn_arrays = task.turn_arrays
        self._turn = np.zeros(num_envs, np.int64)  # [num_envs]: where in the turn arrays each episode is
        self._example = np.zeros(num_envs, np.int64)  # [num_envs]
        self._taken = np.zeros(num_envs, np.int64)  # [num_envs]: actions so far for the instruction
        self._initial = np.zeros((num_envs, task.world.slots), np.int64)  # [num_envs, slots]
        self._current = np.zeros((num_envs, task.world.slots), np.int64)  # [num_envs, slots]
        self._success = np.zeros(num_envs, np.bool_)  # [num_envs]
        self._over: Flags | None = None  # [num_envs]: whose episode ended with the last step

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start the examples, or the episode, that the options ask for in all places; without options, examples at random."""
        super().reset(seed=seed)
        everywhere, size = slice(None), self.num_envs
        examples = (options or {}).get("example")
        if not options:
            self._begin_any(everywhere, size)
        elif isinstance(examples, list | tuple | np.ndarray) and len(examples) == size:
            self._begin_examples(everywhere, np.array([self.task.choose({**options, "example": example}) for example in examples]))
        elif isinstance(episode := self.task.choose(options), int):
            self._begin_examples(everywhere, np.full(size, episode))
        else:  # one of the user's own; that of an earlier call is forgotten
            self._turn_arrays = self.task.turn_arrays + episode
            self._example[:] = CUSTOM
            self._begin(everywhere, np.full(size, len(self.task.turn_arrays.turns)))
        self._over = np.zeros(size, np.bool_)
        return self.observation(), self._info()

    def _begin_any(self, which: Flags | slice, count: int) -> None:
        """Start that many examples, drawn at random."""
        self._begin_examples(which, self.np_random.integers(len(self.task.first), size=count))

    def _begin_examples(self, which: Flags | slice, examples: Array) -> None:
        """Start those examples in the chosen places."""
        self._example[which] = examples
        self._begin(which, self.task.first[examples])

    def _begin(self, which: Flags | slice, turns: Array) -> None:
        self._turn[which] = turns
        self._taken[which] = 0
        self._initial[which] = self._current[which] = self._turn_arrays.start[turns]
        self._success[which] = False

    def step(self, actions: Array) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        if self._over is None:
            raise ResetNeeded("no episode has begun; call reset() first")
        over = self._over
        reward, terminated, truncated = self.act(check_actions(actions, self.task.tables.actions, (self.num_envs,)))
        if over.any():
            self._begin_any(over, int(over.sum()))
            reward[over], terminated[over], truncated[over] = 0.0, False, False
        self._over = terminated | truncated
        return self.observation(), reward, terminated, truncated, self._info()

    def act(self, actions: Array) -> tuple[NDArray[np.float64], Flags, Flags]:
        """Take the actions: reward, whether the episode is over, and whether it was cut off at the horizon."""
        task = self.task
        known, last = self._turn_arrays.known[self._turn], self._turn_arrays.last[self._turn]  # [num_envs]
        at_horizon = self._taken + 1 >= task.horizon  # [num_envs]
        stop = actions == task.tables.stop  # [num_envs]
        goal = self._turn_arrays.goal[self._turn]  # [num_envs, slots]
        self._current, reward, success = step_with_rewards(
            task.tables, self._current, goal, actions, verbosity=task.verbosity, at_horizon=at_horizon, shaping=task.shaping
        )
        self._success = success & known  # [num_envs]
        onward = stop & ~last  # [num_envs]: to the next instruction of the interaction
        self._turn = self._turn + onward
        self._taken = np.where(onward, 0, self._taken + 1)
        self._initial = np.where(onward[:, None], self._current, self._initial)
        return np.where(known, reward, 0.0), stop & last, at_horizon & ~stop

    def observation(self) -> Observation:
        return {
            "instruction": self._turn_arrays.tokens[self._turn].astype(np.int64),  # [num_envs, length]
            "history": self._turn_arrays.history[self._turn].astype(np.int64),  # [num_envs, earlier, length]
            "initial": self._initial.copy(),  # [num_envs, slots]
            "current": self._current.copy(),  # [num_envs, slots]
        }

    def arrays(self) -> dict[str, Any]:
        """The valid actions, whether STOP was just chosen at the goal, and which example this is."""
        mask = self.task.tables.valid_actions(self._current).view(np.int8)  # [num_envs, actions]
        return {"action_mask": mask, "success": self._success.copy(), "example": self._example.copy()}

    def _info(self) -> dict[str, Any]:
        info = self.arrays()
        info |= {f"_{key}": np.ones(self.num_envs, np.bool_) for key in info}  # Gymnasium's way to say: every place has this
        if self._texts:
            for place in range(self.num_envs):
                self._add_info(info, self.texts(place), place)
        return info

    def texts(self, place: int) -> dict[str, Any]:
        """What a person reads: instructions, and states in the world's own notation."""
        turn, text = self._turn_arrays.turns[self._turn[place]], self.task.world.format
        return {
            "id": turn.id,
            "turn": len(turn.history) + 1,
            "instruction": turn.instruction,
            "history": turn.history,
            "initial": text(self._state(self._initial, place)),
            "state": text(self._state(self._current, place)),
            "goal": None if turn.goal is None else text(turn.goal),
        }

    def render(self) -> tuple[Any, ...]:
        return tuple(map(self._render, range(self.num_envs)))

    def _render(self, place: int) -> Any:
        """The current state: a picture, or the instruction above a drawing made of characters."""
        state = self._state(self._current, place)
        if self.render_mode == "rgb_array":
            return draw_image(self.task.world, state)
        if self.render_mode == "ansi":
            console = Console(force_terminal=True, color_system="truecolor", width=200, highlight=False)
            with console.capture() as capture:
                console.print(self._turn_arrays.turns[self._turn[place]].instruction, markup=False)
                console.print(draw_terminal(self.task.world, state))
            return capture.get()
        return None

    def _state(self, states: Array, place: int) -> tuple[Any, ...]:
        return tuple(self.task.world.contents[index] for index in states[place])


def check_actions(actions: object, count: int, shape: tuple[int, ...]) -> Array:
    """The actions as an array of that shape; raises InputError."""
    try:
        array = np.asarray(actions)
    except ValueError:  # rows of different lengths
        array = np.zeros((0, 0))
    if array.shape != shape or array.dtype.kind not in "iu" or (array < 0).any() or (array >= count).any():
        wanted = "a whole number" if not shape else f"{shape[0]} whole numbers"
        raise InputError(f"action {actions!r}; expected {wanted} from 0 to {count - 1}")
    return array.astype(np.int64)

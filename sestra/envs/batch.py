"""Episodes side by side on the compiled tables: all that the single and the vector environment share."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from sestra.drawing import draw_image, draw_terminal
from sestra.envs.task import CUSTOM, Array, Task
from sestra.errors import InputError
from sestra.worlds.reward import step_with_rewards

Flags = NDArray[np.bool_]

RenderMode = Literal["ansi", "rgb_array", None]
METADATA: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}


class Batch:
    """As many episodes as asked for, each at its own turn; ``begin`` before anything else."""

    def __init__(self, task: Task, size: int) -> None:
        self.task = task
        self.turn_arrays = task.turn_arrays
        self.turn = np.zeros(size, np.int64)  # [size]: where in the script each episode is
        self.example = np.zeros(size, np.int64)  # [size]
        self.taken = np.zeros(size, np.int64)  # [size]: actions so far for the instruction
        self.initial = np.zeros((size, task.world.slots), np.int64)  # [size, slots]
        self.current = np.zeros((size, task.world.slots), np.int64)  # [size, slots]
        self.success = np.zeros(size, np.bool_)  # [size]

    def reset(self, options: dict[str, Any] | None, rng: np.random.Generator) -> None:
        """Start the examples, or the episode, that the options ask for in all places; without options, examples at random."""
        everywhere, size = slice(None), len(self.turn)
        if not options:
            self.begin_any(everywhere, size, rng)
            return
        examples = options.get("example")
        if isinstance(examples, list | tuple | np.ndarray) and len(examples) == size:
            self.begin(everywhere, np.array([self.task.choose({**options, "example": example}) for example in examples]))
        elif isinstance(episode := self.task.choose(options), int):
            self.begin(everywhere, np.full(size, episode))
        else:  # one of the user's own; that of an earlier call is forgotten
            self.turn_arrays = self.task.turn_arrays + episode
            self.example[:] = CUSTOM
            self._begin(everywhere, np.full(size, len(self.task.turn_arrays.turns)))

    def begin_any(self, which: Flags | slice, count: int, rng: np.random.Generator) -> None:
        """Start that many examples, drawn at random."""
        self.begin(which, rng.integers(len(self.task.first), size=count))

    def begin(self, which: Flags | slice, examples: Array) -> None:
        """Start those examples in the chosen places."""
        self.example[which] = examples
        self._begin(which, self.task.first[examples])

    def _begin(self, which: Flags | slice, turns: Array) -> None:
        self.turn[which] = turns
        self.taken[which] = 0
        self.initial[which] = self.current[which] = self.turn_arrays.start[turns]
        self.success[which] = False

    def act(self, actions: Array) -> tuple[NDArray[np.float64], Flags, Flags]:
        """Take the actions: reward, whether the episode is over, and whether it was cut off at the horizon."""
        task = self.task
        known, last = self.turn_arrays.known[self.turn], self.turn_arrays.last[self.turn]  # [size]
        at_horizon = self.taken + 1 >= task.horizon  # [size]
        stop = actions == task.tables.stop  # [size]
        goal = self.turn_arrays.goal[self.turn]  # [size, slots]
        self.current, reward, success = step_with_rewards(
            task.tables, self.current, goal, actions, verbosity=task.verbosity, at_horizon=at_horizon, shaping=task.shaping
        )
        self.success = success & known  # [size]
        onward = stop & ~last  # [size]: to the next instruction of the interaction
        self.turn = self.turn + onward
        self.taken = np.where(onward, 0, self.taken + 1)
        self.initial = np.where(onward[:, None], self.current, self.initial)
        return np.where(known, reward, 0.0), stop & last, at_horizon & ~stop

    def observation(self) -> dict[str, Array]:
        return {
            "instruction": self.turn_arrays.tokens[self.turn].astype(np.int64),  # [size, length]
            "history": self.turn_arrays.history[self.turn].astype(np.int64),  # [size, earlier, length]
            "initial": self.initial.copy(),  # [size, slots]
            "current": self.current.copy(),  # [size, slots]
        }

    def info(self) -> dict[str, Any]:
        """Arrays: the valid actions, whether STOP was just chosen at the goal, and which example this is."""
        mask = self.task.tables.valid_actions(self.current).view(np.int8)  # [size, actions]
        return {"action_mask": mask, "success": self.success.copy(), "example": self.example.copy()}

    def texts(self, place: int) -> dict[str, Any]:
        """What a person reads: instructions, and states in the world's own notation."""
        turn, text = self.turn_arrays.turns[self.turn[place]], self.task.world.format
        return {
            "id": turn.id,
            "turn": len(turn.history) + 1,
            "instruction": turn.instruction,
            "history": turn.history,
            "initial": text(self._state(self.initial, place)),
            "state": text(self._state(self.current, place)),
            "goal": None if turn.goal is None else text(turn.goal),
        }

    def render(self, place: int, mode: str | None) -> Any:
        """The current state: a picture, or the instruction above a drawing made of characters."""
        state = self._state(self.current, place)
        if mode == "rgb_array":
            return draw_image(self.task.world, state)
        if mode == "ansi":
            console = Console(force_terminal=True, color_system="truecolor", width=200, highlight=False)
            with console.capture() as capture:
                console.print(self.turn_arrays.turns[self.turn[place]].instruction, markup=False)
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

"""What the environments are about: the examples, as arrays, and the settings that turn them into episodes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sestra.data.scone import Interaction, State
from sestra.data.synthetic import splits
from sestra.data.vocabulary import PAD, Vocabulary
from sestra.errors import InputError, check_choice, check_number
from sestra.worlds import World, get_world
from sestra.worlds.base import Shaping
from sestra.worlds.tables import compile_world

Array = NDArray[np.int64]
Episode = Literal["instruction", "interaction"]
Choice = Mapping[str, Any]
"""The ``options`` of a reset: an example's index or identifier, or a state with instructions and perhaps a goal."""

ROOM = (40, 4)
"""The least room in an observation: tokens per instruction, and earlier instructions."""
CUSTOM = -1
"""The example's index while the episode is one that a reset's options described."""


@dataclass(frozen=True)
class Settings:
    """Keyword arguments of every environment, also through ``gymnasium.make``."""

    interactions: Sequence[Interaction] | None = None
    """The examples; by default the generated training interactions, so that an environment is the same on every machine
    (``sestra.data.locate.read_split`` gives SCONE's)."""
    episode: Episode = "instruction"
    """An episode is one instruction, or all instructions of an interaction: STOP then moves on to the next one."""
    vocabulary: Vocabulary | None = None
    """Which token has which number; by default that of the interactions."""
    verbosity: float | None = None
    """The paper's δ; by default the paper's value."""
    shaping: Shaping = "distance"
    """What the reward's shaping term counts."""
    horizon: int | None = None
    """The paper's M: the most actions for an instruction, STOP included; by default the paper's value."""
    instruction_length: int | None = None
    """Tokens in the observation of an instruction; by default as many as the longest has, and at least 40."""
    history_length: int | None = None
    """Earlier instructions in an observation; by default as many as the longest interaction has, and at least 4."""

    def __post_init__(self) -> None:
        check_choice("episode", self.episode, Episode)
        check_choice("shaping", self.shaping, Shaping)
        for name in ("horizon", "instruction_length", "history_length"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 1)
        if self.verbosity is not None:
            check_number("verbosity", self.verbosity, 0, sys.float_info.max, whole=False)


@dataclass(frozen=True)
class Turn:
    """An instruction to execute, with those before it; the goal may be unknown."""

    id: str
    history: tuple[str, ...]
    instruction: str
    start: State
    """Where it begins; of an interaction, where the first instruction does."""
    goal: State | None
    last: bool
    """Whether the episode ends with it."""


@dataclass(frozen=True)
class TurnArrays:
    """Turns as arrays; the turns of an episode follow each other."""

    turns: tuple[Turn, ...]
    tokens: NDArray[np.int32]  # [turns, length]
    history: NDArray[np.int32]  # [turns, earlier, length]
    start: Array  # [turns, slots]
    goal: Array  # [turns, slots]
    known: NDArray[np.bool_]  # [turns]: whether there is a goal
    last: NDArray[np.bool_]  # [turns]

    def __add__(self, other: TurnArrays) -> TurnArrays:
        arrays = ("tokens", "history", "start", "goal", "known", "last")
        return TurnArrays(self.turns + other.turns, *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in arrays))


class Task:
    """The world, the examples and the rules of an environment; it does not change while episodes run."""

    def __init__(self, world: str | World[Any], given: Settings) -> None:
        self.world = get_world(world)
        self.tables = compile_world(self.world)
        usual, (tokens, earlier) = self.world.settings, ROOM
        self.episode, self.shaping = given.episode, given.shaping
        self.verbosity = usual.verbosity if given.verbosity is None else given.verbosity
        self.horizon = given.horizon or usual.horizon
        interactions = generated(self.world) if given.interactions is None else tuple(given.interactions)
        texts = [text for interaction in interactions for text in interaction.instructions]
        self.vocabulary = given.vocabulary or Vocabulary.of(texts)
        longest = max([tokens, *(len(self.vocabulary.encode(text)) for text in set(texts))])
        self.instruction_length = given.instruction_length or longest
        most = max([earlier, *(len(interaction.instructions) - 1 for interaction in interactions)])
        self.history_length = given.history_length or most
        self.turn_arrays = self.encode(turn for interaction in interactions for turn in _turns(interaction, self.episode))
        if not self.turn_arrays.turns:
            raise InputError("no interaction has an instruction with a known start and goal; give some that do")
        self.first = np.flatnonzero(np.concatenate([[True], self.turn_arrays.last[:-1]]))  # [examples]: the turn that each begins with
        self._examples = {self.turn_arrays.turns[turn].id: example for example, turn in reversed([*enumerate(self.first.tolist())])}

    @property
    def observation_space(self) -> spaces.Space[Any]:
        length, words = self.instruction_length, len(self.vocabulary)
        state = [len(self.world.contents)] * self.world.slots
        return spaces.Dict(
            {
                "instruction": spaces.Box(0, words - 1, (length,), np.int64),
                "history": spaces.Box(0, words - 1, (self.history_length, length), np.int64),
                "initial": spaces.MultiDiscrete(state),
                "current": spaces.MultiDiscrete(state),
            }
        )

    @property
    def action_space(self) -> spaces.Discrete:
        return spaces.Discrete(self.tables.actions)

    def choose(self, choice: Choice) -> int | TurnArrays:
        """The example, or the episode of its own, that a reset's options ask for."""
        extra = sorted(set(choice) - {"example", "state", "instructions", "goal"})
        if extra:
            raise InputError(f"unknown reset option {extra[0]!r}; expected 'example', or 'state', 'instructions' and 'goal'")
        if "example" in choice:
            if len(choice) > 1:
                raise InputError("the reset option 'example' stands beside others; give an example, or a state with instructions, not both")
            return self._example(choice["example"])
        if not {"state", "instructions"} <= set(choice):
            raise InputError(f"the reset options are {', '.join(map(repr, choice))}; 'state' and 'instructions' need each other")
        instructions = choice["instructions"]
        if isinstance(instructions, str) or not isinstance(instructions, Sequence) or not instructions:
            raise InputError(f"the reset option 'instructions' is {instructions!r}; expected a list of texts, the last to be executed last")
        if not all(isinstance(text, str) and text.strip() for text in instructions):
            raise InputError(f"the reset option 'instructions' is {instructions!r}; expected texts that are not empty")
        goal = None if choice.get("goal") is None else self._state("goal", choice["goal"])
        states = (self._state("state", choice["state"]), *[None] * (len(instructions) - 1), goal)
        turns = [*_turns(Interaction("custom", states, tuple(instructions)), "interaction")]
        if self.episode == "instruction":  # the earlier ones have been executed: they are history
            turns = [Turn("custom", turns[-1].history, turns[-1].instruction, turns[0].start, goal, True)]
        return self.encode(turns)

    def encode(self, turns: Iterable[Turn]) -> TurnArrays:
        """The turns as arrays; raises InputError where one does not fit."""
        turns = tuple(turns)
        numbers = {text: self._tokens(text) for turn in turns for text in (*turn.history, turn.instruction)}
        history = np.full((len(turns), self.history_length, self.instruction_length), PAD, np.int32)
        for row, turn in zip(history, turns, strict=True):
            if len(turn.history) > len(row):
                raise InputError(f"{len(turn.history)} earlier instructions; an observation has room for {len(row)}: raise history_length")
            for place, text in zip(row, turn.history, strict=False):
                place[:] = numbers[text]
        try:
            start = self.tables.encode(turn.start for turn in turns)
            goal = self.tables.encode(turn.start if turn.goal is None else turn.goal for turn in turns)
        except KeyError as error:
            raise InputError(f"{error.args[0]!r} is not a content of world {self.world.name}; are these its interactions?") from error
        return TurnArrays(
            turns,
            np.array([numbers[turn.instruction] for turn in turns], dtype=np.int32).reshape(-1, self.instruction_length),
            history,
            start,
            goal,
            np.array([turn.goal is not None for turn in turns], dtype=bool),
            np.array([turn.last for turn in turns], dtype=bool),
        )

    def _tokens(self, text: str) -> NDArray[np.int32]:
        tokens = self.vocabulary.encode(text)
        if len(tokens) > self.instruction_length:
            room = f"an observation has room for {self.instruction_length}: shorten it, or raise instruction_length"
            raise InputError(f"{len(tokens)} tokens in the instruction {text[:60]!r}; {room}")
        return np.array([*tokens, *[PAD] * (self.instruction_length - len(tokens))], dtype=np.int32)  # [length]

    def _example(self, example: object) -> int:
        if isinstance(example, str) and example in self._examples:
            return self._examples[example]
        if isinstance(example, int | np.integer) and not isinstance(example, bool) and 0 <= example < len(self.first):
            return int(example)
        some = next(iter(reversed(self._examples)))
        raise InputError(f"no example {example!r}; expected a number from 0 to {len(self.first) - 1}, or an identifier such as {some!r}")

    def _state(self, option: str, text: object) -> State:
        if not isinstance(text, str):
            raise InputError(f"the reset option {option!r} is {text!r}; expected a state of {self.world.name} as text")
        try:
            return self.world.parse(text)
        except InputError as error:
            raise InputError(f"the reset option {option!r}: {error}") from error


@cache
def generated(world: World[Any]) -> tuple[Interaction, ...]:
    """The generated training interactions, made once per process."""
    return tuple(splits(world, seed=0)["train"])


def _turns(interaction: Interaction, episode: str) -> Iterable[Turn]:
    """The turns that can be executed; in a whole interaction each goes on from wherever the one before it led."""
    beginning = interaction.states[0]
    for number, (text, (start, goal)) in enumerate(zip(interaction.instructions, pairwise(interaction.states), strict=True), start=1):
        history = interaction.instructions[: number - 1]
        if episode == "instruction" and start is not None and goal is not None:
            yield Turn(f"{interaction.id}/{number}", history, text, start, goal, last=True)
        if episode == "interaction" and beginning is not None:
            yield Turn(interaction.id, history, text, beginning, goal, last=number == len(interaction.instructions))

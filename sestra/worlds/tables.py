"""A world compiled into lookup tables, and what a batch of states can do with them in one gather."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sestra.errors import InputError
from sestra.worlds.base import Action, World

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Potential = Literal["distance", "steps"]
"""What measures how far a state is from its goal: the world's own distance, or the least number of actions."""
UNREACHABLE = int(np.iinfo(np.int16).max)
"""Steps to go between two contents, or two states, that no sequence of edits connects."""
MAX_DISTANCE = int(np.iinfo(np.int8).max)
"""The largest distance that a world may give."""
MAX_REWARD_TABLE = 1 << 27
"""Entries, of one byte each, up to which the reward of every edit between any two contents is kept in memory."""


class Tables:
    """The compiled world. A batch of states is an integer array of content indices, ``[..., slots]``.

    Action ``slot * edits + edit`` applies that edit to that slot; the last action is STOP.
    """

    def __init__(self, world: World[Any]) -> None:
        self.world = world
        self.slots = world.slots
        self.edits = len(world.edits)
        self.actions = len(world.actions)
        self.stop = self.actions - 1
        self._index = {content: index for index, content in enumerate(world.contents)}
        after = [[world.edit(content, edit) for edit in world.edits] for content in world.contents]
        self._check(after)
        self.valid = np.array([[content is not None for content in row] for row in after])  # [contents, edits]
        self.invalid = (~self.valid).astype(np.int8)  # [contents, edits]
        self.next = np.array(
            [[index if content is None else self._index[content] for content in row] for index, row in enumerate(after)], np.int64
        )  # [contents, edits]
        self._rewards: dict[Potential, NDArray[np.int8]] = {}
        # Action a, where its slot holds content c, looks up after[offset[a] + c], what the slot holds then. STOP is one more edit, of any
        # slot, that changes nothing: so a step needs no special case.
        unchanged = np.arange(len(after))[:, None]  # [contents, 1]
        self.after = np.concatenate([self.next, unchanged], 1).T.ravel()  # [(edits + 1) * contents]
        self.slot = np.append(np.repeat(np.arange(self.slots), self.edits), 0)  # [actions]
        self.offset = np.append(np.tile(np.arange(self.edits), self.slots), self.edits) * len(after)  # [actions]

    def _check(self, after: list[list[Any]]) -> None:
        """That the world keeps the interface's promises; a mistake there would show only as an agent that learns badly."""
        columns: Any = self.world.columns
        if columns is not None and (type(columns) is not int or not 1 <= columns <= self.slots):
            raise InputError(f"world {self.world.name}: columns is {columns!r}; expected a whole number from 1 to {self.slots}, its slots")
        if len(self._index) < len(self.world.contents):
            raise InputError(f"world {self.world.name}: two of its contents are equal; list each once")
        if len(self.world.action_indices) < self.actions:
            raise InputError(f"world {self.world.name}: two of its actions read the same; give each edit its own kind or arguments")
        for content, row in zip(self.world.contents, after, strict=True):
            for edit, result in zip(self.world.edits, row, strict=True):
                done = f"world {self.world.name}: edit {str(edit)!r} makes {result!r} of {content!r}"
                if result is not None and result not in self._index:
                    raise InputError(f"{done}, which is not among its contents; list it there, or return None for an invalid edit")
                if result == content:
                    raise InputError(f"{done}; an edit that changes nothing is invalid: return None")

    @cached_property
    def distance(self) -> NDArray[np.int8]:
        """The world's own distance between any two contents."""
        distance = np.asarray(self.world.distances())  # [contents, contents]
        if distance.dtype.kind not in "iu" or distance.min() < 0 or distance.max() > MAX_DISTANCE:
            raise InputError(f"world {self.world.name}: its distances must be whole numbers from 0 to {MAX_DISTANCE}")
        return distance.astype(np.int8)

    @cached_property
    def steps(self) -> NDArray[np.int16]:
        """The least number of edits from one content to another; UNREACHABLE where there is no way.

        Relaxes ``steps[c, g] = 1 + min over edits of steps[next[c, edit], g]`` until nothing changes.
        """
        steps = np.full((len(self.next), len(self.next)), UNREACHABLE - 1, np.int16)  # one less, so that adding a step does not overflow
        np.fill_diagonal(steps, 0)  # [contents, contents]
        while True:
            best = steps.copy()
            for after in self.next.T:
                np.minimum(best, steps[after] + np.int16(1), out=best)
            if np.array_equal(best, steps):
                steps[steps == UNREACHABLE - 1] = UNREACHABLE
                return steps
            steps = best

    # Between plain-Python states and arrays.

    def encode(self, states: Iterable[tuple[Any, ...]]) -> Integers:
        return np.array([[self._index[content] for content in state] for state in states], np.int64).reshape(-1, self.slots)

    def encode_contents(self, contents: Iterable[Any]) -> Integers:
        return np.array([self._index[content] for content in contents], np.int64)  # [contents]

    def decode(self, states: Integers) -> list[tuple[Any, ...]]:
        return [tuple(self.world.contents[index] for index in row) for row in states.tolist()]

    def action(self, index: int) -> Action:
        return self.world.actions[index]

    # Batched: any leading dimensions, written as [...].

    def step(self, states: Integers, actions: Integers) -> Integers:
        """The states after the actions; STOP and invalid actions change nothing."""
        place, after = self.edited(states, actions)
        changed = states.copy()  # [..., slots]
        changed.put(place, after)
        return changed

    def edited(self, states: Integers, actions: Integers) -> tuple[Integers, Integers]:
        """Where in the flattened states each action edits a slot, and what the slot holds after it, ``[...]`` each."""
        place = np.arange(actions.size).reshape(actions.shape) * self.slots + self.slot.take(actions)  # [...]
        return place, self.after.take(self.offset.take(actions) + states.take(place))  # [...]

    def valid_actions(self, states: Integers) -> Flags:
        """Which actions change the state, and STOP, which is always valid."""
        return _with_stop(self.valid.take(states, 0), True)  # [..., actions]

    def state_distance(self, states: Integers, goals: Integers) -> Integers:
        distance: Integers = _pairs(self.distance, states, goals).sum(-1)
        return distance  # [...]

    def steps_to_go(self, states: Integers, goals: Integers) -> Integers:
        """The least number of actions, STOP not counted, that lead from the states to the goals; UNREACHABLE where none do."""
        steps: Integers = _pairs(self.steps, states, goals).sum(-1)
        return np.minimum(steps, UNREACHABLE)  # [...]

    def progress(self, potential: Potential, states: Integers, goals: Integers) -> NDArray[np.int8]:
        """How much closer each edit of each slot brings the state to the goal."""
        table: NDArray[Any] = getattr(self, potential)  # [contents, contents]
        after = self.next.take(states, 0)  # [..., slots, edits]
        return _difference(_pairs(table, states, goals)[..., None], _pairs(table, after, goals[..., None]))  # [..., slots, edits]

    def edit_rewards(self, states: Integers, goals: Integers, potential: Potential = "distance") -> NDArray[np.int8]:
        """Progress, less one where the edit is invalid: the paper's reward of an edit but for its verbosity penalty."""
        table = self._reward_table(potential)
        if table is None:
            return self.progress(potential, states, goals) - self.invalid.take(states, 0)  # [..., slots, edits]
        return table.take(states * len(self.next) + goals, 0)  # [..., slots, edits]

    def _reward_table(self, potential: Potential) -> NDArray[np.int8] | None:
        """``edit_rewards`` between any two contents, ``[contents * contents, edits]``; None where it would fill the memory."""
        contents = len(self.next)
        if contents * contents * self.edits > MAX_REWARD_TABLE:
            return None
        if potential not in self._rewards:
            table: NDArray[Any] = getattr(self, potential)  # [contents, contents]
            rewards = np.empty((contents, contents, self.edits), np.int8)
            for edit, after in enumerate(self.next.T):
                rewards[..., edit] = _difference(table, table[after])
            rewards -= self.invalid[:, None]
            self._rewards[potential] = rewards.reshape(-1, self.edits)
        return self._rewards[potential]

    def optimal_actions(self, states: Integers, goals: Integers) -> Flags:
        """Which actions a shortest execution may take next: those one step closer to the goal, or STOP at it."""
        at_goal = (states == goals).all(-1)  # [...]
        reachable = (self.steps_to_go(states, goals) < UNREACHABLE)[..., None, None]  # [..., 1, 1]
        return _with_stop((self.progress("steps", states, goals) == 1) & reachable, at_goal)  # [..., actions]

    def demonstrate(self, states: Integers, goals: Integers) -> Integers:
        """A shortest execution for each pair, in a natural order, ended and padded by STOP, ``[batch, steps]``.

        First everything that must go is taken away, then everything is put where it belongs, each from the left. An edit takes away if it
        brings the slot closer to the first of the world's contents, the empty one.
        """
        togo = self.steps_to_go(states, goals)  # [batch]
        longest = int(togo.max(initial=0))
        if longest == UNREACHABLE:
            state, goal = (self.world.format(self.decode(batch[togo.argmax()][None])[0]) for batch in (states, goals))
            raise InputError(f"no actions of world {self.world.name} lead from the state {state!r} to the goal {goal!r}")
        size = self.steps[:, 0]  # [contents]: how full each content is
        takes = size[self.next] < size[:, None]  # [contents, edits]
        order = np.arange(self.actions, 0, -1)  # [actions]: earlier actions first
        execution = []
        for _ in range(longest + 1):
            takes_away = _with_stop(takes.take(states, 0), False)  # [batch, actions]
            optimal = self.optimal_actions(states, goals)  # [batch, actions]
            action = (optimal * (order + self.actions * takes_away)).argmax(-1)  # [batch]
            execution.append(action)
            states = self.step(states, action)
        return np.stack(execution, 1)  # [batch, longest + 1]


def _with_stop(edits: Flags, stop: Flags | bool) -> Flags:
    """Flags of all edits, ``[..., slots, edits]``, and of STOP as flags of all actions."""
    flags = np.empty((*edits.shape[:-2], edits.shape[-2] * edits.shape[-1] + 1), np.bool_)  # [..., actions]
    flags[..., :-1] = edits.reshape(flags[..., :-1].shape)
    flags[..., -1] = stop
    return flags


def _difference(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.int8]:
    """How much less there is to go; to have made the goal unreachable counts as the largest step away from it."""
    difference: NDArray[np.int8] = (before.astype(np.int16) - after).clip(1 - MAX_DISTANCE, MAX_DISTANCE).astype(np.int8)
    return difference


def _pairs(table: NDArray[Any], contents: Integers, goals: Integers) -> NDArray[Any]:
    """``table[contents, goals]`` of a square table, as one flat gather."""
    return table.take(contents * len(table) + goals)  # [...]


@cache
def compile_world(world: World[Any]) -> Tables:
    """The world's tables, made once per process."""
    return Tables(world)

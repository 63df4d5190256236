"""A world compiled into lookup tensors, and what a batch of states can do with them in one gather."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from sestra.errors import InputError
from sestra.worlds.base import Action, World

Potential = Literal["distance", "steps"]
"""What tells how far a state is from its goal: the world's own distance, or the least number of actions."""
UNREACHABLE = torch.iinfo(torch.int16).max
"""Steps to go between two contents, or two states, that no sequence of edits connects."""
FARTHEST = torch.iinfo(torch.int8).max
"""The largest distance that a world may give."""
LARGEST_MERIT = 1 << 27
"""Up to how many entries, of a byte each, the merit of every edit between any two contents is kept in memory."""


class Tables:
    """The compiled world. A batch of states is an integer tensor of content indices, ``[..., slots]``.

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
        self.valid = torch.tensor([[content is not None for content in row] for row in after])  # [contents, edits]
        self.fault = (~self.valid).to(torch.int8)  # [contents, edits]: 1 where the edit is invalid
        self.next = torch.tensor(
            [[index if content is None else self._index[content] for content in row] for index, row in enumerate(after)]
        )  # [contents, edits]
        self._merits: dict[Potential, Tensor] = {}
        # Action a, where its slot holds content c, is move[a] + c, and after[move[a] + c] is what the slot holds then. STOP is one more
        # edit, of any slot, that changes nothing: so that a step needs no case of its own.
        unchanged = torch.arange(len(after)).unsqueeze(1)  # [contents, 1]
        self.after = torch.cat([self.next, unchanged], 1).T.flatten()  # [(edits + 1) * contents]
        slot, edit = [*range(self.slots), 0], [*range(self.edits)]
        self.slot = torch.tensor(slot).repeat_interleave(torch.tensor([self.edits] * self.slots + [1]))  # [actions]
        self.move = torch.tensor([*edit * self.slots, self.edits]) * len(after)  # [actions]

    def _check(self, after: list[list[Any]]) -> None:
        """That the world keeps the interface's promises; a mistake there would show only as an agent that learns badly."""
        if len(self._index) < len(self.world.contents):
            raise InputError(f"world {self.world.name}: two of its contents are equal; list each once")
        if len(self.world.action_indices) < self.actions:
            raise InputError(f"world {self.world.name}: two of its actions read the same; give each edit its own kind or arguments")
        for content, row in zip(self.world.contents, after, strict=True):
            for edit, result in zip(self.world.edits, row, strict=True):
                done = f"world {self.world.name}: edit {' '.join((edit.kind, *edit.arguments))!r} makes {result!r} of {content!r}"
                if result is not None and result not in self._index:
                    raise InputError(f"{done}, which is not among its contents; list it there, or return None for an invalid edit")
                if result == content:
                    raise InputError(f"{done}; an edit that changes nothing is invalid: return None")

    @cached_property
    def distance(self) -> Tensor:
        """The world's own distance between any two contents, as int8."""
        distance = torch.as_tensor(self.world.distances())  # [contents, contents]
        if distance.is_floating_point() or distance.min() < 0 or distance.max() > FARTHEST:
            raise InputError(f"world {self.world.name}: its distances must be whole numbers from 0 to {FARTHEST}")
        return distance.to(torch.int8)

    def _merit(self, potential: Potential) -> Tensor | None:
        """``merit`` of every edit between any two contents, as int8; None where that would fill the memory."""
        contents = len(self.next)
        if contents * contents * self.edits > LARGEST_MERIT:
            return None
        if potential in self._merits:
            return self._merits[potential]
        table: Tensor = getattr(self, potential)  # [contents, contents]
        merit = torch.empty(contents, contents, self.edits, dtype=torch.int8)  # [contents, contents, edits]
        for edit, after in enumerate(self.next.T):
            merit[..., edit] = _progress(table, table[after])
        self._merits[potential] = merit.sub_(self.fault.unsqueeze(1)).flatten(0, 1)  # [contents * contents, edits]
        return self._merits[potential]

    @cached_property
    def steps(self) -> Tensor:
        """The least number of edits from one content to another, as int16; UNREACHABLE where there is no way.

        Relaxes ``steps[c, g] = 1 + min over edits of steps[next[c, edit], g]`` until nothing changes.
        """
        steps = torch.full((len(self.next), len(self.next)), UNREACHABLE - 1, dtype=torch.int16)  # one less: a step more still fits
        steps.fill_diagonal_(0)  # [contents, contents]
        while True:
            best = steps.clone()
            for after in self.next.T:
                torch.minimum(best, steps[after] + 1, out=best)
            if torch.equal(best, steps):
                return steps.masked_fill_(steps == UNREACHABLE - 1, UNREACHABLE)
            steps = best

    # Between plain-Python states and tensors.

    def encode(self, states: Iterable[tuple[Any, ...]]) -> Tensor:
        return torch.tensor([[self._index[content] for content in state] for state in states], dtype=torch.long)  # [batch, slots]

    def decode(self, states: Tensor) -> list[tuple[Any, ...]]:
        return [tuple(self.world.contents[index] for index in row) for row in states.tolist()]

    def action(self, index: int) -> Action:
        return self.world.actions[index]

    def action_index(self, action: Action) -> int:
        return self.world.action_indices[action]

    # Batched: any leading dimensions, written as [...].

    def step(self, states: Tensor, actions: Tensor) -> Tensor:
        """The states after the actions; STOP and invalid actions change nothing."""
        slot = self.slot.take(actions).unsqueeze(-1)  # [..., 1]
        move = self.move.take(actions).unsqueeze(-1)  # [..., 1]
        return states.scatter(-1, slot, self.after.take(states.gather(-1, slot).add_(move)))  # [..., slots]

    def valid_actions(self, states: Tensor) -> Tensor:
        """Which actions change the state, and STOP, which is always valid."""
        batch = states.shape[:-1]  # NumPy here takes two thirds of the time
        valid = np.ones((*batch, self.actions), np.bool_)  # [..., actions]
        valid[..., : self.stop] = self.valid.numpy().take(states.numpy(), 0).reshape(*batch, self.stop)
        return torch.from_numpy(valid)

    def state_distance(self, states: Tensor, goals: Tensor) -> Tensor:
        return pairs(self.distance, states, goals).sum(-1)  # [...]

    def steps_to_go(self, states: Tensor, goals: Tensor) -> Tensor:
        """The least number of actions, STOP not counted, that lead from the states to the goals; UNREACHABLE where none do."""
        return pairs(self.steps, states, goals).sum(-1).clamp(max=UNREACHABLE)  # [...]

    def progress(self, table: Tensor, states: Tensor, goals: Tensor) -> Tensor:
        """How much closer each edit of each slot brings the state to the goal, by ``distance`` or ``steps``."""
        after = rows(self.next, states)  # [..., slots, edits]
        return _progress(pairs(table, states, goals).unsqueeze(-1), pairs(table, after, goals.unsqueeze(-1)))  # [..., slots, edits]

    def merit(self, states: Tensor, goals: Tensor, potential: Potential = "distance") -> Tensor:
        """Progress, less one where the edit is invalid: the paper's reward of an edit but for its verbosity penalty."""
        merit = self._merit(potential)
        if merit is None:
            return self.progress(getattr(self, potential), states, goals) - rows(self.fault, states)  # [..., slots, edits]
        return rows(merit, states * len(self.next) + goals)  # [..., slots, edits]

    def optimal_actions(self, states: Tensor, goals: Tensor) -> Tensor:
        """Which actions a shortest execution may take next: those one step closer to the goal, or STOP at it."""
        at_goal = (states == goals).all(-1)  # [...]
        reachable = (self.steps_to_go(states, goals) < UNREACHABLE)[..., None, None]  # [..., 1, 1]
        return self._with_stop((self.progress(self.steps, states, goals) == 1) & reachable, at_goal)  # [..., actions]

    def demonstrate(self, states: Tensor, goals: Tensor) -> Tensor:
        """A shortest execution for each pair, in a natural order, ended and padded by STOP.

        First everything that must go is taken away, then everything is put where it belongs, each from the left. An edit takes away if it
        brings the slot closer to the first of the world's contents, the empty one.
        """
        togo = self.steps_to_go(states, goals)  # [batch]
        longest = int(togo.max()) if len(states) else 0
        if longest == UNREACHABLE:
            state, goal = (self.world.format(self.decode(batch[togo.argmax()].unsqueeze(0))[0]) for batch in (states, goals))
            raise InputError(f"no actions of world {self.world.name} lead from the state {state!r} to the goal {goal!r}")
        size = self.steps[:, 0]  # [contents]: how full each content is
        takes = size[self.next] < size.unsqueeze(-1)  # [contents, edits]
        never = torch.zeros(len(states), dtype=torch.bool)  # [batch]
        order = torch.arange(self.actions, 0, -1)  # [actions]: earlier actions first
        execution = []
        for _ in range(longest + 1):
            takes_away = self._with_stop(rows(takes, states), never)  # [batch, actions]
            optimal = self.optimal_actions(states, goals)  # [batch, actions]
            action = (optimal * (order + self.actions * takes_away)).argmax(-1)  # [batch]
            execution.append(action)
            states = self.step(states, action)
        return torch.stack(execution, 1)  # [batch, longest + 1]

    def _with_stop(self, edits: Tensor, stop: Tensor) -> Tensor:
        return torch.cat([edits.flatten(-2), stop.unsqueeze(-1)], -1)  # [..., actions]


def _progress(before: Tensor, after: Tensor) -> Tensor:
    """How much less there is to go, as int8; to have made the goal unreachable counts as the largest step away from it."""
    return (before.to(torch.int16) - after).clamp(1 - FARTHEST, FARTHEST).to(torch.int8)


def rows(table: Tensor, contents: Tensor) -> Tensor:
    """``table[contents]``; at these sizes three times as fast."""
    return table.index_select(0, contents.flatten()).view(*contents.shape, table.shape[1])  # [..., columns]


def pairs(table: Tensor, contents: Tensor, goals: Tensor) -> Tensor:
    """``table[contents, goals]`` of a square table; at these sizes twice as fast."""
    return table.take(contents * len(table) + goals)  # [...]


@cache
def compile_world(world: World[Any]) -> Tables:
    """The world's tables, made once a process."""
    return Tables(world)

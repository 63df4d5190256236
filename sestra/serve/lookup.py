"""What requests refer to: worlds and agents by name, states by their text. What is not there is refused, with the field's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sestra.agent import Agent
from sestra.agent.limits import max_state_length
from sestra.errors import InputError
from sestra.worlds import World

Given = TypeVar("Given")
Found = TypeVar("Found")


class RefusedError(InputError):
    """A request that is wrong: which field, and why."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(reason)
        self.where = where


class Lookup:
    """The agents of a server, their worlds, and worlds of which there are only states to draw."""

    def __init__(self, agents: Sequence[Agent], worlds: Sequence[World[Any]] = ()) -> None:
        self._agents: dict[str, list[Agent]] = {}
        for agent in agents:
            self._agents.setdefault(agent.world.name, []).append(agent)
        self._worlds = {world.name: world for world in (*worlds, *(agent.world for agent in agents))}

    @property
    def names(self) -> list[str]:
        """The worlds that there are agents for."""
        return list(self._agents)

    def agents(self, world: str) -> list[Agent]:
        """Those of a world, the first of which is used if none is named."""
        return self._agents.get(world, [])

    def agent(self, world: str, name: str | None = None) -> Agent:
        if not self.agents(world):
            raise RefusedError("world", f"there is no agent for {world!r}; expected one of {', '.join(self._agents)}")
        found = [agent for agent in self.agents(world) if name in (None, agent.name)]
        if not found:
            expected = ", ".join(agent.name for agent in self.agents(world))
            raise RefusedError("agent", f"there is no agent {name!r} for {world}; expected one of {expected}")
        return found[0]

    def world(self, name: str) -> World[Any]:
        if name not in self._worlds:
            raise RefusedError("world", f"there is no agent for {name!r}; expected one of {', '.join(self._agents)}")
        return self._worlds[name]

    def parse(self, world: World[Any], text: str, where: str) -> tuple[Any, ...]:
        longest = max_state_length(world)
        if len(text) > longest:
            raise RefusedError(where, f"{len(text):,} characters; expected at most {longest:,}; write less")
        return checked(where, world.parse, text)

    @property
    def longest_state(self) -> int:
        """Characters of the longest state of any world."""
        return max(map(max_state_length, self._worlds.values()), default=0)


def checked(where: str, check: Callable[[Given], Found], value: Given) -> Found:
    """The result of the check; an error names the field."""
    try:
        return check(value)
    except InputError as error:
        raise RefusedError(where, str(error)) from error

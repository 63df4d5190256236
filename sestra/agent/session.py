"""An interaction that is given its instructions one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sestra.agent.trace import Context, Trace, Turn
from sestra.errors import InputError
from sestra.worlds import WORLDS, World


class Session:
    """Every instruction begins in the state in which the one before it ended; ``Agent.start`` makes a session."""

    def __init__(self, world: World[Any], start: str, take_turn: Callable[[Context], Turn]) -> None:
        self.world = world
        self.start = start
        self.turns: list[Turn] = []
        self._take_turn = take_turn

    @property
    def state(self) -> str:
        """The current state."""
        return self.turns[-1].end if self.turns else self.start

    @property
    def trace(self) -> Trace:
        return Trace(self.world.name, self.start, tuple(self.turns), WORLDS.reference(type(self.world)))

    def context(self, instruction: str) -> Context:
        """The agent's input if the instruction comes next."""
        turns = self.turns
        return Context((*(turn.start for turn in turns), self.state), (*(turn.instruction for turn in turns), instruction))

    def do(self, instruction: str) -> Turn:
        """Follow an instruction."""
        turn = self._take_turn(self.context(instruction))
        self.turns.append(turn)
        return turn

    def undo(self) -> Turn:
        """Remove the last turn, for the agent too."""
        if not self.turns:
            raise InputError("there is no turn to undo; the interaction is at its start")
        return self.turns.pop()

"""An interaction that is given its instructions one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sestra.agent.trace import Context, Reading, Trace, Turn
from sestra.errors import InputError
from sestra.worlds import WORLDS, World


class Session:
    """Every instruction begins in the state in which the one before it ended; ``Agent.start`` makes a session.

    Turns that were not understood stay in the trace, but later ones are taken as if they had never been said.
    """

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

    def context(self, instruction: str, actions: tuple[str, ...] = ()) -> Context:
        """The agent's input if the instruction comes next."""
        turns = [turn for turn in self.turns if turn.understood]
        return Context((*(turn.start for turn in turns), self.state), (*(turn.instruction for turn in turns), instruction), actions)

    def do(self, instruction: str) -> Turn:
        """Follow an instruction."""
        turn = self._take_turn(self.context(instruction))
        self.turns.append(turn)
        return turn

    def choose(self, reading: Reading) -> Turn:
        """Follow the last instruction, which was not understood, in the way of one of its readings."""
        last = self.turns[-1] if self.turns else None
        if last is None or reading not in last.readings:
            raise InputError(
                "the last turn has no such reading; expected one of its 'readings', of which it has some if it was not understood"
            )
        self.turns[-1] = self._take_turn(self.context(last.instruction, reading.actions))
        return self.turns[-1]

    def undo(self) -> Turn:
        """Remove the last turn, for the agent too."""
        if not self.turns:
            raise InputError("there is no turn to undo; the interaction is at its start")
        return self.turns.pop()

"""One check: a sentence in its context, and the state that a person would expect after it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sestra.agent.trace import Context
from sestra.errors import InputError
from sestra.io import build, read_json
from sestra.worlds import World

Kind = Literal["followable", "no instruction", "not there", "unknown deed", "impossible", "ambiguous"]
"""Whether a sentence can be followed, and if not, why: it does not ask for anything to be done (a greeting, a question, a negation, another
topic), it is about a thing that is not there, about something that the world does not know, about something that does not work in this
state, or about one of several things without saying which."""
Half = Literal["tune", "report"]
"""Of hand-written sentences: the half that may be looked at while agents are improved, and the half that only figures are reported of."""


@dataclass(frozen=True)
class Check:
    """States and instructions are those of a ``Context``: the states before each instruction; the last of each are the current ones."""

    kind: Kind
    capability: str
    states: tuple[str, ...]
    instructions: tuple[str, ...]
    goal: str
    """The expected state; the current one if nothing should be done."""
    why: str = ""
    """Why nothing should be done."""
    readings: tuple[str, ...] = ()
    """What an ambiguous sentence may ask for: the state after each reading."""
    half: Half | None = None

    @property
    def sentence(self) -> str:
        return self.instructions[-1]

    @property
    def start(self) -> str:
        """The current state."""
        return self.states[-1]

    @property
    def followable(self) -> bool:
        return self.kind == "followable"

    @property
    def context(self) -> Context:
        return Context(self.states, self.instructions)


def read_sentences(path: Path, world: World[Any]) -> tuple[Check, ...]:
    """The hand-written sentences in a JSON file, checked."""
    entries = read_json(path)
    if not isinstance(entries, list):
        raise InputError(f"{path}: expected a list of sentences")
    read = tuple(build(Check, entry, f"{path}: sentence {number}") for number, entry in enumerate(entries, start=1))
    for number, check in enumerate(read, start=1):
        place = f"{path}: sentence {number}: "
        if not check.instructions or len(check.states) != len(check.instructions):
            raise InputError(f"{place}{len(check.states)} states for {len(check.instructions)} instructions; expected one before each")
        if check.half is None:
            raise InputError(f"{place}has no half; expected 'tune' or 'report'")
        for state in (*check.states, check.goal, *check.readings):
            try:
                world.parse(state)
            except InputError as error:
                raise InputError(f"{place}{error}") from error
    return read

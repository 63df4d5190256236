"""What an agent did, step by step, as plain values: states and actions are text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sestra.errors import InputError
from sestra.worlds import STOP, get_world

Over = Literal["words", "objects"]


class Alternative(NamedTuple):
    """An action that was not taken."""

    action: str
    probability: float


@dataclass(frozen=True)
class Context:
    """What an agent is given for a turn: the states in which the turns so far began and their instructions, the last being those of now."""

    states: tuple[str, ...]
    instructions: tuple[str, ...]


@dataclass(frozen=True)
class Word:
    """A token of an instruction, in lower case; punctuation that the agent does not know is none."""

    text: str
    read_as: str
    """The word of the agent's vocabulary that it was taken for: itself, one that it may be a misspelling of, or ``<unknown>``."""
    known: bool
    """Whether it was taken for any."""


@dataclass(frozen=True)
class Attended:
    """Where one kind of attention lay in a step."""

    name: str
    over: Over
    heads: tuple[tuple[tuple[str, float], ...], ...]
    """One a head: labels and weights. Words are labelled by themselves and objects by their number as drawn.

    The weights sum to 1, less what lay on the marks between instructions, which nobody typed.
    """

    def to_json(self) -> dict[str, Any]:
        heads = [[{"label": label, "weight": weight} for label, weight in head] for head in self.heads]
        return {"name": self.name, "over": self.over, "heads": heads}


@dataclass(frozen=True)
class Attention:
    """All that a step attended to; which names there are depends on the policy and on the turn (a first one has no earlier words)."""

    attended: tuple[Attended, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.attended)

    def __iter__(self) -> Iterator[Attended]:
        return iter(self.attended)

    def __getitem__(self, name: str) -> Attended:
        for each in self.attended:
            if each.name == name:
                return each
        raise KeyError(f"no attention is called {name!r} here; expected one of {', '.join(self.names) or 'none'}")


@dataclass(frozen=True)
class Step:
    """One action."""

    action: str
    probability: float
    alternatives: tuple[Alternative, ...]
    """The most probable other actions, best first."""
    attention: Attention
    state: str
    """The state after the action."""

    def to_json(self) -> dict[str, Any]:
        return {
            "action": self.action,
            "probability": self.probability,
            "alternatives": [alternative._asdict() for alternative in self.alternatives],
            "attention": [attended.to_json() for attended in self.attention],
            "state": self.state,
        }


@dataclass(frozen=True)
class Turn:
    """One instruction and what was done."""

    instruction: str
    words: tuple[Word, ...]
    start: str
    steps: tuple[Step, ...]
    """The last one is STOP, unless the horizon was hit."""
    stopped: bool
    """Whether the agent ended the turn itself, and not the horizon."""
    notes: tuple[str, ...] = ()
    """Sentences for a person: what was not as it should be."""

    @property
    def actions(self) -> tuple[str, ...]:
        """Without STOP."""
        return tuple(step.action for step in self.steps if step.action != str(STOP))

    @property
    def end(self) -> str:
        return self.steps[-1].state if self.steps else self.start

    def to_json(self) -> dict[str, Any]:
        return {
            "instruction": self.instruction,
            "words": [{"text": word.text, "read_as": word.read_as, "known": word.known} for word in self.words],
            "start": self.start,
            "end": self.end,
            "stopped": self.stopped,
            "notes": list(self.notes),
            "steps": [step.to_json() for step in self.steps],
        }


@dataclass(frozen=True)
class Trace:
    """A whole interaction; ``world`` is the world's name."""

    world: str
    start: str
    turns: tuple[Turn, ...] = ()
    reference: str = field(default="", compare=False, repr=False)
    """What ``get_world`` finds the world by, where that is not its name."""

    @property
    def final_state(self) -> str:
        return self.turns[-1].end if self.turns else self.start

    def draw(self, path: str | os.PathLike[str]) -> None:
        """Write the start and the state after every instruction as a picture, SVG or PNG by the name's ending."""
        from sestra.drawing import draw_strip_svg, write_png
        from sestra.io import write_text

        world = get_world(self.reference or self.world)
        frames = [("", world.parse(self.start)), *((turn.instruction, world.parse(turn.end)) for turn in self.turns)]
        ending = Path(path).suffix.lower()
        if ending == ".svg":
            write_text(Path(path), draw_strip_svg(world, frames))
        elif ending == ".png":
            write_png(world, frames, path)
        else:
            raise InputError(f"{os.fspath(path)}: cannot tell what kind of picture to write; end the name in .svg or .png")

    def to_json(self) -> dict[str, Any]:
        turns = [turn.to_json() for turn in self.turns]
        return {"world": self.world, "start": self.start, "turns": turns, "final_state": self.final_state}

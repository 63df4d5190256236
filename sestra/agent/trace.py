"""What an agent did, step by step, as plain values: states and actions are text.

These classes are the one schema of a trace: ``--json`` prints their fields, and the HTTP interface answers with them and describes them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sestra.io import plain
from sestra.worlds import STOP, get_world

Over = Literal["words", "objects"]
Reason = Literal["no instruction", "nothing like that here", "which of several", "unknown words", "unsure"]
"""Why an agent did not follow an instruction (``sestra.agent.understanding``)."""


@dataclass(frozen=True)
class Context:
    """The input of a turn: the start states and the instructions of all turns so far; the last of each are the current ones."""

    states: tuple[str, ...]
    instructions: tuple[str, ...]
    actions: tuple[str, ...] = ()
    """Actions that are taken first, whatever the policy prefers; after them it goes on (greedily, if the decoding is beam search)."""


@dataclass(frozen=True, slots=True)
class Word:
    """A token of an instruction, in lower case, without punctuation that the agent does not know."""

    text: str
    read_as: str
    """The word of the vocabulary that stands for it: itself, the correction of a misspelling, or ``<unknown>``."""
    known: bool
    """False for ``<unknown>``."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """An action that was not taken, and its probability."""

    action: str
    probability: float


@dataclass(frozen=True, slots=True)
class Weight:
    """The attention weight of a word, labelled by its text, or of an object, labelled by its number in the drawing."""

    label: str
    weight: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """The weights of an attention before they are put together with their labels."""

    labels: tuple[str, ...]
    """Of the keys; the same object for all steps of a turn."""
    weights: list[list[float]]
    """``[heads][keys]``"""

    def heads(self) -> tuple[tuple[Weight, ...], ...]:
        return tuple([tuple(map(Weight, self.labels, head)) for head in self.weights])


class _Deferred:
    """Has attention weights that need not be looked at: there are hundreds in every step."""

    __slots__ = ("_labelled",)
    _labelled: Labelled | None


@dataclass(frozen=True, slots=True)
class Attention(_Deferred):
    """One attention mechanism in one step; which ones there are depends on the policy and on the turn."""

    name: str
    over: Over
    heads: tuple[tuple[Weight, ...], ...]
    """One tuple per head. Its weights sum to 1, less the weight of the delimiters between instructions."""

    @classmethod
    def of(cls, name: str, over: Over, labelled: Labelled) -> Attention:
        """One whose heads are made when they are first looked at."""
        new = object.__new__(cls)
        for field_name, value in (("name", name), ("over", over), ("_labelled", labelled)):
            object.__setattr__(new, field_name, value)
        return new

    if not TYPE_CHECKING:

        def __getattr__(self, attribute: str) -> Any:
            """The heads, unless they were made before: what has a value does not come here."""
            if attribute != "heads" or self.labelled is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r}")
            object.__setattr__(self, "heads", self.labelled.heads())
            return self.heads

    @property
    def labelled(self) -> Labelled | None:
        """The weights without an object for each, if it was made from them."""
        return getattr(self, "_labelled", None)


@dataclass(frozen=True, slots=True)
class Step:
    """One action."""

    action: str
    probability: float
    alternatives: tuple[Alternative, ...]
    """The most probable other actions, best first."""
    attention: tuple[Attention, ...]
    state: str
    """The state after the action."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Something that an instruction which was not followed may have meant."""

    words: str
    """What it changes, in words."""
    actions: tuple[str, ...]
    """With STOP; as a context's ``actions`` they are taken."""
    end: str
    """The state after them."""
    probability: float
    """That the agent would have ended there."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One instruction and its execution."""

    instruction: str
    words: tuple[Word, ...]
    start: str
    end: str
    """The state after the last step."""
    stopped: bool
    """Whether the agent chose STOP; false if it reached the horizon."""
    notes: tuple[str, ...]
    """Messages for the user: why nothing was done, misspelt and unknown words, a horizon that was reached."""
    steps: tuple[Step, ...]
    """The last action is STOP, unless the horizon was reached."""
    understood: bool = True
    """Whether the instruction was followed; if not, nothing was done."""
    reason: Reason | None = None
    """Why it was not."""
    confidence: float = 1.0
    """How probable it is that what was done, or would have been done, is what was meant; calibrated if the agent is."""
    readings: tuple[Reading, ...] = ()
    """What an instruction that was not followed may have meant, the most probable first."""

    @property
    def actions(self) -> tuple[str, ...]:
        """Without STOP."""
        return tuple(step.action for step in self.steps if step.action != str(STOP))

    def to_json(self) -> dict[str, Any]:
        described: dict[str, Any] = plain(self)
        return described


@dataclass(frozen=True)
class Trace:
    """A whole interaction; ``world`` is the name of its world."""

    world: str
    start: str
    turns: tuple[Turn, ...] = ()
    reference: str = field(default="", compare=False, repr=False)
    """What ``get_world`` finds the world by, where that is not its name."""

    @property
    def final_state(self) -> str:
        return self.turns[-1].end if self.turns else self.start

    def draw(self, path: str | os.PathLike[str]) -> None:
        """Write the start state and the state after every instruction as one picture, SVG or PNG by the suffix of the path."""
        from sestra.drawing import strip_picture
        from sestra.drawing.raster import save

        world = get_world(self.reference or self.world)
        frames = [("", world.parse(self.start)), *((turn.instruction, world.parse(turn.end)) for turn in self.turns)]
        save(strip_picture(world, frames), path)

    def to_json(self) -> dict[str, Any]:
        turns = [turn.to_json() for turn in self.turns]
        return {"world": self.world, "start": self.start, "turns": turns, "final_state": self.final_state}

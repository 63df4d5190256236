"""Sentence patterns of a capability, and the situations that they are said in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from sestra.analysis.checks.check import Check, Kind
from sestra.worlds import World

State = tuple[Any, ...]
TRIES = 2000
"""How often a situation is drawn before a pattern counts as one that no state fits."""


@dataclass(frozen=True)
class Situation:
    """The states before each earlier instruction and now, and the state that the sentence leads to."""

    states: tuple[State, ...]
    goal: State
    words: Mapping[str, str]
    """What stands in the blanks of a pattern."""
    earlier: tuple[str, ...] = ()
    """The earlier instructions, plainly worded: only the last sentence is tested."""
    readings: tuple[State, ...] = ()
    """Of an ambiguous sentence."""


Draw = Callable[[Random], Situation]
"""Draws a situation; raises NoFitError if the draw does not fit, so that another one is needed."""


class NoFitError(Exception):
    """No situation was found for the pattern in this draw."""


def need(condition: bool) -> None:
    if not condition:
        raise NoFitError


@dataclass(frozen=True)
class Patterns:
    """Sentences with blanks, such as ``empty the {colour} one``, that all lead to the same state in the same situation."""

    draw: Draw
    sentences: tuple[str, ...]
    change: Callable[[Random, str], str] | None = None
    """What is done to a sentence when its blanks are filled, such as misspelling a word."""


@dataclass(frozen=True)
class Capability:
    name: str
    patterns: tuple[Patterns, ...]
    kind: Kind = "followable"

    def checks(self, world: World[Any], seed: int, each: int) -> Iterator[Check]:
        """So many checks for each sentence pattern; the same seed gives the same ones."""
        for number, patterns in enumerate(self.patterns):
            for sentence in patterns.sentences:
                for repeat in range(each):
                    generator = Random(f"{seed}/{self.name}/{number}/{sentence}/{repeat}")
                    drawn = _draw(patterns.draw, generator, f"{self.name}: {sentence}")
                    text = sentence.format(**drawn.words)
                    text = patterns.change(generator, text) if patterns.change else text
                    states, readings = (tuple(map(world.format, each)) for each in (drawn.states, drawn.readings))
                    why = "" if self.kind in ("followable", "ambiguous") else self.name
                    yield Check(self.kind, self.name, states, (*drawn.earlier, text), world.format(drawn.goal), why, readings)


@dataclass(frozen=True)
class Checks:
    """What a world's agents are checked by."""

    capabilities: tuple[Capability, ...]
    sentences: Path
    """The file of hand-written sentences (``sestra.analysis.checks.check.read_sentences``)."""


def _draw(draw: Draw, generator: Random, place: str) -> Situation:
    for _ in range(TRIES):
        with suppress(NoFitError):
            return draw(generator)
    raise RuntimeError(f"{place}: no situation fits after {TRIES} draws")

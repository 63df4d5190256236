"""What every grammar consists of: a context, turns, and rules that lead from a context to a turn.

A *rule* is given the context (the states so far, the turns, the speaker) and returns a turn: an instruction, the state that it leads to,
and an event, which is whatever the grammar needs to remember of it, so that a later turn can say "it", "again" or "put it back". A rule
that does not apply returns None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Any, Protocol

from sestra.data.vocabulary import CARDINALS, ORDINALS

State = tuple[Any, ...]


class Phenomenon(StrEnum):
    """How an instruction may depend on earlier turns, or on the whole row."""

    PRONOUN = "pronoun"
    """"it", "he", "they", "that beaker": the thing the last instruction was about."""
    LAST_ONE = "the last one"
    """A thing named by being the last of its row, or the last of its kind."""
    OTHER_ONE = "the other one"
    """A thing named by not being the one just mentioned."""
    SAME_AGAIN = "same again"
    """An earlier action once more, on the same thing or on another."""
    ELLIPSIS = "ellipsis"
    """A verb, a thing or an amount is omitted and carried over."""
    PUT_BACK = "put it back"
    """The state or a part of it becomes what it was before."""
    STEP = "earlier step"
    """An earlier instruction named by its number."""


PRONOUN, LAST_ONE, OTHER_ONE, SAME_AGAIN, ELLIPSIS, PUT_BACK, STEP = Phenomenon


@dataclass(frozen=True)
class Phrase:
    """Words, and the phenomena that are in them."""

    words: str
    phenomena: frozenset[Phenomenon] = frozenset()


@dataclass(frozen=True)
class Speaker:
    """One speaker's habits, the same for a whole interaction."""

    words: Mapping[str, str]
    """The favourite word for each thing that templates name, such as ``{beaker}``."""
    digits: bool
    """Writes "2nd" and "2", not "second" and "two"."""
    terse: bool
    """Leaves out "the"."""
    chatty: float
    """How often an instruction begins with "then" or the like."""

    def ordinal(self, n: int) -> str:
        return f"{n}{_ENDINGS.get(n, 'th')}" if self.digits else ORDINALS[n - 1]

    def number(self, n: int) -> str:
        return str(n) if self.digits else CARDINALS[n - 1]


_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True)
class Turn:
    """An instruction, the state after it, and what a later turn may need to know of it."""

    instruction: Phrase
    state: State
    event: Any


@dataclass(frozen=True)
class Context:
    """An interaction so far."""

    states: tuple[State, ...]
    speaker: Speaker
    turns: tuple[Turn, ...] = ()
    nothing: Any = None
    """The event before the first turn."""

    @property
    def state(self) -> State:
        return self.states[-1]

    @property
    def event(self) -> Any:
        """What the last turn did."""
        return self.turns[-1].event if self.turns else self.nothing

    def state_with(self, contents: Mapping[int, Any]) -> State:
        """The state with other contents in some of its slots."""
        return tuple(contents.get(slot, content) for slot, content in enumerate(self.state))

    def then(self, turn: Turn) -> Context:
        return replace(self, states=(*self.states, turn.state), turns=(*self.turns, turn))

    def say(self, rng: Random, templates: Template | Sequence[Template], *phenomena: Phenomenon, **slots: Template) -> Phrase:
        """One of the templates, expanded in this speaker's words."""
        return expand(rng, self.speaker, templates, *phenomena, **slots)


Rule = Callable[[Context, Random], Turn | None]


class Grammar(Protocol):
    """How instructions of one world are generated; a module with these two names is one."""

    RULES: Mapping[Rule, float]
    """The rules, each with its weight: how often it is tried."""

    def start(self, rng: Random) -> Context:
        """A start state and a speaker."""


@dataclass(frozen=True)
class Talk:
    """What people say to an agent beyond the world's data; rules with their weights."""

    requests: Mapping[Rule, float]
    """What can be followed."""
    ambiguous: Mapping[Rule, float]
    """Words that fit several things, one of which is drawn."""
    unfollowable: Mapping[Rule, float]
    """Words that ask for nothing that can be done, so that the state stays as it is."""
    fillers: Sequence[str] = ()
    """Templates such as "could you please {x}"."""


def draw_speaker(rng: Random, *, chatty: float, **words: Sequence[str]) -> Speaker:
    """A speaker who picks one of each kind of words; ``chatty`` is the mean over speakers."""
    favourites = {kind: rng.choice(choices) for kind, choices in words.items()}
    return Speaker(favourites, digits=rng.random() < 0.3, terse=rng.random() < 0.2, chatty=chatty * rng.choice((0.2, 0.8, 2)))


_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")


def marked(words: str, *phenomena: Phenomenon) -> Phrase:
    """Words or a template that show these phenomena."""
    return Phrase(words, frozenset(phenomena))


Template = str | Phrase
"""What ``expand`` expands."""


def expand(rng: Random, speaker: Speaker, templates: Template | Sequence[Template], *phenomena: Phenomenon, **slots: Template) -> Phrase:
    """One of the templates with one of each ``[a|b|c]``, its ``{slots}`` filled from the arguments or the speaker's words.

    >>> speaker = Speaker({"beaker": "flask"}, digits=False, terse=False, chatty=0)
    >>> expand(Random(0), speaker, "[empty|drain] the {colour} {beaker}", colour="red").words
    'drain the red flask'
    """
    template = templates if isinstance(templates, str | Phrase) else rng.choice(templates)
    text, found = (template, set(phenomena)) if isinstance(template, str) else (template.words, {*phenomena, *template.phenomena})
    while "[" in text:  # innermost choices first
        text = _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), text)

    def fill(match: re.Match[str]) -> str:
        slot = slots.get(match[1]) or speaker.words[match[1]]
        if isinstance(slot, str):
            return slot
        found.update(slot.phenomena)
        return slot.words

    return Phrase(" ".join(_SLOT.sub(fill, text).split()), frozenset(found))


def finish(context: Context, phrase: Phrase, rng: Random) -> Phrase:
    """The whole instruction as this speaker would write it at this point of the interaction."""
    words = phrase.words
    if context.speaker.terse:
        words = re.sub(r"\bthe (?!same\b|rest\b)", "", words)
    if rng.random() < context.speaker.chatty and words.split()[0] not in _OPENERS:
        opener = rng.choice(
            ("then", "then,", "next", "next,", "now", "after that,", "and then") if context.turns else ("first,", "to begin,")
        )
        words = f"{opener} {words}"
    return Phrase(words, phrase.phenomena)


_OPENERS = {"then", "then,", "next", "next,", "now", "now,", "and", "again"}

"""Which instructions refer to earlier turns, and how long ago the referents were last changed (the paper's Table 2, by program).

The paper's authors read thirty interactions per world and dated each referent by its last mention. A program does not know what a word
refers to, but it knows which things an instruction changes: those, or in some worlds what stands beside them, are taken to be the
referents, and dated by the last turn that changed them. A turn that is named ("repeat step 2") is dated by its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sestra.analysis import language
from sestra.analysis.changes import WorldAnalysis, analysis_of
from sestra.analysis.language import Language
from sestra.data.scone import Interaction, State
from sestra.data.vocabulary import number_named, tokenize
from sestra.worlds import World

Kind = Literal["coreference", "ellipsis"]
To = Literal["object", "action", "state"]


@dataclass(frozen=True)
class Reference:
    """That an instruction refers back; an instruction counts once as coreference and once as ellipsis, however many words do so."""

    kind: Kind
    to: To
    """A thing, an earlier turn's action, or an earlier state."""
    words: str
    """The words that refer; empty where something is omitted."""
    age: int | None = None
    """Turns since the referent was changed: 1 is the turn before. None if no earlier turn changed what this one does."""


def find(words: Language, instruction: str, turn: int) -> list[Reference]:
    """The references in an instruction, without their ages; ``turn`` counts from 0, and the first has nothing to refer to."""
    if turn == 0:
        return []
    spoken = " ".join(tokenize(instruction))
    said = re.sub(r"^(?:(?:after|before) (?:that|this)|(?:first|second|third|fourth|fifth|last|now|next|finally)(?= ,)) ?,? ?", "", spoken)
    found = [reference] if (reference := _coreference(said, words)) else []
    missing = _ellipsis(said, words, found)
    return found + ([missing] if missing else [])


def _coreference(said: str, words: Language) -> Reference | None:
    if match := _first((*language.STATE, *words.states), said):
        return Reference("coreference", "state", match)
    if match := _first(language.ACTION, said):
        return Reference("coreference", "action", match)
    if step := re.search(rf"\b(?:{language.STEP})", said):
        return Reference("coreference", "action", step[0])
    for match in (*_pronouns(said, words), *_demonstratives(said, words)):
        return Reference("coreference", "object", match)
    return None


def _pronouns(said: str, words: Language) -> Iterator[str]:
    """Those whose referent is not in the instruction itself."""
    thing = rf"\b(?:{words.nouns}|{language.COLOURS})\b"
    indefinite = r"^(?:\W|and|then|now|next)*\b(?:an?|another|some\w+|new)\b"
    for match in re.finditer(rf"\b(?:({language.SUBJECTS})|({language.POSSESSIVES})|({language.OBJECTS}))(?= |$)", said):
        before, inside = said[: match.start()], None
        subject, possessive, _ = match.groups()
        if subject:
            inside = re.search(thing, before)
        elif possessive:  # in "the man in red gives his hat", but not in "the man in red moves to his left"
            inside = None if re.search(rf"{indefinite}|\b(?:to|on|at) $", before) else re.search(thing, before)
        elif match[0] != "him":  # who acts is not "him"
            inside = re.search(rf"{thing}.*(?: |^)(?:{language.BREAK}) ", before)
        if not inside:
            yield match[0]


def _demonstratives(said: str, words: Language) -> Iterator[str]:
    for pattern in language.OBJECT:
        for match in re.finditer(rf"\b(?:{pattern})", said):
            relative = rf"(?:^|\b)(?:{words.nouns}|{language.COLOURS}|so|now|such|after|person|one)$"
            if not (match[0] == "that" and re.search(relative, said[: match.start()].strip())):
                yield match[0]


def _ellipsis(said: str, words: Language, found: Sequence[Reference]) -> Reference | None:
    """An omitted object, verb or place; words that stand for an earlier action omit nothing else."""
    rest = re.sub(rf"\b(?:{words.amounts})\b", " ", said)
    acted = any(reference.to == "action" for reference in found)
    missing: To | None = None
    if re.search(r"\b(?:undo|un - do)\b", said):
        missing = "action"
    elif re.search(words.complete, said):
        missing = None
    elif _lacks_object(said, rest, words, found):
        missing = "object"
    elif words.verbs and not acted and not re.search(rf"\b(?:{words.verbs})\b", rest):
        missing = "action"
    elif words.placing and re.search(rf"^(?:\W|and|now|then|next)*(?:{words.placing})\b", said):
        missing = None if re.search(rf"\b(?:{words.places})\b", rest) else "state"
    return Reference("ellipsis", missing, "") if missing else None


def _lacks_object(said: str, rest: str, words: Language, found: Sequence[Reference]) -> bool:
    """Whether the instruction names no thing that it is about, or, in worlds of people, nobody who acts."""
    if re.search(rf"^(?:(?:and|then|now|next|also) ,? ?)*{words.subjectless}", said):
        return True
    if not words.verbs or any(reference.to in ("object", "action") for reference in found):
        return False
    return not re.search(rf"\b(?:{words.nouns}|{words.descriptions}|{language.OBJECTS}|{language.SUBJECTS})\b", rest)


def _first(patterns: Sequence[str], said: str) -> str | None:
    for pattern in patterns:
        if match := re.search(rf"\b(?:{pattern})\b", said):
            return match[0]
    return None


def references(world: World[Any], interaction: Interaction) -> list[list[Reference]]:
    """Of every instruction, its references with their ages."""
    known = analysis_of(world)
    things: list[frozenset[Any] | None] = [
        None if before is None or after is None else known.changed(before, after)
        for before, after in zip(interaction.states, interaction.states[1:], strict=False)
    ]
    dated = []  # an earlier action whose turn is not named is that of the turn before
    for turn, instruction in enumerate(interaction.instructions):
        age = _age(known, interaction.states[turn], things, turn)
        named = _named_turn(" ".join(tokenize(instruction)), turn)
        found = find(known.language, instruction, turn)
        dated.append([Reference(each.kind, each.to, each.words, named or (1 if each.to == "action" else age)) for each in found])
    return dated


def _age(known: WorldAnalysis, before: State | None, things: Sequence[frozenset[Any] | None], turn: int) -> int | None:
    now = things[turn]
    if now is None or before is None:
        return None
    for around in (False, True) if known.neighbours else (False,):
        near = now | {slot + side for slot in now for side in (-1, 1)} if around else now
        for age in range(1, turn + 1):
            if near & (things[turn - age] or frozenset()):
                return age
    return None


def _named_turn(said: str, turn: int) -> int | None:
    """How long ago the turn is that the instruction names, if it names one: "step 2", "the first step", "the last step"."""
    for match in re.finditer(language.STEP, said):
        number, order = match.groups()
        if order in ("last", "previous", "prior"):
            return 1
        named, _ = number_named(number or order)
        if 1 <= named <= turn:
            return turn + 1 - named
    return None

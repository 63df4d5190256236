"""Which instructions refer to earlier turns, and to what: the paper's Table 2 and its supplementary tables, by program.

The paper's authors read thirty interactions per world. The rules here are regular expressions (``sestra.analysis.language``); how well they
agree with a reader is measured by ``sestra.analysis.annotations``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sestra.analysis import language
from sestra.analysis.language import Language
from sestra.data.vocabulary import number_named, tokenize

Kind = Literal["coreference", "ellipsis"]
To = Literal["object", "object via action", "position", "action", "action and arguments"]


@dataclass(frozen=True)
class Reference:
    """That an instruction refers back; each referent counts once, however many words refer to it."""

    kind: Kind
    to: To
    words: str
    """The words that refer; empty where something is omitted."""
    age: int | None = None
    """Turns since the referent was last mentioned explicitly: 1 is the turn before. None if no earlier turn is known to mention it."""


def find(words: Language, instruction: str, turn: int) -> list[Reference]:
    """The references in an instruction, without their ages; ``turn`` counts from 0, and the first has nothing to refer to."""
    if turn == 0:
        return []
    spoken = " ".join(tokenize(instruction))
    said = re.sub(language.BEGINNING, "", spoken)
    if undone := re.search(rf"\b(?:{language.UNDOING})\b", said):
        return [Reference("ellipsis", "action and arguments", undone[0])]
    found, rest = _actions(said, words)
    via, rest = _take_out(rf"\b(?:{language.VIA_ACTION}|{words.via_action})", rest)
    found += [Reference("coreference", "object via action", each) for each in via]
    of_thing = re.search(language.PLACE_OF, rest)
    positions, rest = _take_out(rf"\b(?:{'|'.join(language.POSITION)})", rest)
    returned = re.search(rf"\b(?:{words.returning})\b", rest)
    for match in (*positions, *(each[0] for each in (of_thing, returned) if each)):
        found.append(Reference("coreference", "position", match))
        break
    objects = (*_pronouns(rest, words), *_demonstratives(rest, words), *re.findall(rf"\b(?:{words.definite})", rest))
    found += [Reference("coreference", "object", match) for match in objects]
    missing = _ellipsis(said, words, found)
    return found + ([missing] if missing else [])


def _take_out(pattern: str, said: str) -> tuple[list[str], str]:
    """What matches, and the rest, with a mark where it was."""
    return [match[0] for match in re.finditer(pattern, said)], re.sub(pattern, "…", said)


def _actions(said: str, words: Language) -> tuple[list[Reference], str]:
    """A reference to an earlier action, if there is one, and the rest of the instruction.

    If the rest names a thing, the action is done with it; otherwise the arguments are the earlier ones.
    """
    named, rest = _take_out(rf"(?:\bthe )?\b(?:{language.STEP})", said)
    done, rest = _take_out(rf"\b(?:{'|'.join(language.ACTION)})\b", rest)
    again, without = _take_out(rf"\b{language.AGAIN}", rest)
    verb = words.verbs and re.search(rf"\b(?!do\b|does\b|did\b)(?:{words.verbs})\b", without)
    if again and (done or not verb):
        done, rest = done or again, without
    if not done and (not named or re.search(rf"\b(?:{words.via_action})", rest)):
        return [], rest if named else said
    arguments = re.sub(rf"\b(?:{words.amounts})\b", " ", rest)
    given = re.search(rf"\b(?:{words.nouns}|{words.descriptions})\b", arguments)
    return [Reference("coreference", "action" if given else "action and arguments", (done or named)[0])], rest


def _pronouns(said: str, words: Language) -> Iterator[str]:
    """Those whose referent is not in the instruction itself, one for each referent."""
    thing = rf"\b(?:{words.nouns}|{language.COLOURS})\b"
    indefinite = r"^(?:\W|and|then|now|next)*\b(?:an?|another|some\w+|new)\b"
    seen: set[frozenset[str]] = set()
    for match in re.finditer(rf"\b(?:({language.SUBJECTS})|({language.POSSESSIVES})|({language.OBJECTS}))(?= |$)", said):
        before, inside = said[: match.start()], None
        subject, possessive, _ = match.groups()
        somebody_else = match[0] == "him" or re.match(r"her(?:$| (?:the|her)\b)", said[match.start() :])  # than who acts
        if subject:
            inside = re.search(thing, before)
        elif somebody_else or (possessive and re.search(rf"{indefinite}|{language.BESIDE}", before)):
            inside = None
        elif (
            possessive
        ):  # in "the man in red gives his hat" and "takes it from the man on his left", but not in "the man on his left leaves"
            inside = re.search(thing, re.sub(r"(?:^|\b(?:the|an?) )(?:(?!\b(?:the|an?)\b).)*\bon $", "", before))
        else:
            inside = re.search(rf"{thing}.*(?: |^)(?:{language.BREAK}) ", before)
        if inside:
            continue
        referent = next((group for group in language.SAME_REFERENT if match[0] in group), frozenset({match[0]}))
        if referent not in seen or (possessive and re.search(rf"\b(?:{words.taking}) $", before)):
            seen.add(referent)
            yield match[0]


def _demonstratives(said: str, words: Language) -> Iterator[str]:
    thing = rf"\b(?:{words.nouns}|{language.COLOURS}|{words.descriptions})\b"
    for pattern in language.OBJECT:
        for match in re.finditer(rf"\b(?:{pattern})", said):
            before = said[: match.start()].strip()
            relative = rf"(?:^|\b)(?:{words.nouns}|{language.COLOURS}|so|now|such|after|person|one)$"
            if match[0] == "that" and re.search(relative, before):
                continue
            if match[0].startswith("other") and re.search(thing, before):
                continue
            yield match[0]


def _ellipsis(said: str, words: Language, found: Sequence[Reference]) -> Reference | None:
    """An omitted object, verb or place; words that stand for an earlier action omit nothing else."""
    rest = re.sub(rf"\b(?:{words.amounts})\b", " ", said)
    acted = any(reference.to in ("action", "action and arguments") for reference in found)
    missing: To | None = None
    if acted or re.search(words.complete, said):
        missing = None
    elif _lacks_object(said, rest, words, found):
        missing = "object"
    elif words.verbs and not re.search(rf"\b(?:{words.verbs})\b", rest):
        missing = "action"
    elif words.placing and re.search(rf"^(?:\W|and|now|then|next)*(?:{words.placing})\b", said):
        placed = re.search(rf"\b(?:{words.places})\b", rest) or any(reference.to == "position" for reference in found)
        missing = None if placed else "position"
    return Reference("ellipsis", missing, "") if missing else None


def _lacks_object(said: str, rest: str, words: Language, found: Sequence[Reference]) -> bool:
    """Whether the instruction names no thing that it is about, or, in worlds of people, nobody who acts."""
    if re.search(rf"^(?:(?:and|then|now|next|also) ,? ?)*{words.subjectless}", said):
        return True
    if not words.verbs or any(reference.to in ("object", "object via action") for reference in found):
        return False
    return not re.search(rf"\b(?:{words.nouns}|{words.descriptions}|{language.OBJECTS}|{language.SUBJECTS})\b", rest)


def named_turn(instruction: str, turn: int) -> int | None:
    """How long ago the turn is that the instruction names, if it names one: "step 2", "the first step", "the last step"."""
    for match in re.finditer(language.STEP, " ".join(tokenize(instruction))):
        number, order = match.groups()
        if order in ("last", "previous", "prior", "preceding"):
            return 1
        named, _ = number_named(number or order)
        if 1 <= named <= turn:
            return turn + 1 - named
    return None

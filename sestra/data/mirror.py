"""The same interaction seen from behind: its slots in reverse, "left" for "right", and what counted from the left counts from the right.

It is as true as the one that was annotated. Whoever counts without saying from where counts from the left: "the third beaker" is "the third
beaker from the right" there, and "the first one" is "the last one".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sestra.data.scone import Interaction
from sestra.data.text import tokenize
from sestra.worlds.base import World

SIDES = {"left": "right", "right": "left"}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
RANKS = {
    word: rank
    for rank, ordinal in enumerate(ORDINALS, start=1)
    for word in (ordinal, {1: "1st", 2: "2nd", 3: "3rd"}.get(rank, f"{rank}th"))
}
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
LAST_BUT_ONE = (
    *(("second", "to", "last"), ("2nd", "to", "last"), ("next", "to", "last"), ("last", "but", "one")),
    *(("second", "last"), ("2nd", "last")),
)
THINGS = (
    "beaker",
    "beakers",
    "beaker's",
    "flask",
    "flasks",
    "jar",
    "container",
    "cup",
    "vial",
    "tube",
    "figure",
    "figures",
    "position",
    "spot",
)
NOUNS = {
    *THINGS,
    "chemical",
    "chemicals",
    "liquid",
    "liquids",
    "fluid",
    "substance",
    "person",
    "man",
    "woman",
    "guy",
    "men",
    "people",
    "one",
    "ones",
}
COUNTED = {"coloured", "colored", "empty", "full"}
"""Beside colours, what else may stand between an ordinal and its noun."""
AFTER = {"from", "into", "to", "of", "and", "with", "in", "that", "on", "onto", "as", ".", ""}
"""What may follow an ordinal without a noun; "" is the end."""
PARTS = {"third", "fourth"}
BEFORE_PARTS = {"one", "two", "three", "a", "1", "2", "3", "/", "-"}
EVENTS = {"step", "steps", "time", "instruction", "turn", "scene", "action", "sentence", ","}
"""What follows an ordinal that is about time: "the last step"; "first, ..."."""
NUMBERED = {"labeled", "labelled", "numbered", "numbering"}
"""Words of someone who says how to count."""


def mirrored(interaction: Interaction, world: World[Any]) -> Interaction | None:
    """None where it is not clear what someone counts."""
    colours = {word for words in world.interchangeable.values() for word in words}
    said = [mirror_words(instruction, world.slots, colours) for instruction in interaction.instructions]
    if None in said:
        return None
    states = tuple(None if state is None else world.mirror(state) for state in interaction.states)
    return Interaction(f"{interaction.id}-mirrored", states, tuple(words or "" for words in said))


def mirror_words(instruction: str, slots: int, colours: Iterable[str]) -> str | None:
    """The instruction as it would be given from behind.

    >>> mirror_words("Pour the first beaker into the second red one on the left.", 7, ["red"])
    'pour the last beaker into the second red one from the right on the right .'
    """
    tokens, mirror = tokenize(instruction), Mirror(slots, {*NOUNS, *COUNTED, *colours})
    said: list[str] = []
    place = 0
    while place < len(tokens):
        words, length = mirror.next(tokens[:place], tokens[place:])
        if not length:
            return None
        said += words
        place += length
    return " ".join(said)


class Mirror:
    """Mirrors a sentence phrase by phrase."""

    def __init__(self, slots: int, described: set[str]) -> None:
        self.slots, self.described = slots, described

    def next(self, before: Sequence[str], rest: Sequence[str]) -> tuple[Sequence[str], int]:
        """The next words mirrored, and how many there were: none if that is not clear."""
        word, following = rest[0], rest[1] if len(rest) > 1 else ""
        side = next((side for side in SIDES if side in word), None)
        if side:
            return [word.replace(side, SIDES[side])], 1
        if way := next((way for way in LAST_BUT_ONE if tuple(rest[: len(way)]) == way), None):
            return ["second"], len(way)
        if word in NUMBERED:
            return [], 0
        if word in {*THINGS, "number", "#"} and (number := _number(following)):
            return ([word, _like(following, self.slots + 1 - number)], 2) if 1 < self.slots >= number else ([], 0)
        if (word in RANKS or word == "last") and not self._of_time_or_part(before, word, following):
            return self._counted(rest, following)
        return [word], 1

    def _of_time_or_part(self, before: Sequence[str], word: str, following: str) -> bool:
        first = not before and following not in {*self.described, "from"}  # "first pour ..."
        return first or following in EVENTS or (word in PARTS and bool(before) and before[-1] in BEFORE_PARTS)

    def _counted(self, rest: Sequence[str], following: str) -> tuple[Sequence[str], int]:
        """An ordinal and what it counts."""
        length = next((n for n, word in enumerate(rest) if n and word not in self.described), len(rest))
        if length == 1 and following not in AFTER:
            return [], 0
        after = rest[length : length + 3]
        if after and after[0] == "from" and any(side in after for side in SIDES):
            return rest[:length], length  # the side is yet to come
        ordinal, phrase = rest[0], rest[1:length]
        if ordinal == "last":
            return ["first", *phrase], length
        return (["last", *phrase] if RANKS[ordinal] == 1 else [ordinal, *phrase, "from", "the", "right"]), length


def _number(word: str) -> int | None:
    if word in NUMBERS:
        return NUMBERS.index(word) + 1
    return int(word) if word.isdecimal() and int(word) else None


def _like(word: str, number: int) -> str:
    """The number, in digits or letters as the word has it."""
    return str(number) if word.isdecimal() else NUMBERS[number - 1]

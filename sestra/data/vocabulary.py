"""Words: how an instruction becomes tokens, and tokens become numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

PAD, UNKNOWN, BETWEEN, CURRENT = range(4)
SPECIAL = ("<pad>", "<unknown>", "<between>", "<current>")
"""Padding; a word the vocabulary does not know; the paper's two delimiters, between earlier instructions and before the current one."""

MAX_WORD_LENGTH = 100
"""Characters of a word that can be known: the time to find the correct spelling of another word grows with them."""

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[^\w\s]|_")


def tokenize(instruction: str) -> list[str]:
    """Lower-case words and single punctuation marks.

    >>> tokenize("Then, pour the 1st one's content")
    ['then', ',', 'pour', 'the', '1st', "one's", 'content']
    """
    return _TOKEN.findall(instruction.lower())


CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_DIGITS = re.compile(r"([1-9]|10)(st|nd|rd|th)?")


def number_named(word: str) -> tuple[int, bool]:
    """The number from 1 to 10 that a word names, 0 if it names none, and whether it is an ordinal.

    >>> [number_named(word) for word in ("five", "5th", "third", "beaker")]
    [(5, False), (5, True), (3, True), (0, False)]
    """
    if word in ORDINALS:
        return ORDINALS.index(word) + 1, True
    if word in CARDINALS:
        return CARDINALS.index(word) + 1, False
    digits = _DIGITS.fullmatch(word)
    return (int(digits[1]), digits[2] is not None) if digits else (0, False)


@dataclass(frozen=True)
class Vocabulary:
    """The known words; a word's number is its place after the special tokens."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, instructions: Iterable[str], at_least: int = 2) -> Vocabulary:
        """The words that occur often enough, most frequent first; rarer ones teach the model what an unknown word is like."""
        counts = Counter(token for instruction in instructions for token in tokenize(instruction) if len(token) <= MAX_WORD_LENGTH)
        return cls(tuple(word for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count >= at_least))

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.words)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=len(SPECIAL))}

    def encode(self, instruction: str) -> list[int]:
        return [self._numbers.get(token, UNKNOWN) for token in tokenize(instruction)]

    def decode(self, numbers: Sequence[int]) -> list[str]:
        return [(*SPECIAL, *self.words)[number] for number in numbers]

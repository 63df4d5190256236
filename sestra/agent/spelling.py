"""Spelling correction: a word that is not in the vocabulary is replaced by the known word that it probably misspells."""

from __future__ import annotations

from functools import cache, cached_property

from rapidfuzz import process
from rapidfuzz.distance.DamerauLevenshtein import distance

from sestra.agent.trace import Word
from sestra.data.vocabulary import SPECIAL, UNKNOWN, Vocabulary, tokenize

SHORTEST = 4
"""The fewest letters of a known word that may be a correction."""
LONGEST = 20
"""The most."""
CORRECTIONS = 10_000
"""Only so many known words, the most frequent ones, may be corrections."""
LONG = 7
"""Words with at least so many letters may have two mistakes, shorter ones only one."""
FREQUENCY_RATIO = 2
"""Of several equally close words the most frequent is taken if it is so many times as frequent as the next, by Zipf's law."""
MAX_REMEMBERED = 10_000
"""How many words that are not in the vocabulary are remembered with their corrections."""
COMMON = 1000
"""A word that stands so often in the dictionary's texts is English, and no misspelling of another."""
CONFUSED = {"forth": "fourth", "tow": "two", "fist": "first"}
"""English words that are often typed for others."""
COARSE = frozenset(
    [
        "shit",
        "shits",
        "fuck",
        "fucks",
        "fucked",
        "fucking",
        "piss",
        "crap",
        "cunt",
        "dick",
        "cock",
        "bitch",
        "tits",
        "arse",
        "ass",
        "slut",
        "whore",
        "bastard",
    ]
)
"""These are never corrections: a vocabulary has them from misspellings of its own ("the man in the red shit")."""


class Speller:
    """Looks up and corrects the words of instructions.

    >>> Speller(Vocabulary(("pour", "the", "yellow", "beaker"))).read("Pour yelow")[0][1]
    Word(text='yelow', read_as='yellow', known=True)
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._words = vocabulary.words
        self._corrected: dict[str, tuple[Word, int]] = {}
        self._known = {word: (Word(word, word, known=True), number) for number, word in enumerate(vocabulary.words, start=len(SPECIAL))}

    def read(self, instruction: str) -> tuple[tuple[Word, ...], tuple[int, ...]]:
        """The words, and their ids in the vocabulary; unknown punctuation is left out."""
        tokens = [token for token in tokenize(instruction) if token in self._known or token[0].isalnum()]
        read = [self._known.get(token) or self._read_unknown(token) for token in tokens]
        return tuple(word for word, _ in read), tuple(number for _, number in read)

    def _read_unknown(self, token: str) -> tuple[Word, int]:
        """Remembered, since an interaction's earlier instructions are read again with every later one."""
        found = self._corrected.get(token)
        if found is None:
            meant = self.correct(token)
            if meant is None:
                found = Word(token, SPECIAL[UNKNOWN], known=False), UNKNOWN
            else:
                found = Word(token, meant, known=True), self._known[meant][1]
            if len(token) <= LONGEST + 2:
                if len(self._corrected) >= MAX_REMEMBERED:
                    self._corrected.clear()
                self._corrected[token] = found
        return found

    def correct(self, word: str) -> str | None:
        """The closest known word, if one is close enough; of several equally close ones, the most frequent, if it is clearly so."""
        if not _is_alphabetic(word) or len(word) > LONGEST + 2:
            return None
        if CONFUSED.get(word) in self._known:
            return CONFUSED[word]
        if _frequency(word) >= COMMON:
            return None
        allowed = 2 if len(word) >= LONG else 1
        found = process.extract(word, self._corrections, scorer=distance, score_cutoff=allowed, limit=None)
        close = sorted((mistakes, rank) for _, mistakes, rank in found)
        if not close:
            return None
        best, rank = close[0]
        if len(close) > 1 and close[1][0] == best and close[1][1] + 1 < FREQUENCY_RATIO * (rank + 1):
            return None
        return self._words[rank]

    @cached_property
    def _corrections(self) -> dict[int, str]:
        """The words that may be corrections, by their rank in the vocabulary."""
        return {
            rank: word
            for rank, word in enumerate(self._words[:CORRECTIONS])
            if SHORTEST <= len(word) <= LONGEST and _is_alphabetic(word) and word not in COARSE
        }


def _is_alphabetic(word: str) -> bool:
    return word.replace("'", "").isalpha()


def _frequency(word: str) -> int:
    """How often a word stands in the texts of the English dictionary."""
    return _dictionary().get(word, 0)


@cache
def _dictionary() -> dict[str, int]:
    from spellchecker import SpellChecker  # reads its dictionary in 0.2 s: only when there is a word to correct

    return dict(SpellChecker(language="en").word_frequency.dictionary)

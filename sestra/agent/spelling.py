"""Spelling correction: a word that is not in the vocabulary is replaced by the known word that it probably misspells."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

from sestra.agent.trace import Word
from sestra.data.vocabulary import SPECIAL, UNKNOWN, Vocabulary, tokenize

SHORTEST = 4
"""The fewest letters of a known word that may be a correction."""
LONGEST = 20
"""The most."""
CORRECTIONS = 10_000
"""Only so many known words, the most frequent ones, may be corrections: the index has about a hundred entries for each."""
LONG = 7
"""Words with at least so many letters may have two mistakes, shorter ones only one."""
FREQUENCY_RATIO = 2
"""Of several equally close words the most frequent is taken if it is so many times as frequent as the next, by Zipf's law."""


class Speller:
    """Looks up and corrects the words of instructions.

    >>> Speller(Vocabulary(("pour", "the", "yellow", "beaker"))).read("Pour yelow")[0][1]
    Word(text='yelow', read_as='yellow', known=True)
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._words = vocabulary.words
        self._known = {word: (Word(word, word, known=True), number) for number, word in enumerate(vocabulary.words, start=len(SPECIAL))}

    def read(self, instruction: str) -> tuple[tuple[Word, ...], tuple[int, ...]]:
        """The words, and their ids in the vocabulary; unknown punctuation is left out."""
        tokens = [token for token in tokenize(instruction) if token in self._known or token[0].isalnum()]
        read = [self._known.get(token) or self._read_unknown(token) for token in tokens]
        return tuple(word for word, _ in read), tuple(number for _, number in read)

    def _read_unknown(self, token: str) -> tuple[Word, int]:
        meant = self.correct(token)
        if meant is None:
            return Word(token, SPECIAL[UNKNOWN], known=False), UNKNOWN
        return Word(token, meant, known=True), self._known[meant][1]

    def correct(self, word: str) -> str | None:
        """The closest known word, if one is close enough; of several equally close ones, the most frequent, if it is clearly so."""
        if not _is_alphabetic(word):
            return None
        allowed = 2 if len(word) >= LONG else 1
        if len(word) > self._longest + allowed:
            return None
        ranks = {rank for rest in _without(word, allowed) for rank in self._index.get(rest, ())}
        close = sorted((distance(word, self._words[rank]), rank) for rank in ranks)
        if not close or close[0][0] > allowed:
            return None
        best, rank = close[0]
        if len(close) > 1 and close[1][0] == best and close[1][1] + 1 < FREQUENCY_RATIO * (rank + 1):
            return None
        return self._words[rank]

    @cached_property
    def _index(self) -> dict[str, list[int]]:
        """Every known word with up to two letters deleted, and the rank of the word.

        Two words at distance n share a string that is left of each after at most n deletions.
        """
        index: dict[str, list[int]] = {}
        for rank, word in enumerate(self._words[:CORRECTIONS]):
            if SHORTEST <= len(word) <= LONGEST and _is_alphabetic(word):
                for rest in _without(word, 2):
                    index.setdefault(rest, []).append(rank)
        return index

    @cached_property
    def _longest(self) -> int:
        return min(max(map(len, self._words), default=0), LONGEST)


def _is_alphabetic(word: str) -> bool:
    return word.replace("'", "").isalpha()


def _without(word: str, most: int) -> set[str]:
    """The word with up to so many letters deleted."""
    return {"".join(kept) for count in range(min(most, len(word)) + 1) for kept in combinations(word, len(word) - count)}


def distance(a: str, b: str) -> int:
    """Damerau-Levenshtein distance: the number of insertions, deletions, substitutions and swaps of neighbours.

    >>> distance("frist", "first"), distance("yelow", "yellow"), distance("ca", "abc")
    (1, 1, 2)
    """
    farthest = len(a) + len(b)
    table: list[list[int]] = [
        [farthest] * (len(b) + 2),
        [farthest, *range(len(b) + 1)],
    ]  # row i + 1, column j + 1: of the first i and j letters
    last_row: dict[str, int] = {}  # where in a each letter stood last
    for i, letter in enumerate(a, start=1):
        row, last_column = [farthest, i], 0
        for j, other in enumerate(b, start=1):
            above = last_row.get(other, 0)
            swap = table[above][last_column] + (i - above - 1) + 1 + (j - last_column - 1)
            row.append(min(table[i][j] + (letter != other), row[j] + 1, table[i][j + 1] + 1, swap))
            if letter == other:
                last_column = j
        table.append(row)
        last_row[letter] = i
    return table[-1][-1]

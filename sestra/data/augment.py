"""Augmentation while training: interchangeable symbols are renamed, in words and states alike, and words are dropped."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import permutations

import numpy as np

from sestra.data.batch import Turns
from sestra.data.vocabulary import SPECIAL, UNKNOWN, Vocabulary
from sestra.worlds.tables import Flags, Integers, Tables

ENDINGS = ("", "s", "'s")


class SymbolRenamings:
    """Every renaming of a world's interchangeable symbols, as lookup tables: a red beaker is to a green one as green is to red."""

    def __init__(self, tables: Tables, vocabulary: Vocabulary) -> None:
        world = tables.world
        symbols = list(world.interchangeable)
        renamings = [dict(zip(symbols, order, strict=True)) for order in permutations(symbols)]
        known = {word: number for number, word in enumerate(vocabulary.words, start=len(SPECIAL))}
        self.words = np.tile(np.arange(len(vocabulary)), (len(renamings), 1))  # [renamings, words]
        for row, names in zip(self.words, renamings, strict=True):
            renamed = _rename_words(world.interchangeable, names, known)
            row[list(renamed)] = list(renamed.values())
        self.contents = np.stack(
            [tables.encode_contents(world.rename(content, names) for content in world.contents) for names in renamings]
        )  # [renamings, contents]

    def __len__(self) -> int:
        return len(self.words)

    def rename(self, turns: Turns, choice: Integers) -> Turns:
        """The turns, each with the renaming that was chosen for it, ``[batch]``."""
        return dataclasses.replace(
            turns,
            words=_look_up(self.words, choice, turns.words),
            history=_look_up(self.contents, choice, turns.history),
            goal=_look_up(self.contents, choice, turns.goal),
        )


def drop_words(turns: Turns, dropped: Flags) -> Turns:
    """The turns with some of their words, ``[batch, words]``, read as unknown."""
    return dataclasses.replace(turns, words=np.where(dropped & (turns.words >= len(SPECIAL)), UNKNOWN, turns.words))


def _look_up(table: Integers, choice: Integers, numbers: Integers) -> Integers:
    """Each turn's numbers under the renaming that was chosen for it."""
    return table[choice.reshape(-1, *[1] * (numbers.ndim - 1)), numbers]


def _rename_words(symbols: Mapping[str, tuple[str, ...]], names: Mapping[str, str], known: Mapping[str, int]) -> dict[int, int]:
    """Numbers of the words that name a symbol, with those of the words that name what it becomes; the ending stays where it is known."""
    renamed = {}
    for symbol, words in symbols.items():
        for word in words if names[symbol] != symbol else ():
            for ending in ENDINGS:
                usual = symbols[names[symbol]][0]
                other = usual + ending if usual + ending in known else usual
                if word + ending in known and other in known:
                    renamed[known[word + ending]] = known[other]
    return renamed

"""Renaming what a world does not tell apart: a red beaker is to a green one as green is to red, in states and words alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import permutations

import torch
from torch import Tensor

from sestra.data.batch import Turns
from sestra.data.vocabulary import SPECIAL, Vocabulary
from sestra.worlds.tables import Tables

ENDINGS = ("", "s", "'s")


class Symmetry:
    """Every renaming of a world's interchangeable symbols, as lookup tables."""

    def __init__(self, tables: Tables, vocabulary: Vocabulary) -> None:
        world = tables.world
        symbols = list(world.interchangeable)
        renamings = [dict(zip(symbols, order, strict=True)) for order in permutations(symbols)]
        known = {word: number for number, word in enumerate(vocabulary.words, start=len(SPECIAL))}
        words = [_rename_words(world.interchangeable, names, known) for names in renamings]
        self.words = torch.arange(len(vocabulary)).repeat(len(renamings), 1)  # [renamings, words]
        for row, renamed in zip(self.words, words, strict=True):
            if renamed:
                row[list(renamed)] = torch.tensor(list(renamed.values()))
        self.contents = torch.stack(
            [tables.encode((world.rename(content, names),) for content in world.contents).squeeze(-1) for names in renamings]
        )  # [renamings, contents]

    def rename(self, turns: Turns, generator: torch.Generator) -> Turns:
        """The turns, each with its own random renaming."""
        choice = torch.randint(len(self.words), (len(turns),), generator=generator)  # [batch]
        return dataclasses.replace(
            turns,
            words=_look_up(self.words, choice, turns.words),
            history=_look_up(self.contents, choice, turns.history),
            goal=_look_up(self.contents, choice, turns.goal),
        )


def _look_up(table: Tensor, choice: Tensor, numbers: Tensor) -> Tensor:
    """Of each turn's numbers, what the renaming that was chosen for it makes of them."""
    return table[choice.view(-1, *[1] * (numbers.dim() - 1)), numbers]


def _rename_words(symbols: Mapping[str, tuple[str, ...]], names: dict[str, str], known: dict[str, int]) -> dict[int, int]:
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

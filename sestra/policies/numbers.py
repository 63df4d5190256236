"""Numbers in words: the same number in other words, and the objects that a number is about."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sestra.data.text import CARDINALS, SPECIAL, Vocabulary, number_named


def _named(vocabulary: Vocabulary) -> tuple[Tensor, Tensor]:
    """The number that each word names, 0 for none, and whether it is an ordinal, 1 or 0: ``[words]``."""
    numbers, ordinal = zip(*[*[(0, False)] * len(SPECIAL), *map(number_named, vocabulary.words)], strict=True)
    return torch.tensor(numbers), torch.tensor(ordinal, dtype=torch.float)


class Numbers(nn.Module):
    """The part of a word's embedding that it shares with all words that name the same number, and with all ordinals.

    "One" is among them even where it stands for a beaker; its own embedding has to say the rest.
    """

    def __init__(self, vocabulary: Vocabulary, size: int) -> None:
        super().__init__()
        self.named: Tensor
        self.ordinal: Tensor
        named, ordinal = _named(vocabulary)
        self.register_buffer("named", named, persistent=False)  # [words]
        self.register_buffer("ordinal", ordinal, persistent=False)  # [words]
        self.embedding = nn.Embedding(len(CARDINALS) + 1, size, padding_idx=0)
        self.form = nn.Parameter(torch.randn(size))

    def forward(self, words: Tensor) -> Tensor:
        """The part, ``[batch, words, size]``; nothing where a word names no number."""
        part: Tensor = self.embedding(self.named[words]) + self.ordinal[words].unsqueeze(-1) * self.form
        return part


class Called(nn.Module):
    """Part of an object's vector: what it hears of words that name a number which is its own, whichever number that is.

    An object has several numbers, such as its place from the left or among its like; each is heard in a way of its own. So what is learnt
    about "the second" is also known of "the fourth".
    """

    def __init__(self, vocabulary: Vocabulary, ways: int, size: int) -> None:
        super().__init__()
        self.named: Tensor
        self.register_buffer("named", _named(vocabulary)[0], persistent=False)  # [words]
        self.heard = nn.Linear(size, ways * size, bias=False)

    def forward(self, words: Tensor, spoken: Tensor, current: Tensor, numbers: Tensor) -> Tensor:
        """The part, ``[batch, objects, size]``, given the words as numbers and as they were read, ``[batch, words, size]``.

        Of the words only those that are ``current`` are heard; the objects' own numbers are ``[batch, objects, ways]``, 0 for none.
        """
        named = self.named[words] * current  # [batch, words]
        turns, places = named.nonzero(as_tuple=True)  # [calls]
        own = numbers[turns] == named[turns, places, None, None]  # [calls, objects, ways]
        heard = self.heard(spoken[turns, places]).unflatten(1, (numbers.shape[2], -1))  # [calls, ways, size]
        nothing: Tensor = heard.new_zeros(len(words), numbers.shape[1], heard.shape[2])
        return nothing.index_add(0, turns, own.to(heard.dtype) @ heard)  # [batch, objects, size]

"""Encoding words with a bidirectional LSTM."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.data.vocabulary import CARDINALS, SPECIAL, Vocabulary, number_named
from sestra.learning.kernels.lstm import encode_symbols
from sestra.learning.operators import encode_both_ways, gather_rows
from sestra.learning.policies.base import exporting

SMALL_BATCH = 16
"""Below this many rows torch's own LSTM is faster than ours."""


class NumberEmbedding(nn.Module):
    """The part of a word's embedding that it shares with all words that name the same number, and with all ordinals.

    "One" is among them even where it stands for a beaker; its own embedding has to say the rest.
    """

    def __init__(self, vocabulary: Vocabulary, size: int) -> None:
        super().__init__()
        self.named: Tensor
        self.ordinal: Tensor
        named = [*[(0, False)] * len(SPECIAL), *map(number_named, vocabulary.words)]
        self.register_buffer("named", torch.tensor([number for number, _ in named]), persistent=False)  # [words]
        self.register_buffer("ordinal", torch.tensor([float(ordinal) for _, ordinal in named]), persistent=False)  # [words]
        self.embedding = nn.Embedding(len(CARDINALS) + 1, size, padding_idx=0)
        self.ordinal_vector = nn.Parameter(torch.randn(size))

    def forward(self, words: Tensor) -> Tensor:
        """The part, ``[batch, words, size]``; nothing where a word names no number."""
        part: Tensor = self.embedding(self.named[words]) + self.ordinal[words].unsqueeze(-1) * self.ordinal_vector
        return part


def encode_words(forward: nn.LSTM, backward: nn.LSTM, embedding: nn.Embedding, words: Tensor, lengths: Tensor) -> Tensor:
    """A bidirectional LSTM over words that have the same vector wherever they stand."""
    if exporting() or len(words) < SMALL_BATCH:
        return bidirectional_lstm(forward, backward, embedding(words), lengths)  # [batch, words, 2 * hidden]
    distinct, rows = words.unique(return_inverse=True)  # [distinct], [batch, words]
    embedded = embedding(distinct)  # [distinct, embedding]
    inputs, recurrent = [], []
    for each in (forward, backward):
        by_input, by_hidden, bias, other_bias = (
            each.get_parameter(f"{name}_l0") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        inputs.append(functional.linear(embedded, by_input, bias + other_bias))  # [distinct, 4 * hidden]
        recurrent.append(by_hidden.T)  # [hidden, 4 * hidden]
    return encode_symbols(torch.stack(inputs), torch.stack(recurrent), rows, lengths)  # [batch, words, 2 * hidden]


def bidirectional_lstm(forward: nn.LSTM, backward: nn.LSTM, embedded: Tensor, lengths: Tensor) -> Tensor:
    """A bidirectional LSTM as two LSTMs over rows padded at the end; the second starts at each row's last word."""
    if exporting():
        weights = [list(cast("list[Tensor]", each.all_weights[0])) for each in (forward, backward)]
        return cast("Tensor", encode_both_ways(embedded, lengths, *weights))
    reverse = (lengths.unsqueeze(1) - 1 - torch.arange(embedded.shape[1])).clamp(min=0)  # [batch, words]
    onward, _ = forward(embedded)  # [batch, words, hidden]
    back, _ = backward(gather_vectors(embedded, reverse))  # [batch, words, hidden]
    return torch.cat([onward, gather_vectors(back, reverse)], -1)  # [batch, words, 2 * hidden]


def gather_vectors(vectors: Tensor, places: Tensor) -> Tensor:
    """Of each row, the vectors at its places, ``[batch, places]``; whole vectors are copied, several times as fast as ``gather``."""
    if exporting():
        return cast("Tensor", gather_rows(vectors, places))
    rows = torch.arange(vectors.shape[0]).unsqueeze(1) * vectors.shape[1] + places  # [batch, places]
    return vectors.flatten(0, 1).index_select(0, rows.flatten()).view(*places.shape, vectors.shape[2])  # [batch, places, size]

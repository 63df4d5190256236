"""Words read in both directions, by torch's LSTM and by ours."""

from __future__ import annotations

import torch
from torch import nn

from sestra.data.vocabulary import PAD
from sestra.learning.policies.word_encoder import SMALL_BATCH, bidirectional_lstm, encode_words, gather_vectors


def test_many_rows_are_read_as_few_are():
    """Ours, which takes over from ``SMALL_BATCH`` rows on, has the same vectors and gradients as torch's."""
    torch.manual_seed(0)
    embedding = nn.Embedding(9, 3, padding_idx=PAD, dtype=torch.float64)
    forward, backward = (nn.LSTM(3, 4, batch_first=True, dtype=torch.float64) for _ in range(2))
    lengths = torch.randint(1, 7, (SMALL_BATCH + 3,))
    inside = torch.arange(8) < lengths.unsqueeze(1)  # nobody needs the last two places
    words = torch.randint(1, 9, inside.shape).masked_fill(~inside, PAD)
    weighing = torch.randn(*words.shape, 8, dtype=torch.float64) * inside.unsqueeze(2)

    leaves = [embedding.weight, *forward.parameters(), *backward.parameters()]
    expected = bidirectional_lstm(forward, backward, embedding(words), lengths)
    found = encode_words(forward, backward, embedding, words, lengths)
    torch.testing.assert_close(found[inside], expected[inside])
    mine, theirs = (torch.autograd.grad((weighing * vectors).sin().sum(), leaves) for vectors in (found, expected))
    torch.testing.assert_close(mine, theirs)
    few = encode_words(forward, backward, embedding, words[: SMALL_BATCH - 1], lengths[: SMALL_BATCH - 1])
    torch.testing.assert_close(few[inside[: SMALL_BATCH - 1]], expected[: SMALL_BATCH - 1][inside[: SMALL_BATCH - 1]])


def test_picked_vectors():
    vectors = torch.arange(12.0).view(2, 3, 2)
    assert gather_vectors(vectors, torch.tensor([[2, 0], [1, 1]])).tolist() == [[[4, 5], [0, 1]], [[8, 9], [8, 9]]]

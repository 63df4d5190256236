"""Operators that stay whole in exported graphs: what they compute in torch is what torch's own layers compute."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sestra.learning.operators import attend, encode_both_ways, gather_rows


def test_attention_is_torchs():
    generator = torch.Generator().manual_seed(1)
    query, keys, values = (torch.randn(2, length, 12, generator=generator) for length in (3, 5, 5))
    split = [each.unflatten(2, (4, 3)).transpose(1, 2) for each in (query, keys, values)]
    for bias in (None, torch.randn(2, 4, 3, 5, generator=generator), torch.randn(1, 4, 3, 5, generator=generator)):
        contexts, weights = attend(query, keys, values, bias, 4)
        expected = functional.scaled_dot_product_attention(*split, bias)
        torch.testing.assert_close(contexts, expected.transpose(1, 2).flatten(2))
        torch.testing.assert_close((weights @ split[2]).transpose(1, 2).flatten(2), contexts)


def test_rows_are_those_at_their_places():
    values, places = torch.arange(24).view(2, 4, 3), torch.tensor([[3, 0, 0], [1, 1, 2]])
    assert gather_rows(values, places).tolist() == [[values[row, place].tolist() for place in places[row]] for row in range(2)]


def test_both_directions_are_a_bidirectional_lstm():
    torch.manual_seed(1)
    whole, lengths = nn.LSTM(5, 4, batch_first=True, bidirectional=True).requires_grad_(False), torch.tensor([3, 6, 1])
    inputs = torch.randn(3, 6, 5)
    packed, _ = whole(pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False))
    expected, _ = pad_packed_sequence(packed, batch_first=True)
    torch.testing.assert_close(encode_both_ways(inputs, lengths, *map(list, whole.all_weights)), expected)

"""The LSTM over symbols: torch's own values and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sestra.learning.kernels.lstm import encode_symbols, pack

SYMBOLS, EMBEDDING, HIDDEN = 5, 3, 4


@pytest.mark.parametrize("lengths", [[1], [4], [3, 3, 3], [2, 4, 1, 4], [1, 1], [5, 1, 3]], ids=str)
def test_equals_torchs(lengths):
    """Rows of any lengths in any order; values, and the gradients of weights and embeddings."""
    torch.manual_seed(0)
    reference = nn.LSTM(EMBEDDING, HIDDEN, batch_first=True, bidirectional=True, dtype=torch.float64)
    embeddings = torch.randn(SYMBOLS, EMBEDDING, dtype=torch.float64, requires_grad=True)
    rows = torch.randint(SYMBOLS, (len(lengths), max(lengths)))
    leaves = [embeddings, *reference.parameters()]

    packed = pack_padded_sequence(embeddings[rows], torch.tensor(lengths), batch_first=True, enforce_sorted=False)
    expected, _ = pad_packed_sequence(reference(packed)[0], batch_first=True)
    ways = [
        [reference.get_parameter(f"{name}_l0{way}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        for way in ("", "_reverse")
    ]
    inputs = torch.stack([embeddings @ by_input.T + bias + other for by_input, _, bias, other in ways])
    recurrent = torch.stack([by_hidden.T for _, by_hidden, _, _ in ways])
    found = encode_symbols(inputs, recurrent, rows, torch.tensor(lengths))

    inside = (torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)).unsqueeze(2)
    torch.testing.assert_close(found * inside, expected)
    weighing = torch.randn_like(expected) * inside
    mine, theirs = (torch.autograd.grad((weighing * values).sin().sum(), leaves) for values in (found, expected))
    for number, pair in enumerate(zip(mine, theirs, strict=True)):
        torch.testing.assert_close(*pair, msg=lambda text, number=number: f"input {number}: {text}")


def test_gradient_twice():
    """What the first pass back computed with is still there for the second."""
    torch.manual_seed(0)
    inputs = torch.randn(2, SYMBOLS, 4 * HIDDEN, requires_grad=True)
    recurrent = torch.randn(2, HIDDEN, 4 * HIDDEN, requires_grad=True)
    total = encode_symbols(inputs, recurrent, torch.randint(SYMBOLS, (3, 4)), torch.tensor([4, 2, 3])).exp().sum()
    first = torch.autograd.grad(total, [inputs, recurrent], retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(total, [inputs, recurrent]), first, rtol=0, atol=0)


def test_order_of_reading():
    """Longest rows first, each direction from its end; after the first step every symbol knows which one came before it."""
    rows = torch.tensor([[1, 2, 0], [3, 4, 5]])
    packed = pack(torch.tensor([2, 3]), 3)
    assert packed.counts == [2, 2, 1]
    assert rows.flatten()[packed.places].tolist() == [[3, 1, 4, 2, 5], [5, 2, 4, 1, 3]]
    assert packed.earlier.tolist() == [0, 1, 2]

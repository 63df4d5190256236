"""Reading words in both directions."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def read_both_ways(forward: nn.LSTM, backward: nn.LSTM, embedded: Tensor, lengths: Tensor) -> Tensor:
    """A bidirectional LSTM, as two LSTMs over rows padded at the end; the second reads each row from its last word."""
    reverse = (lengths.unsqueeze(1) - 1 - torch.arange(embedded.shape[1])).clamp(min=0)  # [batch, words]
    onward, _ = forward(embedded)  # [batch, words, hidden]
    back, _ = backward(_pick(embedded, reverse))  # [batch, words, hidden]
    return torch.cat([onward, _pick(back, reverse)], -1)  # [batch, words, 2 * hidden]


def _pick(vectors: Tensor, places: Tensor) -> Tensor:
    return vectors.gather(1, places.unsqueeze(-1).expand(-1, -1, vectors.shape[-1]))  # [batch, words, size]

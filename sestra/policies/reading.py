"""Reading words in both directions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from sestra.data.text import PAD


def read_distinct(read: Callable[[Tensor, Tensor], Tensor], words: Tensor, lengths: Tensor) -> Tensor:
    """What ``read`` makes of words and lengths; where no gradient is wanted, rows that say the same are read once."""
    if torch.is_grad_enabled():
        return read(words, lengths)
    distinct, which = words.unique(dim=0, return_inverse=True)
    if len(distinct) == len(words):
        return read(words, lengths)
    return read(distinct, (distinct != PAD).sum(1))[which]


def read_both_ways(forward: nn.LSTM, backward: nn.LSTM, embedded: Tensor, lengths: Tensor) -> Tensor:
    """A bidirectional LSTM, as two LSTMs over rows padded at the end; the second reads each row from its last word."""
    reverse = (lengths.unsqueeze(1) - 1 - torch.arange(embedded.shape[1])).clamp(min=0)  # [batch, words]
    onward, _ = forward(embedded)  # [batch, words, hidden]
    back, _ = backward(_pick(embedded, reverse))  # [batch, words, hidden]
    return torch.cat([onward, _pick(back, reverse)], -1)  # [batch, words, 2 * hidden]


def _pick(vectors: Tensor, places: Tensor) -> Tensor:
    return vectors.gather(1, places.unsqueeze(-1).expand(-1, -1, vectors.shape[-1]))  # [batch, words, size]

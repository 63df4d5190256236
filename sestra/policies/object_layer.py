"""One layer of the object policy: objects attend to the memory, then to each other, then each thinks for itself."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.config import ObjectConfig

Looked = tuple[Tensor, Tensor]
"""How a layer's tokens looked at the memory, ``[batch, heads, tokens, memory]``, and at each other, ``[batch, heads, tokens, tokens]``."""


@dataclass(frozen=True)
class Rows:
    """Which steps of which turns the rows are: turn * steps + step."""

    places: Tensor  # [rows]
    steps: int

    @property
    def turns(self) -> Tensor:
        return self.places // self.steps  # [rows]


class Part(nn.Module):
    """One of the parts that a vector is the sum of, brought to the same scale as the others."""

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, size, bias=False)
        self.norm = nn.LayerNorm(size)

    def forward(self, features: Tensor) -> Tensor:
        result: Tensor = self.norm(self.linear(features))
        return result


class Layer(nn.Module):
    """Objects attend to the memory, then to each other, then each thinks for itself."""

    def __init__(self, config: ObjectConfig, places: int | None) -> None:
        super().__init__()
        size = config.size
        self.heads, self.dropout = config.heads, config.dropout
        self.memory = nn.Linear(size, 2 * size)
        self.ask, self.answer, self.ask_norm = nn.Linear(size, size), nn.Linear(size, size), nn.LayerNorm(size)
        self.look, self.seen, self.look_norm = nn.Linear(size, 3 * size), nn.Linear(size, size), nn.LayerNorm(size)
        self.near = nn.Parameter(torch.zeros(config.heads, places, places)) if places else None
        self.think, self.thought, self.think_norm = nn.Linear(size, 2 * size), nn.Linear(2 * size, size), nn.LayerNorm(size)

    def remember(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = self.memory(memory).chunk(2, -1)
        return self._split(keys), self._split(values)  # [batch, heads, memory, size of a head]

    def forward(
        self, vectors: Tensor, keys: Tensor, values: Tensor, mask: Tensor, rows: Rows | None, looked: list[Looked] | None
    ) -> Tensor:
        """The vectors after this layer, ``[rows, tokens, size]``; what was looked at is added to ``looked``."""
        asked, answer = self._ask(self.ask(self.ask_norm(vectors)), keys, values, mask, rows, tell=looked is not None)
        vectors = vectors + self._drop(self.answer(answer))
        query, key, value = (self._split(part) for part in self.look(self.look_norm(vectors)).chunk(3, -1))
        saw, seen = _attend(query, key, value, self.near, tell=looked is not None)
        if looked is not None:
            looked.append((asked, saw))
        vectors = vectors + self._drop(self.seen(seen))
        result: Tensor = vectors + self._drop(self.thought(functional.gelu(self.think(self.think_norm(vectors)))))
        return result

    def _ask(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor, rows: Rows | None, *, tell: bool) -> tuple[Tensor, Tensor]:
        """Attention to the memory; the steps of a turn, which have the same memory, ask side by side."""
        tokens, size = query.shape[1:]
        if rows is not None:
            query = query.new_zeros(len(keys) * rows.steps, tokens, size).index_copy(0, rows.places, query)
            query = query.view(len(keys), rows.steps * tokens, size)  # [turns, steps * tokens, size]
        weights, found = _attend(self._split(query), keys, values, mask, tell=tell)
        return weights, found if rows is None else found.view(-1, tokens, size)[rows.places]  # [rows, tokens, size]

    def _split(self, vectors: Tensor) -> Tensor:
        split: Tensor = vectors.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # [batch, heads, tokens, size of a head]
        return split

    def _drop(self, vectors: Tensor) -> Tensor:
        """Dropout, the same for all tokens of a row; none while actions are sampled."""
        if not self.training or not self.dropout or not torch.is_grad_enabled():
            return vectors
        keep = 1 - self.dropout
        return vectors * vectors.new_empty(len(vectors), 1, vectors.shape[2]).bernoulli_(keep).div_(keep)


def _attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None, *, tell: bool) -> tuple[Tensor, Tensor]:
    """The weights, if they are asked for, and what was found, ``[batch, tokens, size]``."""
    if tell:
        scores = query @ keys.transpose(-1, -2) / query.shape[-1] ** 0.5
        weights: Tensor = (scores if bias is None else scores + bias).softmax(-1)  # [batch, heads, tokens, keys]
        found = weights @ values
    else:
        weights, found = query.new_empty(0), functional.scaled_dot_product_attention(query, keys, values, bias)
    return weights, found.transpose(1, 2).flatten(2)

"""One layer of the object policy: objects attend to the memory, then to each other, then each thinks for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.policies.objects.features import RELATIONS

POINTERS = 4
"""How many earlier turns an instruction may point at, each for a purpose of its own."""
Looked = tuple[Tensor, Tensor]
"""How a layer's tokens looked at the memory, ``[batch, heads, tokens, memory]``, and at each other, ``[batch, heads, tokens, tokens]``."""


@dataclass(frozen=True)
class Rows:
    """Which steps of which turns the rows are: turn * steps + step."""

    places: Tensor  # [rows]
    steps: int
    gaps: bool
    """Whether there are steps that no row is."""

    @property
    def turns(self) -> Tensor:
        return self.places // self.steps  # [rows]


@dataclass(frozen=True)
class Memory:
    """What a layer's tokens can ask."""

    keys: Tensor  # [batch, heads, memory, size of a head]
    values: Tensor  # likewise
    bias: Tensor  # [batch, heads or 1, tokens or 1, memory]: minus infinity where there is nothing

    def narrow(self, rows: Tensor) -> Memory:
        return Memory(*(part.index_select(0, rows) for part in (self.keys, self.values, self.bias)))


class Links(NamedTuple):
    """What draws a token's attention to things in the memory, or away from them, beside what they are."""

    mask: Tensor  # [batch, memory]: 0, or minus infinity where there is nothing
    related: Tensor | None  # [batch, relations, tokens, changes]: how the last things in the memory are related to the tokens
    pointed: Tensor | None  # [batch, pointers, memory]: how much the instruction points at the turns that they are from


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
        self.related = nn.Parameter(torch.zeros(config.heads, RELATIONS)) if config.past == "pointed" else None
        self.pointed = nn.Parameter(torch.ones(config.heads, POINTERS)) if config.past == "pointed" else None
        self.ask, self.answer, self.ask_norm = nn.Linear(size, size), nn.Linear(size, size), nn.LayerNorm(size)
        self.look, self.seen, self.look_norm = nn.Linear(size, 3 * size), nn.Linear(size, size), nn.LayerNorm(size)
        self.near = nn.Parameter(torch.zeros(config.heads, places, places)) if places else None
        self.think, self.thought, self.think_norm = nn.Linear(size, 2 * size), nn.Linear(2 * size, size), nn.LayerNorm(size)

    def remember(self, memory: Tensor, links: Links) -> Memory:
        """The memory ``[batch, memory, size]`` as this layer's tokens see it."""
        keys, values = self.memory(memory).chunk(2, -1)
        bias = links.mask[:, None, None]  # [batch, 1, 1, memory]
        if self.related is not None and links.related is not None:
            related = (self.related @ links.related.flatten(2)).unflatten(2, links.related.shape[2:])  # [batch, heads, tokens, changes]
            bias = bias + functional.pad(related, (memory.shape[1] - related.shape[3], 0))  # [batch, heads, tokens, memory]
        if self.pointed is not None and links.pointed is not None:
            bias = bias + (self.pointed @ links.pointed).unsqueeze(2)
        return Memory(self._split(keys), self._split(values), bias)

    def forward(self, vectors: Tensor, memory: Memory, rows: Rows | None, looked: list[Looked] | None) -> Tensor:
        """The vectors after this layer, ``[rows, tokens, size]``; what was looked at is added to ``looked``."""
        asked, answer = self._ask(self.ask(self.ask_norm(vectors)), memory, rows, tell=looked is not None)
        vectors = vectors + self._drop(self.answer(answer))
        query, key, value = (self._split(part) for part in self.look(self.look_norm(vectors)).chunk(3, -1))
        saw, seen = _attend(query, key, value, self.near, tell=looked is not None)
        if looked is not None:
            looked.append((asked, saw))
        vectors = vectors + self._drop(self.seen(seen))
        result: Tensor = vectors + self._drop(self.thought(functional.gelu(self.think(self.think_norm(vectors)))))
        return result

    def _ask(self, query: Tensor, memory: Memory, rows: Rows | None, *, tell: bool) -> tuple[Tensor, Tensor]:
        """Attention to the memory; the steps of a turn, which have the same memory, ask side by side."""
        turns, tokens, size = len(memory.keys), *query.shape[1:]
        if rows is None:
            return _attend(self._split(query), memory.keys, memory.values, memory.bias, tell=tell)
        if rows.gaps:
            query = query.new_zeros(turns * rows.steps, tokens, size).index_copy(0, rows.places, query)
        query = query.view(turns, rows.steps * tokens, size)  # [turns, steps * tokens, size]
        bias = (
            memory.bias if memory.bias.shape[2] == 1 else memory.bias.repeat(1, 1, rows.steps, 1)
        )  # [turns, .., steps * tokens or 1, memory]
        weights, found = _attend(self._split(query), memory.keys, memory.values, bias, tell=tell)
        found = found.view(-1, tokens, size)  # [turns * steps, tokens, size]
        return weights, found.index_select(0, rows.places) if rows.gaps else found  # [rows, tokens, size]

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
    """The weights, if they are asked for, and what was found, ``[batch, tokens, size]``; torch's own is slow where the bias is learnt."""
    if tell or (bias is not None and bias.requires_grad):
        scores = query * query.shape[-1] ** -0.5 @ keys.transpose(-1, -2)
        weights: Tensor = (scores if bias is None else scores + bias).softmax(-1)  # [batch, heads, tokens, keys]
        found = weights @ values
    else:
        weights, found = query.new_empty(0), functional.scaled_dot_product_attention(query, keys, values, bias)
    return weights, found.transpose(1, 2).flatten(2)

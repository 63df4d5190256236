"""One layer of the object policy: cross-attention to the memory, self-attention among the objects, and a feed-forward network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.learning.operators import attend
from sestra.learning.policies.base import exporting
from sestra.learning.policies.objects.features import RELATIONS

if TYPE_CHECKING:
    from sestra.learning.policies.objects.config import ObjectConfig

POINTERS = 4
"""How many earlier turns an instruction may point at, each for a purpose of its own."""
AttentionWeights = tuple[Tensor, Tensor]
"""A layer's cross-attention, ``[batch, heads, tokens, memory]``, and its self-attention, ``[batch, heads, tokens, tokens]``."""


@dataclass(frozen=True)
class Rows:
    """Which steps of which turns the rows are: turn * steps + step."""

    places: Tensor  # [rows]
    steps: int
    gaps: bool
    """Whether some (turn, step) pairs have no row."""

    @property
    def turns(self) -> Tensor:
        return self.places // self.steps  # [rows]


@dataclass(frozen=True)
class Memory:
    """What a layer's tokens attend to."""

    keys: Tensor  # [batch, heads, memory, size of a head]; in an exported graph [batch, memory, size]
    values: Tensor  # likewise
    bias: Tensor  # [batch, heads or 1, tokens or 1, memory]: minus infinity where there is nothing; tokens in an exported graph

    def select(self, rows: Tensor) -> Memory:
        return Memory(*(part.index_select(0, rows) for part in (self.keys, self.values, self.bias)))


class AttentionBias(NamedTuple):
    """What is added to attention scores beside the product of queries and keys."""

    mask: Tensor  # [batch, tokens or 1, memory]: 0, or minus infinity where there is nothing
    relations: Tensor | None  # [batch, relations, tokens, changes]: how changes, the last entries of the memory, are related to the tokens
    pointers: Tensor | None  # [batch, pointers, memory]: how much the instruction points at the turn that each entry is from


class Projection(nn.Module):
    """A normalised linear projection: several of them can be summed on one scale."""

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, size, bias=False)
        self.norm = nn.LayerNorm(size)

    def forward(self, features: Tensor) -> Tensor:
        result: Tensor = self.norm(self.linear(features))
        return result


class Layer(nn.Module):
    """Cross-attention, self-attention and feed-forward network, each with a residual connection."""

    def __init__(self, config: ObjectConfig, tokens: int | None) -> None:
        super().__init__()
        size = config.size
        self.heads, self.dropout = config.heads, config.dropout
        self.memory_projection = nn.Linear(size, 2 * size)  # keys and values
        self.relation_bias = nn.Parameter(torch.zeros(config.heads, RELATIONS)) if config.past == "pointed" else None
        self.pointer_bias = nn.Parameter(torch.ones(config.heads, POINTERS)) if config.past == "pointed" else None
        self.cross_norm, self.cross_query, self.cross_output = nn.LayerNorm(size), nn.Linear(size, size), nn.Linear(size, size)
        self.self_norm, self.self_projection, self.self_output = nn.LayerNorm(size), nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.position_bias = nn.Parameter(torch.zeros(config.heads, tokens, tokens)) if tokens else None
        self.feed_forward_norm, self.feed_forward_in, self.feed_forward_out = (
            nn.LayerNorm(size),
            nn.Linear(size, 2 * size),
            nn.Linear(2 * size, size),
        )

    def project_memory(self, memory: Tensor, bias: AttentionBias) -> Memory:
        """Keys, values and bias of the memory, ``[batch, memory, size]``, for this layer."""
        keys, values = self.memory_projection(memory).chunk(2, -1)
        total = bias.mask.unsqueeze(1)  # [batch, 1, tokens or 1, memory]
        if self.relation_bias is not None and bias.relations is not None:
            related = self.relation_bias @ bias.relations.flatten(2)  # [batch, heads, tokens * changes]
            related = related.unflatten(2, bias.relations.shape[2:])  # [batch, heads, tokens, changes]
            total = total + functional.pad(related, (memory.shape[1] - related.shape[3], 0))  # [batch, heads, tokens, memory]
        if self.pointer_bias is not None and bias.pointers is not None:
            total = total + (self.pointer_bias @ bias.pointers).unsqueeze(2)
        return Memory(keys, values, total) if exporting() else Memory(self._split(keys), self._split(values), total)

    def forward(self, vectors: Tensor, memory: Memory, rows: Rows | None, attention: list[AttentionWeights] | None) -> Tensor:
        """The vectors after this layer, ``[rows, tokens, size]``; its attention weights are added to ``attention``."""
        return_weights = attention is not None
        cross_weights, context = self._cross_attention(self.cross_query(self.cross_norm(vectors)), memory, rows, return_weights)
        vectors = vectors + self._drop(self.cross_output(context))
        query, key, value = (self._split(part) for part in self.self_projection(self.self_norm(vectors)).chunk(3, -1))
        self_weights, context = _attend(query, key, value, self.position_bias, return_weights)
        if attention is not None:
            attention.append((cross_weights, self_weights))
        vectors = vectors + self._drop(self.self_output(context))
        hidden = functional.gelu(self.feed_forward_in(self.feed_forward_norm(vectors)))  # [rows, tokens, 2 * size]
        result: Tensor = vectors + self._drop(self.feed_forward_out(hidden))
        return result

    def forward_flat(self, vectors: Tensor, tokens: int, memory: Memory, attention: list[AttentionWeights]) -> Tensor:
        """``forward`` in an exported graph, of vectors ``[rows * tokens, size]``: so a projection with its bias is one operator."""
        query = self.cross_query(self.cross_norm(vectors)).unflatten(0, (-1, tokens))  # [rows, tokens, size]
        context, cross_weights = attend(query, memory.keys, memory.values, memory.bias, self.heads)
        vectors = vectors + self.cross_output(context.flatten(0, 1))
        query, key, value = self.self_projection(self.self_norm(vectors)).unflatten(0, (-1, tokens)).chunk(3, -1)
        bias = None if self.position_bias is None else self.position_bias.unsqueeze(0)  # [1, heads, tokens, tokens]
        context, self_weights = attend(query, key, value, bias, self.heads)
        attention.append((cross_weights, self_weights))
        vectors = vectors + self.self_output(context.flatten(0, 1))
        result: Tensor = vectors + self.feed_forward_out(functional.gelu(self.feed_forward_in(self.feed_forward_norm(vectors))))
        return result

    def _cross_attention(self, query: Tensor, memory: Memory, rows: Rows | None, return_weights: bool) -> tuple[Tensor, Tensor]:
        """Attention to the memory; the steps of a turn, which have the same memory, are computed side by side."""
        turns, tokens, size = memory.keys.shape[0], *query.shape[1:]
        if rows is None:
            return _attend(self._split(query), memory.keys, memory.values, memory.bias, return_weights)
        if rows.gaps:
            query = query.new_zeros(turns * rows.steps, tokens, size).index_copy(0, rows.places, query)
        query = query.view(turns, rows.steps * tokens, size)  # [turns, steps * tokens, size]
        bias = (
            memory.bias if memory.bias.shape[2] == 1 else memory.bias.repeat(1, 1, rows.steps, 1)
        )  # [turns, .., steps * tokens or 1, memory]
        weights, found = _attend(self._split(query), memory.keys, memory.values, bias, return_weights)
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


def _attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None, return_weights: bool) -> tuple[Tensor, Tensor]:
    """The weights, if they are asked for, and the contexts, ``[batch, tokens, size]``; torch's own is slow where the bias is learnt."""
    if return_weights or (bias is not None and bias.requires_grad):
        scores = query * query.shape[-1] ** -0.5 @ keys.transpose(-1, -2)
        weights: Tensor = (scores if bias is None else scores + bias).softmax(-1)  # [batch, heads, tokens, keys]
        found = weights @ values
    else:
        weights, found = query.new_empty(0), functional.scaled_dot_product_attention(query, keys, values, bias)
    return weights, found.transpose(1, 2).flatten(2)

"""The least that a policy can be: ``encode`` and ``step`` in plain autograd, without any of the optional protocols."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sestra.data.vocabulary import PAD, Vocabulary
from sestra.learning.policies.base import Encoded, Inputs, Policy, Step
from sestra.worlds.tables import Tables


@dataclass(frozen=True)
class Memory:
    words: Tensor  # [batch, size]
    initial: Tensor  # [batch, size]


@dataclass(frozen=True)
class PlainConfig:
    """A policy that training knows as ``plain_policy:PlainConfig``."""

    size: int = 8

    def build(self, tables: Tables, vocabulary: Vocabulary) -> PlainPolicy:
        return PlainPolicy(tables, vocabulary, self.size)


class PlainPolicy(Policy):
    """An LSTM over the words, the sum of the contents' embeddings for a state, and a GRU cell from step to step."""

    def __init__(self, tables: Tables, vocabulary: Vocabulary, size: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(vocabulary), size, padding_idx=PAD)
        self.word_lstm = nn.LSTM(size, size, batch_first=True)
        self.contents = nn.Embedding(tables.slots * len(tables.world.contents), size)
        self.slot_starts = [slot * len(tables.world.contents) for slot in range(tables.slots)]
        self.previous = nn.Embedding(tables.actions + 1, size)
        self.begin = nn.Linear(size, size)
        self.cell = nn.GRUCell(4 * size, size)
        self.score = nn.Linear(2 * size, tables.actions)

    def encode(self, inputs: Inputs) -> Encoded:
        vectors, _ = self.word_lstm(self.embedding(inputs.words))  # [batch, words, size]
        words = vectors[torch.arange(vectors.shape[0]), inputs.lengths - 1]  # [batch, size]
        return Encoded(Memory(words, self._encode_states(inputs.initial)), {"hidden": torch.tanh(self.begin(words))})

    def step(self, memory: Memory, carry: dict[str, Tensor], states: Tensor, previous: Tensor, *, return_attention: bool = False) -> Step:
        del return_attention
        encoded = self._encode_states(states)  # [batch, size]
        inputs = torch.cat([memory.words, memory.initial, encoded, self.previous(previous)], 1)  # [batch, 4 * size]
        hidden = self.cell(inputs, carry["hidden"])  # [batch, size]
        return Step(self.score(torch.cat([hidden, encoded], 1)), {"hidden": hidden})

    def _encode_states(self, states: Tensor) -> Tensor:
        summed: Tensor = self.contents(states + torch.tensor(self.slot_starts)).sum(1)
        return summed  # [batch, size]

"""A policy of your own: an LSTM encodes the words, and a GRU attends to them while it acts.

x_1 ... x_n = LSTM(words of all instructions so far),   s_k = sum over slots of e(slot, content)
z_k = sum_i alpha_i x_i,   alpha_i ~ exp(x_i W h_{k-1})
h_k = GRU([z_k; s_1; s_k; e(a_{k-1})], h_{k-1}),   h_0 = tanh(V x_n)
p(a_k) ~ exp(U [h_k; s_k])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sestra.learning.settings import setting

if TYPE_CHECKING:
    from sestra.data.vocabulary import Vocabulary
    from sestra.learning.policies.base import Policy
    from sestra.worlds.tables import Tables


@dataclass(frozen=True)
class Recurrent:
    """An LSTM over words and a GRU decoder."""

    size: int = setting(64, 1, 10_000)
    """Size of all vectors."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"": {"learner": "best-action", "optimiser": "adam", "epochs": 20}}

    def build(self, tables: Tables, vocabulary: Vocabulary) -> Policy:
        return network(tables, vocabulary, self.size)


def network(tables: Tables, vocabulary: Vocabulary, size: int) -> Policy:
    """The module, in a function: torch is imported when a policy is built, not when the command line shows its flags."""
    import torch
    from torch import Tensor, nn

    from sestra.learning.policies.base import AttentionMap, Encoded, Inputs, Policy, Step

    class RecurrentPolicy(Policy):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.lstm = nn.Embedding(len(vocabulary), size), nn.LSTM(size, size, batch_first=True)
            self.contents = nn.Embedding(tables.slots * len(tables.world.contents), size)  # one per slot and content
            self.actions = nn.Embedding(tables.actions + 1, size)  # the last one stands before the first action
            self.begin, self.query = nn.Linear(size, size), nn.Linear(size, size, bias=False)
            self.gru = nn.GRUCell(4 * size, size)
            self.score = nn.Linear(2 * size, tables.actions)

        def encode(self, inputs: Inputs) -> Encoded:
            vectors, _ = self.lstm(self.words(inputs.words))  # [batch, words, size]
            last = vectors[torch.arange(vectors.shape[0], device=vectors.device), inputs.lengths - 1]  # [batch, size]
            places = torch.arange(vectors.shape[1], device=vectors.device)  # [words]
            places = places.masked_fill(places >= inputs.lengths.unsqueeze(1), -1)  # [batch, words]: -1 for padding
            return Encoded(memory=(vectors, places, self.state(inputs.initial)), carry=torch.tanh(self.begin(last)))

        def step(self, memory: Any, carry: Tensor, states: Tensor, previous: Tensor, *, return_attention: bool = False) -> Step:
            vectors, places, initial = memory
            scores = (vectors @ self.query(carry).unsqueeze(2)).squeeze(2)  # [batch, words]
            weights = scores.masked_fill(places < 0, -torch.inf).softmax(1)  # [batch, words]
            attended, state = (weights.unsqueeze(1) @ vectors).squeeze(1), self.state(states)  # [batch, size] each
            hidden = self.gru(torch.cat([attended, initial, state, self.actions(previous)], 1), carry)  # [batch, size]
            # Optional, for figures and the page: what was attended to, by one head.
            attention = {"words": AttentionMap("words", weights.unsqueeze(1), places)} if return_attention else {}
            return Step(self.score(torch.cat([hidden, state], 1)), hidden, attention)

        def state(self, states: Tensor) -> Tensor:
            slots = torch.arange(tables.slots, device=states.device)  # [slots]
            summed: Tensor = self.contents(states + slots * len(tables.world.contents)).sum(1)
            return summed  # [batch, size]

    return RecurrentPolicy()

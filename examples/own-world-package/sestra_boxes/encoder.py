"""How the attention policy encodes a state: each place by its colour and by those of its two neighbours."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sestra.learning.policies.state_encoder import EMBEDDING, FullStates
from sestra.worlds.tables import Tables


class BoxEncoder(FullStates, nn.Module):
    """The embeddings of the colours left of, on and right of a place, and of the place."""

    size = 4 * EMBEDDING

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self.colours = nn.Embedding(len(tables.world.contents), EMBEDDING)
        self.positions = nn.Embedding(tables.slots, EMBEDDING)

    def prepare(self) -> Tensor:
        return self.colours.weight  # [contents, embedding]

    def forward(self, prepared: Tensor, states: Tensor) -> Tensor:
        boxes = nn.functional.pad(nn.functional.embedding(states, prepared), (0, 0, 1, 1))  # [batch, 1 + slots + 1, embedding]
        places = self.positions.weight.expand(states.shape[0], -1, -1)  # [batch, slots, embedding]
        return torch.cat([boxes[:, :-2], boxes[:, 1:-1], boxes[:, 2:], places], -1)  # [batch, slots, size]


ENCODER = BoxEncoder

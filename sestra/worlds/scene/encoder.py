"""Scene's state encoder (the paper's supplementary A)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sestra.learning.kernels.decoder import lstm
from sestra.learning.policies.state_encoder import EMBEDDING, FullStates
from sestra.worlds.scene.world import COLOURS, NONE
from sestra.worlds.tables import Tables


class StageEncoder(FullStates, nn.Module):
    """A bidirectional LSTM over the positions; each is the embeddings of its shirt, its hat and its place."""

    hidden = 5
    size = 2 * hidden + 3 * EMBEDDING
    stacked_matrices: ClassVar = {"gates.weight": 2}  # one per direction
    worn: Tensor

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        letters = [NONE, *COLOURS]
        worn = torch.tensor([[letters.index(letter) for letter in content] for content in tables.world.contents])  # [contents, 2]
        self.register_buffer("worn", worn, persistent=False)
        self.colours = nn.Embedding(len(letters), EMBEDDING)
        self.positions = nn.Embedding(tables.slots, EMBEDDING)
        self.gates = nn.Linear(3 * EMBEDDING, 2 * 4 * self.hidden)
        self.recurrent = nn.Parameter(torch.empty(2, self.hidden, 4 * self.hidden))

    def prepare(self) -> Tensor:
        """Every content at every position: its embedding, and its part of the two directions' gates."""
        worn = self.colours(self.worn).flatten(1)  # [contents, 2 * embedding]
        places = self.positions.weight  # [slots, embedding]
        embedded = torch.cat(
            [worn.expand(len(places), -1, -1), places.unsqueeze(1).expand(-1, len(worn), -1)], -1
        )  # [slots, contents, 3 * embedding]
        return torch.cat([embedded, self.gates(embedded)], -1).flatten(0, 1)  # [slots * contents, 3 * embedding + 8 * hidden]

    def forward(self, prepared: Tensor, states: Tensor) -> Tensor:
        batch, slots = states.shape
        places = torch.arange(slots) * len(self.worn)
        looked_up = nn.functional.embedding((states + places).T, prepared)  # [slots, batch, 3 * embedding + 8 * hidden]
        embedded, onward, back = looked_up.split([3 * EMBEDDING, 4 * self.hidden, 4 * self.hidden], -1)
        hidden = cell = states.new_zeros((2, batch, self.hidden), dtype=prepared.dtype)
        outputs = []
        for arriving in torch.stack([onward, back.flip(0)], 1).unbind():  # both directions at once: [2, batch, 4 * hidden]
            update = lstm(torch.baddbmm(arriving, hidden, self.recurrent), cell)
            hidden, cell = update.hidden, update.cell
            outputs.append(hidden)
        onward, back = torch.stack(outputs, 1)  # [slots, batch, hidden] each
        return torch.cat([onward, back.flip(0), embedded], -1).transpose(0, 1)  # [batch, slots, size]


ENCODER = StageEncoder

"""Alchemy's state encoder (the paper's supplementary A)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sestra.learning.kernels.decoder import lstm
from sestra.learning.policies.state_encoder import EMBEDDING, FullStates
from sestra.worlds.alchemy.world import CAPACITY, COLOURS
from sestra.worlds.tables import Tables


class BeakerEncoder(FullStates, nn.Module):
    """The last state of an LSTM over a beaker's units, and the beaker's position."""

    hidden = 20
    size = hidden + EMBEDDING

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self.colours = nn.Embedding(len(COLOURS), EMBEDDING)
        self.positions = nn.Embedding(tables.slots, EMBEDDING)
        self.gates = nn.Linear(EMBEDDING + self.hidden, 4 * self.hidden)

    def prepare(self) -> Tensor:
        """Every content's encoding, size by size; in the world's order, a beaker's six continuations follow one another."""
        by_colour, by_hidden = self.gates.weight.split([EMBEDDING, self.hidden], 1)  # [4 * hidden, embedding], [4 * hidden, hidden]
        added = nn.functional.linear(self.colours.weight, by_colour, self.gates.bias)  # [colours, 4 * hidden]
        hidden = added.new_zeros(1, self.hidden)  # [1, hidden]: the empty beaker
        cell, encodings = hidden, [hidden]
        for _ in range(CAPACITY):
            gates = nn.functional.linear(hidden, by_hidden).unsqueeze(1) + added  # [parents, colours, 4 * hidden]
            update = lstm(gates, cell.unsqueeze(1))
            hidden, cell = update.hidden.flatten(0, 1), update.cell.flatten(0, 1)  # [parents * colours, hidden]
            encodings.append(hidden)
        return torch.cat(encodings)  # [contents, hidden]

    def forward(self, prepared: Tensor, states: Tensor) -> Tensor:
        beakers = nn.functional.embedding(states, prepared)  # [batch, slots, hidden]
        return torch.cat([beakers, self.positions.weight.expand(states.shape[0], -1, -1)], -1)  # [batch, slots, size]


ENCODER = BeakerEncoder

"""Tangrams's state encoder (the paper's supplementary A)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sestra.learning.policies.state_encoder import EMBEDDING
from sestra.worlds.tables import Tables
from sestra.worlds.tangrams.world import SHAPES


class RowEncoder(nn.Module):
    """Each figure's position and shape; an empty row is a vector of its own."""

    size = 2 * EMBEDDING
    rows: Tensor
    absent: Tensor

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        places = len(SHAPES)
        rows = torch.zeros(len(tables.world.contents), places, dtype=torch.long)
        absent = torch.ones(rows.shape, dtype=torch.bool)
        for content, row in enumerate(tables.world.contents):
            rows[content, : len(row)] = torch.tensor([int(shape) for shape in row], dtype=torch.long)
            absent[content, : max(len(row), 1)] = False
        self.register_buffer("rows", rows, persistent=False)  # [contents, places]
        self.register_buffer("absent", torch.zeros(rows.shape).masked_fill(absent, -torch.inf), persistent=False)
        self.positions = nn.Embedding(places, EMBEDDING)
        self.shapes = nn.Embedding(places, EMBEDDING)
        self.empty = nn.Parameter(torch.empty(1, self.size))

    def prepare(self) -> Tensor:
        positions = self.positions.weight.expand(len(self.rows), -1, -1)  # [contents, places, embedding]
        encodings = torch.cat([positions, self.shapes(self.rows)], -1).flatten(1)  # [contents, places * size]
        nothing = torch.cat([self.empty, encodings.new_zeros(1, encodings.shape[1] - self.size)], -1)
        return torch.cat([nothing, encodings[1:]])  # the first content is the empty row

    def forward(self, prepared: Tensor, states: Tensor) -> Tensor:
        row = states[:, 0]
        return nn.functional.embedding(row, prepared).view(row.shape[0], -1, self.size)  # [batch, places, size]

    def mask(self, states: Tensor) -> Tensor:
        return self.absent[states]  # [batch, 1, places]


ENCODER = RowEncoder

"""The paper's state encoders (supplementary A): a state becomes a set of vectors, one an object.

An encoder is prepared once a batch, where all that a slot can hold is encoded, and then looks states up.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn

from sestra.learning.kernels.decoder import lstm
from sestra.worlds.alchemy import world as alchemy
from sestra.worlds.scene import world as scene
from sestra.worlds.tables import Tables
from sestra.worlds.tangrams import world as tangrams

EMBEDDING = 10
"""Size of colour, shape and position embeddings."""


class StateEncoder(Protocol):
    """``prepare()`` once a batch; then ``encoder(prepared, states)`` gives ``[batch, objects, size]``."""

    size: int
    """Length of an object's vector."""

    def prepare(self) -> Tensor: ...

    def __call__(self, prepared: Tensor, states: Tensor) -> Tensor: ...

    def mask(self, states: Tensor) -> Tensor | None:
        """Minus infinity where a state has no object, else 0: ``[batch, 1, objects]``; None if it always has all."""


class _FullStates:
    """Every slot holds something, if only nothing."""

    def mask(self, states: Tensor) -> None: ...


class BeakerEncoder(_FullStates, nn.Module):
    """Alchemy: the last state of an LSTM over a beaker's units, and the beaker's position."""

    hidden = 20
    size = hidden + EMBEDDING

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self.colours = nn.Embedding(len(alchemy.COLOURS), EMBEDDING)
        self.positions = nn.Embedding(tables.slots, EMBEDDING)
        self.gates = nn.Linear(EMBEDDING + self.hidden, 4 * self.hidden)

    def prepare(self) -> Tensor:
        """Every content's encoding, size by size; in the world's order, a beaker's six continuations follow one another."""
        by_colour, by_hidden = self.gates.weight.split([EMBEDDING, self.hidden], 1)  # [4 * hidden, embedding], [4 * hidden, hidden]
        added = nn.functional.linear(self.colours.weight, by_colour, self.gates.bias)  # [colours, 4 * hidden]
        hidden = added.new_zeros(1, self.hidden)  # [1, hidden]: the empty beaker
        cell, encodings = hidden, [hidden]
        for _ in range(alchemy.CAPACITY):
            gates = nn.functional.linear(hidden, by_hidden).unsqueeze(1) + added  # [parents, colours, 4 * hidden]
            update = lstm(gates, cell.unsqueeze(1))
            hidden, cell = update.hidden.flatten(0, 1), update.cell.flatten(0, 1)  # [parents * colours, hidden]
            encodings.append(hidden)
        return torch.cat(encodings)  # [contents, hidden]

    def forward(self, prepared: Tensor, states: Tensor) -> Tensor:
        beakers = nn.functional.embedding(states, prepared)  # [batch, slots, hidden]
        return torch.cat([beakers, self.positions.weight.expand(len(states), -1, -1)], -1)  # [batch, slots, size]


class StageEncoder(_FullStates, nn.Module):
    """Scene: a bidirectional LSTM over the positions; each is the embeddings of its shirt, its hat and its place."""

    hidden = 5
    size = 2 * hidden + 3 * EMBEDDING
    worn: Tensor

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        letters = [scene.NONE, *scene.COLOURS]
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


class RowEncoder(nn.Module):
    """Tangrams: each figure's position and shape; an empty row is a vector of its own."""

    size = 2 * EMBEDDING
    rows: Tensor
    absent: Tensor

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        places = len(tangrams.SHAPES)
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
        return nn.functional.embedding(row, prepared).view(len(row), -1, self.size)  # [batch, places, size]

    def mask(self, states: Tensor) -> Tensor:
        return self.absent[states]  # [batch, 1, places]


class SlotEncoder(_FullStates, nn.Module):
    """Any other world: an embedding of each slot's content and one of its position."""

    hidden = 20
    size = hidden + EMBEDDING

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self.contents = nn.Embedding(len(tables.world.contents), self.hidden)
        self.positions = nn.Embedding(tables.slots, EMBEDDING)

    def prepare(self) -> Tensor:
        return self.contents.weight  # [contents, hidden]

    def forward(self, prepared: Tensor, states: Tensor) -> Tensor:
        contents = nn.functional.embedding(states, prepared)  # [batch, slots, hidden]
        return torch.cat([contents, self.positions.weight.expand(len(states), -1, -1)], -1)  # [batch, slots, size]


ENCODERS: dict[str, type[Any]] = {"alchemy": BeakerEncoder, "scene": StageEncoder, "tangrams": RowEncoder}


def state_encoder(tables: Tables) -> Any:
    """The encoder of the tables' world."""
    return ENCODERS.get(tables.world.name, SlotEncoder)(tables)

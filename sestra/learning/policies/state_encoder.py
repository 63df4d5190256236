"""State encoders of the attention policy (the paper's supplementary A): a state becomes one vector per object.

An encoder prepares the encodings of everything that a slot can hold once per batch, and then looks up states in them. A world's own is
in the world's folder (``encoder.py``).
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn

from sestra.worlds.tables import Tables

EMBEDDING = 10
"""Size of colour, shape and position embeddings."""


class StateEncoder(Protocol):
    """A module that is made from a world's tables.

    Call ``prepare()`` once per batch; then ``encoder(prepared, states)`` gives ``[batch, objects, size]``. The optional attribute
    ``stacked_matrices`` names parameters that hold several matrices one below the other, and how many: each is initialised by itself.
    """

    size: int
    """Length of an object's vector."""

    def prepare(self) -> Tensor: ...

    def __call__(self, prepared: Tensor, states: Tensor) -> Tensor: ...

    def mask(self, states: Tensor) -> Tensor | None:
        """Minus infinity where a state has no object, else 0: ``[batch, 1, objects]``; None if every state has all objects."""


class FullStates:
    """For encoders with one object per slot: none is ever absent."""

    def mask(self, states: Tensor) -> None: ...


class SlotEncoder(FullStates, nn.Module):
    """For a world without its own: an embedding of each slot's content and one of its position."""

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
        return torch.cat([contents, self.positions.weight.expand(states.shape[0], -1, -1)], -1)  # [batch, slots, size]


def state_encoder(tables: Tables) -> Any:
    """A new encoder of the tables' world: its own, else the generic one."""
    kind = tables.world.state_encoder() or SlotEncoder
    return kind(tables)

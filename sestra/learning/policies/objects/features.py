"""Features of the objects in a state: what they are, where they stand, how they rank, and what earlier turns did to them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.worlds.features import object_features
from sestra.worlds.tables import Tables

EVENTS = ("appeared", "disappeared", "changed")
"""What may happen to an object in a turn."""
RELATIONS = 2
"""Of an object to a change: whether it is the object that changed, and whether it stands where that one stood."""
MAX_RANK = 5
"""Ranks above it count as it."""


class StateFeatures(nn.Module):
    """A world's object features (``sestra.worlds.features``), looked up for batches of states; objects are numbered slot by slot."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self.features: Tensor
        self.feature_ids: Tensor
        self.score_ids: Tensor
        self.attributes: Tensor
        self.amounts: Tensor | None
        self.positions: Tensor
        self.object_states: Tensor
        known = object_features(tables.world)
        self.slots, self.objects, self.edits = tables.slots, known.objects, known.edits
        buffers = {
            "features": known.features,  # [feature ids, features]
            "feature_ids": known.feature_ids,  # [contents, objects]
            "score_ids": known.score_ids,  # [contents, edits]
            "attributes": known.attributes,  # [contents, attributes]
            "amounts": known.amounts,  # [contents]
            "positions": known.positions,  # [contents, objects]
            "object_states": known.object_states,  # [contents, objects]
        }
        for name, values in buffers.items():
            self.register_buffer(name, None if values is None else torch.from_numpy(values), persistent=False)

    def ids(self, states: Tensor) -> Tensor:
        """The feature ids of the objects: rows of ``features``."""
        return self.feature_ids[states].flatten(-2)  # [..., slots * objects]

    def places(self, states: Tensor) -> Tensor:
        """Where the objects are drawn, counted through all slots from 1; 0 for those that are not there."""
        positions = self.positions[states]  # [..., slots, objects]
        before = torch.arange(self.slots).unsqueeze(1) * self.objects  # [slots, 1]
        return torch.where(positions > 0, positions + before, 0).flatten(-2)  # [..., slots * objects]

    def identities(self, states: Tensor) -> Tensor:
        """What is different after a turn that changed the object; 0 if there is nothing."""
        return self.object_states[states].flatten(-2)  # [..., slots * objects]

    @property
    def rank_count(self) -> int:
        """How many ranks a slot has."""
        return self.attributes.shape[1] * (2 if self.amounts is None else 4)

    def ranks(self, states: Tensor) -> Tensor:
        """How many slots with the same attribute stand to the left and right, and hold more or less, as one-hot vectors."""
        attributes = self.attributes[states]  # [batch, slots, attributes]
        same = (attributes.unsqueeze(2) == attributes.unsqueeze(1)) & (attributes > 0).unsqueeze(2)  # [batch, slots, slots, attributes]
        left = torch.ones(self.slots, self.slots, dtype=torch.bool).tril(-1)  # [slots, slots]
        others = [left, left.T]
        if self.amounts is not None:
            amounts = self.amounts[states]  # [batch, slots]
            less = amounts.unsqueeze(1) < amounts.unsqueeze(2)  # [batch, slots, slots]
            others += [less, less.transpose(1, 2)]
        counts = torch.stack([(same & other.unsqueeze(-1)).sum(2) for other in others], -1)  # [batch, slots, attributes, counts]
        counts = (counts + (attributes > 0).unsqueeze(-1)).clamp(max=MAX_RANK)  # 0 where there is no attribute
        return functional.one_hot(counts, MAX_RANK + 1).flatten(2).float()  # [batch, slots, features]

    def history(self, history: Tensor, now: Tensor) -> Tensor:
        """Of each earlier turn, each object's features before and after, what happened to it, and to the object whose place it has now.

        The history ``[batch, turns, slots]`` has the states in which turns began; ``now`` those in which the current ones do.
        """
        features = self.features[self.ids(history)]  # [batch, turns, objects, features]
        identities = self.identities(history)  # [batch, turns, objects]
        before, after = identities[:, :-1], identities[:, 1:]  # [batch, turns - 1, objects]
        appeared, disappeared = (before == 0) & (after > 0), (before > 0) & (after == 0)
        changed = (before > 0) & (after > 0) & (before != after)
        events = torch.stack([appeared, disappeared, changed], -1).float()  # [batch, turns - 1, objects, events]
        stands, stood = self.places(now), self.places(history[:, :-1])  # [batch, objects], [batch, turns - 1, objects]
        same = (stands[:, None, :, None] == stood.unsqueeze(2)) & (stands > 0)[:, None, :, None]  # [batch, turns - 1, objects, objects]
        return torch.cat([features[:, :-1], features[:, 1:], events, same.float() @ events], -1)  # [batch, turns - 1, objects, size]

    @property
    def history_size(self) -> int:
        """How many history features an object has per turn."""
        return 2 * self.features.shape[1] + RELATIONS * len(EVENTS)

    def relations(self, history: Tensor, now: Tensor, turn: Tensor, changed: Tensor) -> Tensor:
        """How each object is related to changes, given the turn and the object of each, ``[batch, changes]``."""
        own = torch.arange(self.slots * self.objects).unsqueeze(1) == changed.unsqueeze(1)  # [batch, objects, changes]
        stood = self.places(history[torch.arange(history.shape[0]).unsqueeze(1), turn])  # [batch, changes, objects]
        stood = stood.gather(2, changed.unsqueeze(2)).transpose(1, 2)  # [batch, 1, changes]
        stands = self.places(now).unsqueeze(2)  # [batch, objects, 1]
        return torch.stack([own, (stands == stood) & (stands > 0)], 1).float()  # [batch, relations, objects, changes]

    def by_position(self, weights: Tensor, states: Tensor) -> Tensor:
        """The weights ``[..., heads, objects]`` in the order in which the states are drawn; objects that are not there are left out."""
        if self.objects == 1:
            return weights
        places = self.positions[states].flatten(-2).unsqueeze(-2).expand_as(weights)  # [..., heads, objects]
        return weights.new_zeros(*weights.shape[:-1], self.objects + 1).scatter_add(-1, places, weights)[..., 1:]

"""What the object policy sees in states: what the objects look like, where they stand, and what became of them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from sestra.worlds.features import object_features
from sestra.worlds.tables import Tables

FATES = ("came", "went", "changed")
"""What may become of an object in a turn."""
RELATIONS = 2
"""Of an object to a change: whether it is the object that changed, and whether it stands where that one stood."""
MOST = 5
"""Slots of a kind that are told apart by counting."""


class Sight(nn.Module):
    """A world's object features (``sestra.worlds.features``), looked up for batches of states; objects are numbered slot by slot."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self.features: Tensor
        self.looks: Tensor
        self.scores: Tensor
        self.kinds: Tensor
        self.amounts: Tensor | None
        self.standing: Tensor
        self.marks: Tensor
        known = object_features(tables.world)
        self.slots, self.objects, self.edits = tables.slots, known.objects, known.edits
        buffers = {
            "features": known.features,  # [looks, features]
            "looks": known.feature_ids,  # [contents, objects]
            "scores": known.score_ids,  # [contents, edits]
            "kinds": known.attributes,  # [contents, sorts]
            "amounts": known.amounts,  # [contents]
            "standing": known.positions,  # [contents, objects]
            "marks": known.object_states,  # [contents, objects]
        }
        for name, values in buffers.items():
            self.register_buffer(name, None if values is None else torch.from_numpy(values), persistent=False)

    def see(self, states: Tensor) -> Tensor:
        """The looks of the objects."""
        return self.looks[states].flatten(-2)  # [..., slots * objects]

    def stand(self, states: Tensor) -> Tensor:
        """Where the objects are drawn, counted through all slots from 1; 0 for those that are not there."""
        standing = self.standing[states]  # [..., slots, objects]
        before = torch.arange(self.slots).unsqueeze(1) * self.objects  # [slots, 1]
        return torch.where(standing > 0, standing + before, 0).flatten(-2)  # [..., slots * objects]

    def mark(self, states: Tensor) -> Tensor:
        """What is different after a turn that changed the object; 0 if there is nothing."""
        return self.marks[states].flatten(-2)  # [..., slots * objects]

    @property
    def counted(self) -> int:
        """How many counts there are of each slot."""
        return self.kinds.shape[1] * (2 if self.amounts is None else 4)

    def count(self, states: Tensor) -> Tensor:
        """How many slots of the slot's own kind stand to its left and right, and hold more or less than it, as ones and zeros.

        Each sort of kind is counted by itself.
        """
        kinds = self.kinds[states]  # [batch, slots, sorts]
        same = (kinds.unsqueeze(2) == kinds.unsqueeze(1)) & (kinds > 0).unsqueeze(2)  # [batch, slots, slots, sorts]
        left = torch.ones(self.slots, self.slots, dtype=torch.bool).tril(-1)  # [slots, slots]
        others = [left, left.T]
        if self.amounts is not None:
            amounts = self.amounts[states]  # [batch, slots]
            less = amounts.unsqueeze(1) < amounts.unsqueeze(2)  # [batch, slots, slots]
            others += [less, less.transpose(1, 2)]
        counts = torch.stack([(same & other.unsqueeze(-1)).sum(2) for other in others], -1)  # [batch, slots, sorts, counts]
        counts = (counts + (kinds > 0).unsqueeze(-1)).clamp(max=MOST)  # 0 where there is no kind
        return functional.one_hot(counts, MOST + 1).flatten(2).float()  # [batch, slots, features]

    def recall(self, history: Tensor, now: Tensor) -> Tensor:
        """Of each earlier turn, what each object looked like before and after, and what became of it, and of the one whose place it has.

        The history ``[batch, turns, slots]`` has the states in which turns began; ``now`` those in which the current ones do.
        """
        looks = self.features[self.see(history)]  # [batch, turns, objects, features]
        marks = self.mark(history)  # [batch, turns, objects]
        before, after = marks[:, :-1], marks[:, 1:]  # [batch, turns - 1, objects]
        came, went = (before == 0) & (after > 0), (before > 0) & (after == 0)
        own = torch.stack([came, went, (before > 0) & (after > 0) & (before != after)], -1).float()  # [batch, turns - 1, objects, fates]
        stands, stood = self.stand(now), self.stand(history[:, :-1])  # [batch, objects], [batch, turns - 1, objects]
        same = (stands[:, None, :, None] == stood.unsqueeze(2)) & (stands > 0)[:, None, :, None]  # [batch, turns - 1, objects, objects]
        return torch.cat([looks[:, :-1], looks[:, 1:], own, same.float() @ own], -1)  # [batch, turns - 1, objects, recalled]

    @property
    def recalled(self) -> int:
        """How many values it recalls of a turn."""
        return 2 * self.features.shape[1] + RELATIONS * len(FATES)

    def relate(self, history: Tensor, now: Tensor, turn: Tensor, changed: Tensor) -> Tensor:
        """How each object is related to changes, given the turn and the object of each, ``[batch, changes]``."""
        own = torch.arange(self.slots * self.objects).unsqueeze(1) == changed.unsqueeze(1)  # [batch, objects, changes]
        stood = self.stand(history[torch.arange(len(history)).unsqueeze(1), turn])  # [batch, changes, objects]
        stood = stood.gather(2, changed.unsqueeze(2)).transpose(1, 2)  # [batch, 1, changes]
        stands = self.stand(now).unsqueeze(2)  # [batch, objects, 1]
        return torch.stack([own, (stands == stood) & (stands > 0)], 1).float()  # [batch, relations, objects, changes]

    def drawn(self, weights: Tensor, states: Tensor) -> Tensor:
        """The weights ``[..., heads, objects]`` in the order in which the states are drawn; objects that are not there are left out."""
        if self.objects == 1:
            return weights
        places = self.standing[states].flatten(-2).unsqueeze(-2).expand_as(weights)  # [..., heads, objects]
        return weights.new_zeros(*weights.shape[:-1], self.objects + 1).scatter_add(-1, places, weights)[..., 1:]

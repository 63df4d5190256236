"""Features of the objects in a state: what they are, where they stand, how they rank, and what earlier turns did to them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sestra.learning.policies.base import exporting
from sestra.learning.policies.word_encoder import gather_vectors
from sestra.worlds.features import ObjectFeatures, object_features
from sestra.worlds.tables import Tables

EVENTS = ("appeared", "disappeared", "changed")
"""What may happen to an object in a turn."""
RELATIONS = 2
"""Of an object to a change: whether it is the object that changed, and whether it stands where that one stood."""
MAX_RANK = 5
"""Ranks above it count as it."""


def look_up(table: Tensor, indices: Tensor) -> Tensor:
    """``table[indices]`` of a table with two dimensions, which is one operator in an exported graph."""
    return functional.embedding(indices, table) if exporting() else table[indices]


def _score_places(known: ObjectFeatures, slots: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each edit's score is if every object has one more, that of STOP, and which object of the slot it changes.

    An edit that no object could take has a place past all scores, and counts as one of the last object.
    """
    owners, edits = np.divmod(known.score_ids, known.edits)
    nowhere = (slots * known.objects + 1) * (known.edits + 1)
    return np.where(owners < known.objects, owners * (known.edits + 1) + edits, nowhere), owners.clip(max=known.objects - 1)


def _acts_on(known: ObjectFeatures, owners: NDArray[np.int64], slots: int) -> NDArray[np.float32] | None:
    """1 where an action is the token's; STOP is that of the last token. None if that depends on what is in the slots."""
    if (known.score_ids != known.score_ids[0]).any():
        return None
    every, count = (np.arange(slots)[:, None] * known.objects + owners[0]).ravel(), slots * known.objects  # [actions - 1]
    rows: NDArray[np.float32] = np.eye(count + 1, dtype=np.float32)[np.append(every, count)]  # [actions, tokens]
    return rows


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
        self.score_places: Tensor
        self.owners: Tensor
        self.acts_on: Tensor | None
        known = object_features(tables.world)
        self.slots, self.objects, self.edits = tables.slots, known.objects, known.edits
        places, owners = _score_places(known, tables.slots)
        buffers = {
            "score_places": places,  # [contents, edits of the world]
            "owners": owners,  # [contents, edits of the world]: the object in the slot that each edit changes
            "acts_on": _acts_on(known, owners, tables.slots),  # [actions, tokens], or None if it depends on the contents
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
        return look_up(self.feature_ids, states).flatten(-2)  # [..., slots * objects]

    def places(self, states: Tensor) -> Tensor:
        """Where the objects are drawn, counted through all slots from 1; 0 for those that are not there."""
        positions = look_up(self.positions, states)  # [..., slots, objects]
        before = torch.arange(self.slots).unsqueeze(1) * self.objects  # [slots, 1]
        return torch.where(positions > 0, positions + before, 0).flatten(-2)  # [..., slots * objects]

    def identities(self, states: Tensor) -> Tensor:
        """What is different after a turn that changed the object; 0 if there is nothing."""
        return look_up(self.object_states, states).flatten(-2)  # [..., slots * objects]

    @property
    def rank_count(self) -> int:
        """How many ranks a slot has."""
        return self.attributes.shape[1] * (2 if self.amounts is None else 4)

    def ranks(self, states: Tensor) -> Tensor:
        """How many slots with the same attribute stand to the left and right, and hold more or less, as one-hot vectors."""
        attributes = look_up(self.attributes, states)  # [batch, slots, attributes]
        same = (attributes.unsqueeze(2) == attributes.unsqueeze(1)) & (attributes > 0).unsqueeze(2)  # [batch, slots, slots, attributes]
        left = torch.ones(self.slots, self.slots, dtype=torch.bool).tril(-1)  # [slots, slots]
        others = [left, left.T]
        if self.amounts is not None:
            amounts = look_up(self.amounts.unsqueeze(1), states).squeeze(-1)  # [batch, slots]
            less = amounts.unsqueeze(1) < amounts.unsqueeze(2)  # [batch, slots, slots]
            others += [less, less.transpose(1, 2)]
        counts = torch.stack([(same & other.unsqueeze(-1)).sum(2) for other in others], -1)  # [batch, slots, attributes, counts]
        counts = (counts + (attributes > 0).unsqueeze(-1)).clamp(max=MAX_RANK)  # 0 where there is no attribute
        return functional.one_hot(counts, MAX_RANK + 1).flatten(2).float()  # [batch, slots, features]

    def history(self, history: Tensor, now: Tensor) -> Tensor:
        """Of each earlier turn, each object's features before and after, what happened to it, and to the object whose place it has now.

        The history ``[batch, turns, slots]`` has the states in which turns began; ``now`` those in which the current ones do.
        """
        features = look_up(self.features, self.ids(history))  # [batch, turns, objects, features]
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
        stood = self.places(gather_vectors(history, turn))  # [batch, changes, objects]
        stood = stood.gather(2, changed.unsqueeze(2)).transpose(1, 2)  # [batch, 1, changes]
        stands = self.places(now).unsqueeze(2)  # [batch, objects, 1]
        return torch.stack([own, (stands == stood) & (stands > 0)], 1).float()  # [batch, relations, objects, changes]

    def choose_scores(self, scores: Tensor, states: Tensor) -> Tensor:
        """The score of every action from those of all tokens, ``[batch, tokens * (edits + 1) + 1]``: each token's edits, then STOP; last,
        the score of an action that no object in the state could take."""
        width, last = self.edits + 1, scores.shape[1] - 1
        starts = torch.arange(self.slots).unsqueeze(1) * self.objects * width  # [slots, 1]
        if self.acts_on is not None:
            places = torch.cat([(self.score_places[:1] + starts).flatten(), torch.tensor([last - 1])])  # [actions]
            return scores.index_select(1, places.clamp(max=last))  # [batch, actions]
        places = look_up(self.score_places, states)  # [batch, slots, edits of the world]
        places = (places if self.slots == 1 else (places + starts).clamp(max=last)).flatten(1)
        return scores.gather(1, functional.pad(places, (0, 1), value=last - 1))  # [batch, actions]

    def by_token(self, probabilities: Tensor, states: Tensor) -> Tensor:
        """The probability that each token acts, from those of all actions: each object's edits, and STOP."""
        if self.acts_on is not None:
            return probabilities @ self.acts_on  # [batch, tokens]
        edits, stop = probabilities.split([probabilities.shape[1] - 1, 1], 1)  # [batch, actions - 1], [batch, 1]
        acts = edits.new_zeros(*states.shape, self.objects)  # [batch, slots, objects]
        acts = acts.scatter_add(2, look_up(self.owners, states), edits.unflatten(1, (self.slots, -1)))
        return torch.cat([acts.flatten(1), stop], 1)  # [batch, tokens]

    def by_position(self, weights: Tensor, states: Tensor) -> Tensor:
        """The weights ``[..., heads, objects]`` in the order in which the states are drawn; objects that are not there are left out."""
        if self.objects == 1:
            return weights
        places = look_up(self.positions, states).flatten(-2).unsqueeze(-2).expand_as(weights)  # [..., heads, objects]
        return weights.new_zeros(*weights.shape[:-1], self.objects + 1).scatter_add(-1, places, weights)[..., 1:]

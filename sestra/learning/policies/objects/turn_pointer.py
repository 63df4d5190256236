"""What objects recall of earlier turns; which turns matter, the instruction says: "undo step two", "the figure you just removed"."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sestra.data.batch import Turns
from sestra.learning.policies.objects.features import Sight
from sestra.learning.policies.objects.layer import POINTERS, Part

AGES = 6
"""Turns that are told apart by how long ago they were, and by their number; earlier or later ones count as the last of these."""


class TurnPointer(nn.Module):
    """The words of the current instruction name turns by their number, by how long ago they were, or name none."""

    def __init__(self, size: int, pointers: int) -> None:
        super().__init__()
        self.pointers = pointers
        self.weigh = nn.Linear(size, pointers)
        self.name = nn.Linear(size, pointers * (2 * AGES + 1))

    def forward(self, words: Tensor, current: Tensor, turns: Turns) -> tuple[Tensor, Tensor]:
        """How much each earlier turn is meant, ``[batch, pointers, turns - 1]``, and how much none is, ``[batch, pointers]``.

        Of the words ``[batch, words, size]`` only those that are ``current`` are asked.
        """
        weights = self.weigh(words).masked_fill(~current.unsqueeze(2), -torch.inf).softmax(1)  # [batch, words, pointers]
        names = self.name(words).unflatten(2, (self.pointers, -1))  # [batch, words, pointers, names]
        names = (weights.unsqueeze(3) * names).sum(1)  # [batch, pointers, names]
        numbers = torch.arange(turns.history.shape[1] - 1)  # [turns - 1]
        ages = (turns.turn.unsqueeze(1) - 1 - numbers).clamp(0, AGES - 1)  # [batch, turns - 1]
        by_age = names[..., AGES : 2 * AGES].gather(2, ages.unsqueeze(1).expand(-1, self.pointers, -1))
        scores = names[..., numbers.clamp(max=AGES - 1)] + by_age  # [batch, pointers, turns - 1]
        earlier = (numbers < turns.turn.unsqueeze(1)).unsqueeze(1)  # [batch, 1, turns - 1]
        meant = torch.cat([scores.masked_fill(~earlier, -torch.inf), names[..., -1:]], 2).softmax(-1)  # [batch, pointers, turns]
        return meant[..., :-1], meant[..., -1]


class Recollection(nn.Module):
    """Part of an object's vector: what it was like in the turns that are meant."""

    def __init__(self, sight: Sight, size: int) -> None:
        super().__init__()
        self.pointer = TurnPointer(size, POINTERS)
        self.recalled = Part(POINTERS * (sight.recalled + 1), size)

    def forward(self, sight: Sight, turns: Turns, words: Tensor, current: Tensor) -> tuple[Tensor, Tensor]:
        """The part, ``[batch, objects, size]``, and how much each earlier turn is meant, ``[batch, pointers, turns - 1]``."""
        meant, none = self.pointer(words, current, turns)  # [batch, pointers, turns - 1], [batch, pointers]
        recall = sight.recall(turns.history, turns.initial)  # [batch, turns - 1, objects, recalled]
        recalled = (meant @ recall.flatten(2)).unflatten(2, recall.shape[2:])  # [batch, pointers, objects, recalled]
        recalled = recalled.transpose(1, 2).flatten(2)  # [batch, objects, pointers * recalled]
        nowhere = none.unsqueeze(1).expand(-1, recalled.shape[1], -1)  # [batch, objects, pointers]
        part: Tensor = self.recalled(torch.cat([recalled, nowhere], -1))
        return part, meant

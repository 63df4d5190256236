"""Features of objects in earlier turns that the instruction points at: "undo step two", "the figure you just removed"."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sestra.learning.policies.base import Inputs
from sestra.learning.policies.objects.features import StateFeatures
from sestra.learning.policies.objects.layer import POINTERS, Projection

AGES = 6
"""How many ages (turns ago) and turn numbers are told apart; larger ones are clamped."""


class TurnPointer(nn.Module):
    """The words of the current instruction name turns by their number, by how long ago they were, or name none."""

    def __init__(self, size: int, pointers: int) -> None:
        super().__init__()
        self.pointers = pointers
        self.word_weights = nn.Linear(size, pointers)
        self.turn_scores = nn.Linear(size, pointers * (2 * AGES + 1))

    def forward(self, words: Tensor, current: Tensor, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """The probability of each earlier turn, ``[batch, pointers, turns - 1]``, and of none, ``[batch, pointers]``.

        Of the words ``[batch, words, size]`` only those that are ``current`` count.
        """
        weights = self.word_weights(words).masked_fill(~current.unsqueeze(2), -torch.inf).softmax(1)  # [batch, words, pointers]
        names = self.turn_scores(words).unflatten(2, (self.pointers, -1))  # [batch, words, pointers, names]
        names = (weights.unsqueeze(3) * names).sum(1)  # [batch, pointers, names]
        numbers = torch.arange(inputs.history.shape[1] - 1)  # [turns - 1]
        ages = (inputs.turn.unsqueeze(1) - 1 - numbers).clamp(0, AGES - 1)  # [batch, turns - 1]
        by_age = names[..., AGES : 2 * AGES].gather(2, ages.unsqueeze(1).expand(-1, self.pointers, -1))
        scores = names[..., numbers.clamp(max=AGES - 1)] + by_age  # [batch, pointers, turns - 1]
        earlier = (numbers < inputs.turn.unsqueeze(1)).unsqueeze(1)  # [batch, 1, turns - 1]
        pointed = torch.cat([scores.masked_fill(~earlier, -torch.inf), names[..., -1:]], 2).softmax(-1)  # [batch, pointers, turns]
        return pointed[..., :-1], pointed[..., -1]


class HistoryFeatures(nn.Module):
    """The part of an object's vector that says what it was like in the turns that are pointed at."""

    def __init__(self, features: StateFeatures, size: int) -> None:
        super().__init__()
        self.pointer = TurnPointer(size, POINTERS)
        self.projection = Projection(POINTERS * (features.history_size + 1), size)

    def forward(self, features: StateFeatures, inputs: Inputs, words: Tensor, current: Tensor) -> tuple[Tensor, Tensor]:
        """The part, ``[batch, objects, size]``, and the probability of each earlier turn, ``[batch, pointers, turns - 1]``."""
        pointed, none = self.pointer(words, current, inputs)  # [batch, pointers, turns - 1], [batch, pointers]
        history = features.history(inputs.history, inputs.initial)  # [batch, turns - 1, objects, history features]
        values = (pointed @ history.flatten(2)).unflatten(2, history.shape[2:])  # [batch, pointers, objects, history features]
        values = values.transpose(1, 2).flatten(2)  # [batch, objects, pointers * history features]
        nowhere = none.unsqueeze(1).expand(-1, values.shape[1], -1)  # [batch, objects, pointers]
        part: Tensor = self.projection(torch.cat([values, nowhere], -1))
        return part, pointed

"""How actions are chosen from a policy's scores in training."""

from __future__ import annotations

import numpy as np
import torch

from sestra.learning import decoding
from sestra.learning.decoding import sampled


def test_actions_are_drawn_by_their_probabilities():
    probabilities = torch.tensor([0.5, 0.3, 0.2, 0.0])
    drawn = sampled(torch.Generator().manual_seed(1))(probabilities.log().expand(20_000, -1), np.empty(0, np.int64), 0)
    torch.testing.assert_close(torch.bincount(drawn, minlength=4) / len(drawn), probabilities, atol=0.02, rtol=0)


def test_an_action_that_is_barred_is_never_drawn(monkeypatch):
    """Not even where the random number is 0."""
    monkeypatch.setattr(decoding.torch, "rand", lambda shape, generator: torch.zeros(shape))
    logits = torch.tensor([[-torch.inf, -torch.inf, 2.0]])
    assert sampled(torch.Generator())(logits, np.empty(0, np.int64), 0).tolist() == [2]

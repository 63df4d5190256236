"""Beam search: the most probable sequence of actions that a search of some width finds, for a batch of turns."""

from __future__ import annotations

import torch
from torch import Tensor

from sestra.data.batch import Turns
from sestra.learning.policies.base import Policy
from sestra.worlds.tables import Tables


def beam_search(policy: Policy, tables: Tables, turns: Turns, horizon: int, width: int) -> Tensor:
    """The actions of the best execution of each turn, ``[batch, horizon]``, padded by STOP.

    Of all ways to go one step on, the ``width`` most probable ones are kept; those among them that end in STOP are put aside. A turn is
    done when nothing that goes on is more probable than the best that has ended. If nothing has ended at the horizon, the best that goes
    on is taken.
    """
    batch, read = len(turns), policy.read(turns)
    first = torch.arange(batch).unsqueeze(1) * width  # [batch, 1]: where each turn's beam begins
    rows = torch.arange(batch).repeat_interleave(width)  # [batch * width]: the turn of each row
    memory, carry = policy.narrow(read, rows), tuple(part[rows] for part in policy.begin(read))
    state, previous = turns.initial[rows], torch.full_like(rows, tables.actions)  # BEG
    scores = torch.full((batch, width), -torch.inf)  # [batch, width]
    scores[:, 0] = 0
    paths = torch.full((batch, width, horizon), tables.stop)  # [batch, width, horizon]
    best_score, best = torch.full((batch,), -torch.inf), paths[:, 0].clone()  # [batch], [batch, horizon]: of those that have ended
    for number in range(horizon):
        step = policy.step(memory, carry, state, previous)
        log_probs = step.logits.log_softmax(-1).view(batch, width, -1)  # [batch, width, actions]
        scores, places = (scores.unsqueeze(-1) + log_probs).flatten(1).topk(width)  # [batch, width]
        parents, actions = places // tables.actions, places % tables.actions  # [batch, width]
        paths = paths.gather(1, parents.unsqueeze(-1).expand_as(paths))
        paths[..., number] = actions

        ended = actions == tables.stop  # [batch, width]
        ending, place = scores.masked_fill(~ended, -torch.inf).max(1)  # [batch]
        better = ending > best_score
        best[better] = paths[better, place[better]]
        best_score = torch.maximum(best_score, ending)
        scores = scores.masked_fill(ended, -torch.inf)
        scores = scores.masked_fill((best_score >= scores.amax(1)).unsqueeze(1), -torch.inf)
        if not scores.isfinite().any():
            break
        came_from = (first + parents).flatten()  # [batch * width]
        carry = tuple(part[came_from] for part in step.carry)
        previous = actions.flatten()
        state = tables.step(state[came_from], previous)
    unending = best_score.isneginf().nonzero().squeeze(1)
    best[unending] = paths[unending, scores[unending].argmax(1)]
    return best

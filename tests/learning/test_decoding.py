"""How actions are chosen; beam search against greedy execution and against trying everything."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from agents import random_trained
from lamps import Lamps, interactions

from sestra.data.batch import Turns, encode_turns
from sestra.data.synthetic import generate
from sestra.data.vocabulary import Vocabulary
from sestra.learning import decoding
from sestra.learning.decoding import beam_search, forced, greedy, sampled
from sestra.learning.policies.attention import AttentionPolicy
from sestra.learning.policies.base import Encoded, Policy, Step
from sestra.learning.rollout import roll_out
from sestra.worlds import WORLDS
from sestra.worlds.tables import Tables

LAMPS = Tables(Lamps())
VOCABULARY = Vocabulary(("light", "put", "out", "it", "one", "two", "three", "red", "green"))


def lamp_turns(count: int = 4) -> Turns:
    return encode_turns(interactions(count, seed=2, turns=3), VOCABULARY, LAMPS)


def lamp_policy(seed: int, scale: float = 1.0) -> AttentionPolicy:
    small = random_trained().config.policy
    policy = AttentionPolicy(small, LAMPS, VOCABULARY).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
    return policy


def log_probability(policy, tables, turns, actions) -> torch.Tensor:
    execution = roll_out(policy, tables, turns, actions.shape[1], forced(actions))
    taken = execution.log_probs.gather(-1, execution.actions.unsqueeze(-1)).squeeze(-1)
    return (taken * execution.alive).sum(0)


def test_actions_are_drawn_by_their_probabilities():
    probabilities = torch.tensor([0.5, 0.3, 0.2, 0.0])
    drawn = sampled(torch.Generator().manual_seed(1))(probabilities.log().expand(20_000, -1), np.empty(0, np.int64), 0)
    torch.testing.assert_close(torch.bincount(drawn, minlength=4) / len(drawn), probabilities, atol=0.02, rtol=0)


def test_an_action_that_is_barred_is_never_drawn(monkeypatch):
    """Not even where the random number is 0."""
    monkeypatch.setattr(decoding.torch, "rand", lambda shape, generator: torch.zeros(shape))
    logits = torch.tensor([[-torch.inf, -torch.inf, 2.0]])
    assert sampled(torch.Generator())(logits, np.empty(0, np.int64), 0).tolist() == [2]


@pytest.mark.parametrize("world", sorted(WORLDS.names()))
@torch.no_grad()
def test_a_beam_of_one_is_greedy(world):
    trained = random_trained(world)
    turns = encode_turns(generate(world, 10, seed=1), trained.vocabulary, trained.tables)
    execution = roll_out(trained.policy, trained.tables, turns, 8, greedy)
    found = beam_search(trained.policy, trained.tables, turns, 8, 1)
    steps = len(execution.actions)
    assert torch.equal(found[:, :steps], execution.actions.T)
    assert (found[:, steps:] == trained.tables.stop).all()


@pytest.mark.parametrize("seed", range(5))
@torch.no_grad()
def test_a_beam_wide_enough_finds_the_most_probable_execution(seed):
    policy, turns, horizon = lamp_policy(seed), lamp_turns(), 3
    everything = torch.tensor(
        [path for path in product(range(LAMPS.actions), repeat=horizon) if LAMPS.stop in path and _padded(path)]
    )  # [paths, horizon]: all that end, with nothing but STOP after the first
    assert len(everything) == 1 + 9 + 81
    found = beam_search(policy, LAMPS, turns, horizon, 1000)
    for row in range(len(turns)):
        alone = turns.select(np.full(len(everything), row))
        best = log_probability(policy, LAMPS, alone, everything).argmax()
        assert found[row].tolist() == everything[best].tolist()


def _padded(path) -> bool:
    return set(path[path.index(LAMPS.stop) :]) == {LAMPS.stop}


@torch.no_grad()
def test_a_turn_is_searched_alike_alone_and_in_a_batch():
    policy, turns = lamp_policy(3), lamp_turns()
    together = beam_search(policy, LAMPS, turns, 6, 4)
    for row in range(len(turns)):
        assert torch.equal(beam_search(policy, LAMPS, turns.select(np.array([row])), 6, 4)[0], together[row])


@torch.no_grad()
def test_on_the_whole_a_beam_finds_more_probable_executions_than_greed():
    policy, turns = lamp_policy(1, 0.7), lamp_turns(20)
    scores = [float(log_probability(policy, LAMPS, turns, beam_search(policy, LAMPS, turns, 8, width)).mean()) for width in (1, 3, 30)]
    assert scores[0] < scores[1] <= scores[2]


class Table(Policy):
    """Scores by the last action alone, with nothing in memory and no carry."""

    def __init__(self, probabilities: dict[int, dict[int, float]]) -> None:
        super().__init__()
        table = torch.full((LAMPS.actions + 1, LAMPS.actions), 1e-9)
        for previous, after in probabilities.items():
            for action, probability in after.items():
                table[previous, action] = probability
        self.table = table.log()

    def encode(self, inputs):
        return Encoded(())

    def step(self, memory, carry, states, previous, *, return_attention=False):
        return Step(self.table[previous])


BEGIN, STOP = LAMPS.actions, LAMPS.stop


def one_turn() -> Turns:
    return lamp_turns(1).select(np.array([0]))


def test_the_likelier_first_action_may_be_a_trap():
    policy = Table({BEGIN: {0: 0.6, 1: 0.4}, 0: {2: 0.3, 3: 0.3, 4: 0.4}, 1: {STOP: 0.9, 2: 0.1}, 2: {STOP: 1}, 3: {STOP: 1}, 4: {STOP: 1}})
    assert beam_search(policy, LAMPS, one_turn(), 5, 1).tolist() == [[0, 4, STOP, STOP, STOP]]
    assert beam_search(policy, LAMPS, one_turn(), 5, 2).tolist() == [[1, STOP, STOP, STOP, STOP]]


def test_an_early_end_does_not_win_over_a_likelier_late_one():
    policy = Table({BEGIN: {0: 0.7, STOP: 0.3}, 0: {1: 0.9, STOP: 0.1}, 1: {STOP: 0.9, 2: 0.1}})
    assert beam_search(policy, LAMPS, one_turn(), 5, 3).tolist() == [[0, 1, STOP, STOP, STOP]]


def test_what_has_ended_is_preferred_at_the_horizon():
    policy = Table({BEGIN: {0: 0.9, STOP: 0.1}, 0: {0: 1.0}})
    assert beam_search(policy, LAMPS, one_turn(), 4, 2).tolist() == [[STOP] * 4]
    assert beam_search(policy, LAMPS, one_turn(), 4, 1).tolist() == [[0] * 4]  # nothing has ended

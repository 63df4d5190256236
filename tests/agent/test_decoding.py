"""How an agent's networks choose actions: greedily, sampled, and by a beam search that is held against trying everything."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from lamps import Lamps, interactions
from numpy.typing import NDArray
from small_networks import random_network

from sestra.agent import decoding
from sestra.agent.decoding import beam_search, forced, greedy, roll_out, sampled
from sestra.agent.runtime import Encoded, Ensemble, Network, Runtime, Step
from sestra.data.batch import Turns, encode_turns
from sestra.data.synthetic import generate
from sestra.data.vocabulary import Vocabulary
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import Integers, Tables, compile_world

LAMPS = Tables(Lamps())
VOCABULARY = Vocabulary(("light", "put", "out", "it", "one", "two", "three", "red", "green"))


def lamp_turns(count: int = 4) -> Turns:
    return encode_turns(interactions(count, seed=2, turns=3), VOCABULARY, LAMPS)


def runtime_of(tables: Tables, words: int, seed: int = 7, scale: float = 0.6) -> Ensemble:
    graphs = random_network(tables, words, seed=seed, scale=scale)
    return Ensemble([Network(graphs.encode, graphs.step, "random")])


def lamp_runtime(seed: int, scale: float = 1.0) -> Ensemble:
    return runtime_of(LAMPS, len(VOCABULARY), seed, scale)


def log_probability(runtime: Runtime, tables: Tables, turns: Turns, actions: Integers) -> NDArray[np.float32]:
    execution = roll_out(runtime, tables, turns, actions.shape[1], forced(actions))
    taken = np.take_along_axis(execution.log_probs, execution.actions[..., None], -1)[..., 0]  # [steps, batch]
    return (taken * execution.alive).sum(0)  # [batch]


def test_actions_are_drawn_by_their_probabilities():
    probabilities = np.array([0.5, 0.3, 0.2])
    drawn = sampled(np.random.default_rng(1))(np.tile(np.log(probabilities), (20_000, 1)), 0)
    np.testing.assert_allclose(np.bincount(drawn) / len(drawn), probabilities, atol=0.02)


@pytest.mark.parametrize("world", sorted(WORLDS.names()))
def test_executions_that_have_ended_leave_the_batch_and_change_nothing(world, monkeypatch):
    tables, data = compile_world(get_world(world)), generate(world, 10, seed=1)
    vocabulary = Vocabulary.of((text for each in data for text in each.instructions), 1)
    runtime, turns = runtime_of(tables, len(vocabulary)), encode_turns(data, vocabulary, tables)
    executions = []
    for threshold in (0.0, decoding.COMPACT_BELOW, 1.01):
        monkeypatch.setattr(decoding, "COMPACT_BELOW", threshold)
        executions.append(roll_out(runtime, tables, turns, 8, greedy, attention=True))
    whole, *compacted = executions
    assert len(set(whole.lengths.tolist())) > 1
    for other in compacted:
        assert np.array_equal(other.actions, whole.actions)
        np.testing.assert_allclose(other.log_probs[whole.alive], whole.log_probs[whole.alive], rtol=1e-4, atol=1e-5)
        for step, (mine, theirs) in enumerate(zip(other.attention, whole.attention, strict=True)):
            rows = whole.alive[step]
            for name, found in theirs.items():
                assert mine[name].over == found.over
                np.testing.assert_allclose(mine[name].weights[rows], found.weights[rows], rtol=1e-4, atol=1e-5)
                assert np.array_equal(mine[name].places[rows], found.places[rows])


@pytest.mark.parametrize("world", sorted(WORLDS.names()))
def test_a_beam_of_one_is_greedy(world):
    tables, data = compile_world(get_world(world)), generate(world, 10, seed=1)
    vocabulary = Vocabulary.of((text for each in data for text in each.instructions), 1)
    runtime, turns = runtime_of(tables, len(vocabulary)), encode_turns(data, vocabulary, tables)
    execution = roll_out(runtime, tables, turns, 8, greedy)
    found = beam_search(runtime, tables, turns, 8, 1)
    steps = len(execution.actions)
    assert np.array_equal(found[:, :steps], execution.actions.T)
    assert (found[:, steps:] == tables.stop).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_wide_enough_finds_the_most_probable_execution(seed):
    runtime, turns, horizon = lamp_runtime(seed), lamp_turns(), 3
    everything = np.array(
        [path for path in product(range(LAMPS.actions), repeat=horizon) if LAMPS.stop in path and _padded(path)]
    )  # [paths, horizon]: all that end, with nothing but STOP after the first
    assert len(everything) == 1 + 9 + 81
    found = beam_search(runtime, LAMPS, turns, horizon, 1000)
    for row in range(len(turns)):
        alone = turns.select(np.full(len(everything), row))
        best = log_probability(runtime, LAMPS, alone, everything).argmax()
        assert found[row].tolist() == everything[best].tolist()


def _padded(path) -> bool:
    return set(path[path.index(LAMPS.stop) :]) == {LAMPS.stop}


def test_a_turn_is_searched_alike_alone_and_in_a_batch():
    runtime, turns = lamp_runtime(3), lamp_turns()
    together = beam_search(runtime, LAMPS, turns, 6, 4)
    for row in range(len(turns)):
        assert np.array_equal(beam_search(runtime, LAMPS, turns.select(np.array([row])), 6, 4)[0], together[row])


def test_on_the_whole_a_beam_finds_more_probable_executions_than_greed():
    runtime, turns = lamp_runtime(1, 0.7), lamp_turns(20)
    scores = [log_probability(runtime, LAMPS, turns, beam_search(runtime, LAMPS, turns, 8, width)).mean() for width in (1, 3, 30)]
    assert scores[0] < scores[1] <= scores[2]


class Table:
    """Scores by the last action alone, with nothing in memory and no carry."""

    def __init__(self, probabilities: dict[int, dict[int, float]]) -> None:
        table = np.full((LAMPS.actions + 1, LAMPS.actions), 1e-9, np.float32)
        for previous, after in probabilities.items():
            for action, probability in after.items():
                table[previous, action] = probability
        self.table = np.log(table)

    def encode(self, turns):
        return [Encoded((), ())]

    def step(self, encoded, states, previous, *, attention=False):
        return Step(self.table[previous], encoded, {})


BEGIN, STOP = LAMPS.actions, LAMPS.stop


def one_turn() -> Turns:
    return lamp_turns(1).select(np.array([0]))


def test_the_likelier_first_action_may_be_a_trap():
    table = Table({BEGIN: {0: 0.6, 1: 0.4}, 0: {2: 0.3, 3: 0.3, 4: 0.4}, 1: {STOP: 0.9, 2: 0.1}, 2: {STOP: 1}, 3: {STOP: 1}, 4: {STOP: 1}})
    assert beam_search(table, LAMPS, one_turn(), 5, 1).tolist() == [[0, 4, STOP, STOP, STOP]]
    assert beam_search(table, LAMPS, one_turn(), 5, 2).tolist() == [[1, STOP, STOP, STOP, STOP]]


def test_an_early_end_does_not_win_over_a_likelier_late_one():
    table = Table({BEGIN: {0: 0.7, STOP: 0.3}, 0: {1: 0.9, STOP: 0.1}, 1: {STOP: 0.9, 2: 0.1}})
    assert beam_search(table, LAMPS, one_turn(), 5, 3).tolist() == [[0, 1, STOP, STOP, STOP]]


def test_what_has_ended_is_preferred_at_the_horizon():
    table = Table({BEGIN: {0: 0.9, STOP: 0.1}, 0: {0: 1.0}})
    assert beam_search(table, LAMPS, one_turn(), 4, 2).tolist() == [[STOP] * 4]
    assert beam_search(table, LAMPS, one_turn(), 4, 1).tolist() == [[0] * 4]  # nothing has ended

"""How actions are chosen, by policies in NumPy: against greedy execution, against trying everything, and alone against together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from lamps import Lamps, interactions
from numpy.typing import NDArray

from sestra.agent import decoding
from sestra.agent.decoding import beam_search, forced, greedy, roll_out, sampled
from sestra.agent.execution import AttentionMap, Execution
from sestra.agent.runtime import Encoded, Step, mean_log_probs
from sestra.data.batch import Turns, encode_turns
from sestra.data.vocabulary import Vocabulary
from sestra.worlds.tables import Integers, Tables

LAMPS = Tables(Lamps())
BEGIN, STOP = LAMPS.actions, LAMPS.stop
VOCABULARY = Vocabulary(("light", "put", "out", "it", "one", "two", "three", "red", "green"))
HORIZON = 6


@dataclass
class Random:
    """Scores that depend on the turn, the state, the last action and all that was carried so far, by random weights."""

    seed: int = 0
    scale: float = 1.0
    stop: float = 1.0
    """Added to the score of STOP, which is doubled besides, so that some executions end early and others late."""
    batches: list[int] = field(default_factory=list)
    """Of each step."""

    def weights(self, *shape: int) -> NDArray[np.float32]:
        return (np.random.default_rng([self.seed, *shape]).normal(size=shape) * self.scale).astype(np.float32)

    def encode(self, turns: Turns) -> list[Encoded]:
        one_hot = np.zeros((len(turns), len(VOCABULARY)), np.float32)
        for row, (words, length) in enumerate(zip(turns.words, turns.lengths, strict=True)):
            np.add.at(one_hot[row], words[:length], 1)
        return [Encoded((one_hot @ self.weights(len(VOCABULARY), 5), turns.lengths), (np.zeros((len(turns), 5), np.float32),))]

    def step(self, encoded: Sequence[Encoded], states: Integers, previous: Integers, *, attention: bool = False) -> Step:
        self.batches.append(len(states))
        [((memory, lengths), (carry,))] = encoded
        seen = self.weights(3, 3, 5)[np.arange(3), states].sum(1) + self.weights(BEGIN + 1, 5)[previous]
        carry = np.tanh(0.3 * memory + seen + carry)
        logits = carry @ self.weights(5, BEGIN)
        logits[:, STOP] = 2 * logits[:, STOP] + self.stop
        keys = np.arange(4)
        weights = np.repeat(carry[:, None, :4], 2, 1)  # anything that differs from row to row and from step to step
        maps = {"any": AttentionMap("words", weights, np.where(keys < lengths[:, None], keys, -1))} if attention else {}
        return Step(mean_log_probs([logits]), [Encoded((memory, lengths), (carry,))], maps)


class Table:
    """Scores by the last action alone, with nothing in memory and no carry."""

    def __init__(self, probabilities: dict[int, dict[int, float]]) -> None:
        self.table = np.full((BEGIN + 1, BEGIN), 1e-9, np.float32)
        for previous, after in probabilities.items():
            for action, probability in after.items():
                self.table[previous, action] = probability

    def encode(self, turns: Turns) -> list[Encoded]:
        return [Encoded((), ())]

    def step(self, encoded: Sequence[Encoded], states: Integers, previous: Integers, *, attention: bool = False) -> Step:
        return Step(np.log(self.table[previous]), encoded, {})


def lamp_turns(count: int = 4) -> Turns:
    return encode_turns(interactions(count, seed=2, turns=3), VOCABULARY, LAMPS)


def one_turn() -> Turns:
    return lamp_turns(1).select(np.array([0]))


def log_probability(execution: Execution) -> NDArray[np.float64]:
    """Of each execution, ``[batch]``."""
    taken = np.take_along_axis(execution.log_probs, execution.actions[..., None], -1)[..., 0].astype(np.float64)
    found: NDArray[np.float64] = (taken * execution.alive).sum(0)
    return found


def slowly(runtime: Random, turns: Turns, row: int, horizon: int) -> tuple[list[int], list[int]]:
    """The greedy actions of one turn and the state that they lead to, one step after the other."""
    alone = turns.select(np.array([row]))
    encoded, state, previous, actions = runtime.encode(alone), alone.initial, BEGIN, []
    for _ in range(horizon):
        step = runtime.step(encoded, state, np.array([previous]))
        previous, encoded = int(np.argmax(step.log_probs[0])), list(step.encoded)
        actions.append(previous)
        state = LAMPS.step(state, np.array([previous]))
        if previous == STOP:
            break
    return actions, state[0].tolist()


# Greedy execution.


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5])
def test_greedy_execution_is_step_after_step(seed: int):
    runtime, turns = Random(seed), lamp_turns()
    execution = roll_out(runtime, LAMPS, turns, HORIZON, greedy)
    for row in range(len(turns)):
        actions, final = slowly(runtime, turns, row, HORIZON)
        assert execution.actions[: execution.lengths[row], row].tolist() == actions
        assert execution.final[row].tolist() == final
        assert bool(execution.stopped[row]) == (actions[-1] == STOP)
        assert (execution.actions[execution.lengths[row] :, row] == STOP).all()
    assert len({*execution.lengths.tolist()}) > 1


def test_states_follow_from_actions():
    execution = roll_out(Random(2), LAMPS, lamp_turns(), HORIZON, greedy)
    for before, actions, after in zip(execution.states, execution.actions, [*execution.states[1:], execution.final], strict=True):
        assert np.array_equal(LAMPS.step(before, actions), after)


def test_of_equally_probable_actions_the_first_is_taken():
    execution = roll_out(Table({BEGIN: {2: 0.5, 1: 0.5}, 1: {STOP: 1}}), LAMPS, one_turn(), 3, greedy)
    assert execution.actions[:, 0].tolist() == [1, STOP]


def test_the_horizon_ends_an_execution():
    runtime = Table({BEGIN: {0: 1}, 0: {0: 1}})
    execution = roll_out(runtime, LAMPS, one_turn(), 4, greedy)
    assert execution.lengths.tolist() == [4]
    assert execution.stopped.tolist() == [False]


def test_idle_turns_stop_at_once():
    runtime, turns = Random(1, stop=-9), lamp_turns()
    idle = np.arange(len(turns)) % 2 == 0
    some, all_ = (roll_out(runtime, LAMPS, turns, HORIZON, greedy, idle=each) for each in (idle, None))
    assert (some.lengths[idle] == 1).all()
    assert some.stopped[idle].all()
    assert np.array_equal(some.final[idle], turns.initial[idle])
    assert np.array_equal(some.final[~idle], all_.final[~idle])
    assert not roll_out(runtime, LAMPS, turns, HORIZON, greedy, idle=np.ones(len(turns), np.bool_)).actions.size > len(turns)


@pytest.mark.parametrize("seed", range(3))
def test_those_that_have_ended_may_leave_the_batch(seed: int, monkeypatch: pytest.MonkeyPatch):
    """It makes no difference to those that go on."""
    turns, found, batches = lamp_turns(20), [], []
    for below in (0.0, 0.8, 2.0):
        monkeypatch.setattr(decoding, "COMPACT_BELOW", below)
        runtime = Random(seed)
        found.append(roll_out(runtime, LAMPS, turns, HORIZON, greedy, attention=True))
        batches.append(runtime.batches)
    never, sometimes, always = found
    assert batches[0] == [60] * len(never.states)
    assert sum(batches[0]) > sum(batches[1]) >= sum(batches[2]) == never.lengths.sum()
    for each in (sometimes, always):
        for name in ("states", "actions", "alive", "final", "stopped"):
            assert np.array_equal(getattr(never, name), getattr(each, name)), name
        assert np.allclose(each.log_probs[each.alive], never.log_probs[never.alive], atol=1e-5)


def test_attention_is_in_the_rows_of_its_turns(monkeypatch: pytest.MonkeyPatch):
    """Whatever has left the batch."""
    monkeypatch.setattr(decoding, "COMPACT_BELOW", 2.0)
    runtime, turns = Random(1), lamp_turns(20)
    together = roll_out(runtime, LAMPS, turns, HORIZON, greedy, attention=True)
    for row in range(len(turns)):
        alone = roll_out(runtime, LAMPS, turns.select(np.array([row])), HORIZON, greedy, attention=True)
        for number in range(int(together.lengths[row])):
            mine, own = together.attention[number]["any"], alone.attention[number]["any"]
            assert mine.over == own.over
            assert np.allclose(mine.weights[row], own.weights[0], atol=1e-5)
            assert mine.places[row].tolist() == own.places[0].tolist()
        for later in together.attention[int(together.lengths[row]) :]:
            assert not later["any"].weights[row].any()
            assert (later["any"].places[row] == -1).all()


def test_attention_is_not_asked_for_in_vain():
    assert roll_out(Random(), LAMPS, lamp_turns(), 3, greedy).attention[0] == {}


# Sampling.


def test_actions_are_drawn_by_their_probabilities():
    probabilities = np.array([0.5, 0.3, 0.2, 0.0], np.float32)
    with np.errstate(divide="ignore"):
        log_probs = np.log(np.tile(probabilities, (20_000, 1)))
    drawn = sampled(np.random.default_rng(1))(log_probs, 0)
    assert np.bincount(drawn, minlength=4) / len(drawn) == pytest.approx(probabilities, abs=0.02)
    assert 3 not in drawn


def test_whole_executions_are_drawn_by_their_probabilities():
    runtime, turns = Random(3), one_turn()
    many = turns.select(np.zeros(20_000, np.int64))
    drawn = roll_out(runtime, LAMPS, many, 2, sampled(np.random.default_rng(5)))
    paths, counts = np.unique(np.resize(drawn.actions, (2, len(many))).T, axis=0, return_counts=True)
    forced_paths = roll_out(runtime, LAMPS, turns.select(np.zeros(len(paths), np.int64)), 2, forced(paths))
    assert counts / len(many) == pytest.approx(np.exp(log_probability(forced_paths)), abs=0.015)


def test_the_same_generator_draws_the_same():
    turns = lamp_turns()
    one, other, third = (roll_out(Random(), LAMPS, turns, 4, sampled(np.random.default_rng(seed))) for seed in (1, 1, 2))
    assert np.array_equal(one.actions, other.actions)
    assert one.actions.shape != third.actions.shape or not np.array_equal(one.actions, third.actions)


# Beam search.


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_is_greedy(seed: int):
    runtime, turns = Random(seed), lamp_turns(10)
    execution = roll_out(runtime, LAMPS, turns, HORIZON, greedy)
    found = beam_search(runtime, LAMPS, turns, HORIZON, 1)
    steps = len(execution.actions)
    assert np.array_equal(found[:, :steps], execution.actions.T)
    assert (found[:, steps:] == STOP).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_wide_enough_finds_the_most_probable_execution(seed: int):
    runtime, turns, horizon = Random(seed), lamp_turns(), 3
    everything = np.array([path for path in product(range(BEGIN), repeat=horizon) if STOP in path and _padded(path)])
    assert len(everything) == 1 + 9 + 81  # all that end, with nothing but STOP after the first
    found = beam_search(runtime, LAMPS, turns, horizon, 1000)
    for row in range(len(turns)):
        alone = turns.select(np.full(len(everything), row))
        best = log_probability(roll_out(runtime, LAMPS, alone, horizon, forced(everything))).argmax()
        assert found[row].tolist() == everything[best].tolist()


def _padded(path: tuple[int, ...]) -> bool:
    return set(path[path.index(STOP) :]) == {STOP}


@pytest.mark.parametrize("width", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_narrow_beam_keeps_what_it_says(seed: int, width: int):
    """Against a search that holds its paths in lists, and scores each of them anew from its beginning."""
    runtime, turns, horizon = Random(seed), lamp_turns(2), 4
    found = beam_search(runtime, LAMPS, turns, horizon, width)
    for row in range(len(turns)):
        assert found[row].tolist() == _search(runtime, turns.select(np.array([row])), horizon, width)


def _search(runtime: Random, turn: Turns, horizon: int, width: int) -> list[int]:
    going: list[tuple[float, list[int]]] = [(0.0, [])]
    best_score, best = -np.inf, None
    for _ in range(horizon):
        extended = [(score + each, [*path, action]) for score, path in going for action, each in enumerate(_after(runtime, turn, path))]
        kept = sorted(extended, key=lambda entry: -entry[0])[:width]
        for score, path in kept:
            if path[-1] == STOP and score > best_score:
                best_score, best = score, path
        going = [entry for entry in kept if entry[1][-1] != STOP]
        if not going or best_score >= going[0][0]:
            break
    path = going[0][1] if best is None else best
    return [*path, *[STOP] * (horizon - len(path))]


def _after(runtime: Random, turn: Turns, path: list[int]) -> list[float]:
    encoded, state, previous = runtime.encode(turn), turn.initial, np.array([BEGIN])
    for action in path:
        encoded = list(runtime.step(encoded, state, previous).encoded)
        previous = np.array([action])
        state = LAMPS.step(state, previous)
    return runtime.step(encoded, state, previous).log_probs[0].astype(float).tolist()


def test_a_turn_is_searched_alike_alone_and_in_a_batch():
    runtime, turns = Random(3), lamp_turns()
    together = beam_search(runtime, LAMPS, turns, HORIZON, 4)
    for row in range(len(turns)):
        assert np.array_equal(beam_search(runtime, LAMPS, turns.select(np.array([row])), HORIZON, 4)[0], together[row])


def test_on_the_whole_a_beam_finds_more_probable_executions_than_greed():
    runtime, turns = Random(1, 0.7, stop=0.0), lamp_turns(20)
    found = [beam_search(runtime, LAMPS, turns, 8, width) for width in (1, 3, 30)]
    scores = [log_probability(roll_out(runtime, LAMPS, turns, 8, forced(actions))).mean() for actions in found]
    assert scores[0] < scores[1] <= scores[2]


def test_the_likelier_first_action_may_be_a_trap():
    runtime = Table(
        {BEGIN: {0: 0.6, 1: 0.4}, 0: {2: 0.3, 3: 0.3, 4: 0.4}, 1: {STOP: 0.9, 2: 0.1}, 2: {STOP: 1}, 3: {STOP: 1}, 4: {STOP: 1}}
    )
    assert beam_search(runtime, LAMPS, one_turn(), 5, 1).tolist() == [[0, 4, STOP, STOP, STOP]]
    assert beam_search(runtime, LAMPS, one_turn(), 5, 2).tolist() == [[1, STOP, STOP, STOP, STOP]]


def test_an_early_end_does_not_win_over_a_likelier_late_one():
    runtime = Table({BEGIN: {0: 0.7, STOP: 0.3}, 0: {1: 0.9, STOP: 0.1}, 1: {STOP: 0.9, 2: 0.1}})
    assert beam_search(runtime, LAMPS, one_turn(), 5, 3).tolist() == [[0, 1, STOP, STOP, STOP]]


def test_what_has_ended_is_preferred_at_the_horizon():
    runtime = Table({BEGIN: {0: 0.9, STOP: 0.1}, 0: {0: 1.0}})
    assert beam_search(runtime, LAMPS, one_turn(), 4, 2).tolist() == [[STOP] * 4]
    assert beam_search(runtime, LAMPS, one_turn(), 4, 1).tolist() == [[0] * 4]  # nothing has ended


def test_ties():
    """The earlier parent comes first, then the earlier action; of two that end, the one that ended first."""
    halves = {0: {STOP: 0.5, 2: 0.5}, 1: {STOP: 0.5, 2: 0.5}}
    assert beam_search(Table({BEGIN: {0: 0.5, 1: 0.5}, **halves}), LAMPS, one_turn(), 3, 2).tolist() == [[0, STOP, STOP]]
    late = {0: {1: 1.0}, 1: {STOP: 1.0}}
    assert beam_search(Table({BEGIN: {0: 0.5, STOP: 0.5}, **late}), LAMPS, one_turn(), 3, 3).tolist() == [[STOP] * 3]


def test_a_beam_wider_than_there_are_actions():
    runtime, turns = Random(2), lamp_turns(2)
    assert np.array_equal(beam_search(runtime, LAMPS, turns, 1, 500), beam_search(runtime, LAMPS, turns, 1, BEGIN))

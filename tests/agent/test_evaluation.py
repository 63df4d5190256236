"""Inst, 3utts and 5utts of a policy that plays given actions, against figures counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lamps import Lamps
from small_networks import random_network

from sestra.agent import evaluation
from sestra.agent.decoding import greedy, roll_out
from sestra.agent.evaluation import Evaluation
from sestra.agent.runtime import Encoded, Ensemble, Network, Runtime, Step, mean_log_probs
from sestra.data.batch import Turns, encode_turns
from sestra.data.scone import Interaction
from sestra.data.synthetic import generate
from sestra.data.vocabulary import SPECIAL, Vocabulary
from sestra.metrics import Accuracy
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import Tables, compile_world

TABLES = Tables(Lamps())
DARK = ("_", "_", "_")


class Script:
    """Plays the actions written down for each turn of each interaction, whatever the state, then STOP."""

    def __init__(self, script: dict[tuple[int, int], str], steps: int = 6) -> None:
        world = TABLES.world
        self.actions = {
            key: [world.action_indices[world.parse_action(text.strip())] for text in actions.split(",") if text.strip()]
            for key, actions in script.items()
        }
        self.steps = steps

    def encode(self, turns: Turns) -> list[Encoded]:
        last = turns.words[np.arange(len(turns)), turns.lengths - 1] - len(SPECIAL)  # [batch]: the interaction's number
        rows = [self.actions[key] for key in zip(last.tolist(), turns.turn.tolist(), strict=True)]
        actions = np.array([[*row, *[TABLES.stop] * (self.steps - len(row))] for row in rows])
        return [Encoded((actions,), (np.zeros(len(actions), np.int64),))]

    def step(self, encoded, states, previous, *, attention=False):
        [((actions,), (place,))] = encoded
        logits = np.zeros((len(place), TABLES.actions), np.float32)
        logits[np.arange(len(place)), actions[np.arange(len(place)), place]] = 5
        return Step(mean_log_probs([logits]), [Encoded((actions,), (place + 1,))], {})


def evaluate(runtime: Runtime, tables: Tables, turns: Turns, *, horizon: int, batch_size: int = 256, verbosity: float = 0.0) -> Evaluation:
    def execute(batch: Turns):
        return roll_out(runtime, tables, batch, horizon, greedy)

    return evaluation.evaluate(execute, tables, turns, batch_size=batch_size, verbosity=verbosity)


def interaction(*states, words: int = 2) -> Interaction:
    return Interaction("x", states, tuple(" ".join(["go"] * (number % 3 + words)) for number in range(len(states) - 1)))


def turns_of(*interactions: Interaction) -> Turns:
    """Each instruction ends with the number of its interaction, by which the script finds its actions."""
    numbered = [
        replace(each, instructions=tuple(f"{text} {number}" for text in each.instructions)) for number, each in enumerate(interactions)
    ]
    return encode_turns(numbered, Vocabulary((*map(str, range(9)), "go")), TABLES)


R, RR, RRG, RG = ("r", "_", "_"), ("r", "r", "_"), ("r", "r", "g"), ("r", "_", "g")
FIVE = interaction(DARK, R, RR, RRG, RG, R)
RIGHT = {0: "light 1 r", 1: "light 2 r", 2: "light 3 g", 3: "out 2", 4: "out 3"}


def test_all_right():
    result = evaluate(Script({(0, turn): actions for turn, actions in RIGHT.items()}), TABLES, turns_of(FIVE), horizon=5, verbosity=0.1)
    assert (result.inst, result.utts3, result.utts5) == (Accuracy(5, 5), Accuracy(1, 1), Accuracy(1, 1))
    assert result.by_turn == (Accuracy(1, 1),) * 5
    assert result.reward == pytest.approx(-0.1 + 1 + 1)  # one action a step closer, then STOP at the goal
    assert TABLES.decode(result.reached) == list(FIVE.states[1:])


def test_each_measure_counts_its_own():
    script = {
        # 0: all right.
        **{(0, turn): actions for turn, actions in RIGHT.items()},
        # 1: turn 1 wrong (lights 3, which turn 2 then cannot light): wrong until turn 3 takes 2 away that was never there.
        **{(1, turn): actions for turn, actions in {**RIGHT, 1: "light 3 g"}.items()},
        # 2: wrong in turn 4 alone.
        **{(2, turn): actions for turn, actions in {**RIGHT, 4: "out 1"}.items()},
        # 3: an invalid action before the right one harms nothing but the reward.
        **{(3, turn): actions for turn, actions in {**RIGHT, 0: "out 2, light 1 r"}.items()},
    }
    result = evaluate(Script(script), TABLES, turns_of(FIVE, FIVE, FIVE, FIVE), horizon=5, batch_size=3)
    assert result.inst == Accuracy(18, 20)
    assert result.by_turn == (Accuracy(4, 4), Accuracy(3, 4), Accuracy(4, 4), Accuracy(4, 4), Accuracy(3, 4))
    assert result.utts3 == Accuracy(3, 4)
    assert result.utts5 == Accuracy(3, 4)  # 1 ends right, since the mistake took itself back
    assert result.success.reshape(4, 5).tolist()[1] == [True, False, True, True, True]
    assert TABLES.decode(result.reached)[6] == ("r", "_", "g")


def test_a_turn_begins_where_the_policy_ended_the_one_before():
    """Inst starts from the annotated state, 5utts from the policy's own."""
    two = interaction(DARK, R, RR)
    script = Script({(0, 0): "", (0, 1): "light 2 r"})
    result = evaluate(script, TABLES, turns_of(two), horizon=5)
    assert result.inst == Accuracy(1, 2)
    assert result.utts5 == Accuracy(0, 1)
    assert result.utts3 == Accuracy(0, 0)


def test_interactions_of_different_length():
    one, three = interaction(DARK, R), interaction(DARK, R, RR, RRG)
    script = {(0, 0): "light 1 r", **{(1, turn): RIGHT[turn] for turn in range(3)}, **{(2, turn): "" for turn in range(5)}}
    result = evaluate(Script(script), TABLES, turns_of(one, three, FIVE), horizon=5)
    assert result.utts5 == Accuracy(2, 3)
    assert result.utts3 == Accuracy(1, 2)
    assert [accuracy.trials for accuracy in result.by_turn] == [3, 2, 2, 1, 1]


def test_horizon_ends_an_execution():
    script = Script({(0, 0): "light 1 g, out 1, light 1 r"})
    turns = turns_of(interaction(DARK, R))
    assert evaluate(script, TABLES, turns, horizon=3).inst == Accuracy(1, 1)
    short = evaluate(script, TABLES, turns, horizon=2)
    assert short.inst == Accuracy(0, 1)
    assert TABLES.decode(short.reached) == [DARK]


def test_reward_is_the_mean_over_instructions():
    script = Script({(0, 0): "light 1 r", (0, 1): "out 3"})
    result = evaluate(script, TABLES, turns_of(interaction(DARK, R, RR)), horizon=5, verbosity=0.25)
    first = (1 - 0.25) + 1.0
    second = (-1 - 0.25) - 1.0  # an invalid action, then STOP elsewhere
    assert result.reward == pytest.approx((first + second) / 2)


@pytest.mark.parametrize("batch_size", [1, 2, 7, 256])
def test_batch_size_changes_nothing(batch_size):
    data = [interaction(DARK, R, RR, RRG, words=number % 4 + 1) for number in range(6)]
    script = {(number, turn): RIGHT[turn] if (number + turn) % 4 else "" for number in range(6) for turn in range(3)}
    result = evaluate(Script(script), TABLES, turns_of(*data), horizon=5, batch_size=batch_size)
    assert result.success.reshape(6, 3).tolist() == [[bool((number + turn) % 4) for turn in range(3)] for number in range(6)]
    assert result.utts3 == result.utts5 == Accuracy(2, 6)


def test_an_unknown_state_between_known_ones_does_not_make_an_interaction_wrong():
    """As in SCONE's train-orig: such an interaction is not counted, but its single instructions are."""
    late = Interaction("x", (DARK, None, RR, RRG, RG), ("go",) * 4)  # only its third and fourth instruction have a start and a goal
    script = Script({(number, turn): actions for number in range(3) for turn, actions in RIGHT.items()})
    turns = turns_of(interaction(DARK, None, RR), late, interaction(DARK, R, RR, RRG))
    result = evaluate(script, TABLES, turns, horizon=5)
    assert result.inst == Accuracy(5, 5)
    assert result.utts3 == result.utts5 == Accuracy(1, 1)


@pytest.mark.parametrize("name", sorted(WORLDS.names()))
def test_interactions_end_where_they_do_if_every_turn_is_followed_anew(name):
    """Of one to five turns; some are annotated as the policy goes, some only in the end, after it went astray, and some differently."""
    tables = compile_world(get_world(name))
    data = [
        replace(each, states=each.states[: number % 5 + 2], instructions=each.instructions[: number % 5 + 1])
        for number, each in enumerate(generate(name, 30, seed=2))
    ]
    vocabulary = Vocabulary.of((text for each in data for text in each.instructions), 1)
    graphs = random_network(tables, len(vocabulary))
    runtime = Ensemble([Network(graphs.encode, graphs.step, "random")])
    ends = 0
    for number, each in enumerate(data):
        gone = [each.states[0]]
        for turn in range(len(each.instructions)):
            known = replace(each, states=(*gone, each.states[turn + 1]), instructions=each.instructions[: turn + 1])
            execution = roll_out(runtime, tables, encode_turns([known], vocabulary, tables), 3, greedy)
            gone.append(tables.decode(execution.final)[-1])
        annotated = {0: tuple(gone), 1: (*each.states[:-1], gone[-1]), 2: each.states}[number % 3]
        data[number] = replace(each, states=annotated)
        ends += annotated[-1] == gone[-1]
    result = evaluate(runtime, tables, encode_turns(data, vocabulary, tables), horizon=3)
    assert 20 <= ends < 30
    assert result.utts5 == Accuracy(ends, 30)

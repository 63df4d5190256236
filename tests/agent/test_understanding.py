"""What an agent does not understand it does not do; it says why, and what may have been meant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from lamps import Lamps

from sestra.agent import Agent, Context
from sestra.agent.calibration import Calibration
from sestra.agent.folder import About
from sestra.agent.runtime import Encoded, Step, mean_log_probs
from sestra.agent.understanding import describe_change
from sestra.data.batch import Turns
from sestra.data.vocabulary import SPECIAL, Vocabulary
from sestra.errors import InputError
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import Integers, compile_world

WORDS = ("first", "either", "hello", "red", "maybe")
DARK, LIT = "1:_ 2:_ 3:_", "1:r 2:_ 3:_"


class Opinionated:
    """A policy of lamps that knows five words; its scores are logarithms of what it is told to do with the last of them."""

    tables = compile_world(Lamps())

    def __init__(self) -> None:
        actions = self.tables.world.action_indices
        light = {slot: actions[self.tables.world.parse_action(f"light {slot} r")] for slot in (1, 2)}
        self.light, self.out = light, actions[self.tables.world.parse_action("out 1")]

    def encode(self, turns: Turns) -> list[Encoded]:
        last = turns.words[np.arange(len(turns)), turns.lengths - 1] - len(SPECIAL)
        return [Encoded((last, turns.initial), ())]

    def step(self, encoded: Sequence[Encoded], states: Integers, previous: Integers, *, attention: bool = False) -> Step:
        [((words, initial), _)] = encoded
        stop = self.tables.stop
        shares = np.full((len(words), self.tables.actions), 1e-9)
        for row, (word, now, before) in enumerate(zip(words.tolist(), states, initial, strict=True)):
            name = WORDS[word] if 0 <= word < len(WORDS) else "hello"
            chosen = {stop: 1.0}
            if (now == before).all():
                lit = now[0] != 0
                chosen = {
                    "first": {self.light[1]: 0.95, stop: 0.05},
                    "either": {self.light[1]: 0.45, self.light[2]: 0.45, stop: 0.1},
                    "hello": {stop: 1.0},
                    "red": {self.out: 0.9, stop: 0.1} if lit else {stop: 0.9, self.out: 0.1},
                    "maybe": {self.light[1]: 0.5, stop: 0.5 - 1e-3},
                }[name]
            for action, share in chosen.items():
                shares[row, action] = share
        return Step(mean_log_probs([np.log(shares).astype(np.float32)]), encoded, {})


@pytest.fixture
def agent(monkeypatch) -> Agent:
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)
    runtime = Opinionated()
    about = About("lamps", 5, 0.0, calibration=Calibration(caution=0.6))
    return Agent(runtime, runtime.tables, Vocabulary(WORDS), about, "opinionated")


def said(agent: Agent, instruction: str, state: str = DARK, **options):
    return agent.follow(state, [instruction], **options).turns[0]


def test_what_it_is_sure_of_it_does(agent) -> None:
    turn = said(agent, "first")
    assert (turn.understood, turn.reason, turn.readings, turn.end) == (True, None, (), LIT)
    assert turn.confidence == pytest.approx(0.95, abs=0.01)


def test_which_of_several(agent) -> None:
    turn = said(agent, "either")
    assert (turn.understood, turn.reason, turn.end, turn.actions) == (False, "which of several", DARK, ())
    assert [step.action for step in turn.steps] == ["stop"]
    assert turn.notes == ("Which one do you mean: slot 1 or slot 2?",)
    assert {reading.end for reading in turn.readings} == {LIT, "1:_ 2:r 3:_"}
    assert [reading.probability for reading in turn.readings] == pytest.approx([0.45, 0.45], abs=0.01)
    assert all(reading.actions[-1] == "stop" for reading in turn.readings)
    assert turn.confidence == pytest.approx(0.45, abs=0.01)


def test_unsure_with_one_reading(agent) -> None:
    turn = said(agent, "maybe")
    assert (turn.understood, turn.reason, turn.end) == (False, "unsure", DARK)
    assert [reading.end for reading in turn.readings] == [LIT]


def test_no_instruction_and_nothing_like_that_here(agent) -> None:
    assert said(agent, "hello").reason == "no instruction"
    nowhere = said(agent, "red")
    assert (nowhere.understood, nowhere.reason) == (False, "nothing like that here")
    assert said(agent, "red", LIT).understood


def test_unknown_words(agent) -> None:
    assert said(agent, "xyzzy").reason == "unknown words"
    assert said(agent, "xyzzy").readings == ()
    assert said(agent, "xyzzy either").reason == "unknown words"
    assert said(agent, "xyzzy first").understood, "a word that it does not know need not matter"


def test_caution_is_a_setting(agent) -> None:
    assert said(agent, "either", caution=0).actions == ("light 1 r",)
    assert said(agent, "either", caution=0.4).understood
    assert not said(agent, "first", caution=1).understood
    agent.caution = 0
    assert said(agent, "maybe").understood
    assert not said(agent, "hello").understood, "it did nothing, whatever the caution"
    with pytest.raises(InputError, match="caution"):
        said(agent, "first", caution=1.5)


def test_a_reading_is_chosen_and_later_turns_know_of_it(agent) -> None:
    session = agent.start(DARK)
    refused = session.do("either")
    chosen = session.choose(refused.readings[1])
    assert (chosen.understood, chosen.end) == (True, refused.readings[1].end)
    assert session.turns == [chosen]
    assert session.context("first") == Context((DARK, chosen.end), ("either", "first"))
    with pytest.raises(InputError, match="no such reading"):
        session.choose(refused.readings[0])


def test_what_was_not_understood_is_as_if_it_had_not_been_said(agent) -> None:
    session = agent.start(DARK)
    session.do("hello")
    assert session.context("first") == Context((DARK,), ("first",))
    trace = agent.follow(DARK, ["either", "first"])
    assert [turn.understood for turn in trace.turns] == [False, True]
    assert trace.final_state == LIT


def test_a_batch_is_as_its_turns_alone(agent) -> None:
    words = ["first", "either", "hello", "red", "maybe", "xyzzy"]
    together = agent.follow_many([(DARK, [word]) for word in words])
    assert [trace.turns[0].reason for trace in together] == [said(agent, word).reason for word in words]


def test_without_a_calibration_every_instruction_is_followed(agent) -> None:
    plain = Agent(Opinionated(), agent.tables, agent.vocabulary, About("lamps", 5, 0.0), "plain")
    assert said(plain, "either").understood


def test_a_change_in_words() -> None:
    world = get_world("alchemy")
    before, after = (world.parse(text) for text in ("1:g 2:_ 3:gg 4:_ 5:_ 6:_ 7:_", "1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_"))
    pop = world.action_indices[world.parse_action("pop 3")]
    assert describe_change(world, before, after, [pop, pop, len(world.actions) - 1]) == "beaker 3: empty"
    tangrams = get_world("tangrams")
    row, shorter = tangrams.parse("1:0 2:1 3:2 4:3 5:4"), tangrams.parse("1:1 2:2 3:3 4:4")
    removed = tangrams.action_indices[tangrams.parse_action("remove 1")]
    assert "place 1" in describe_change(tangrams, row, shorter, [removed])

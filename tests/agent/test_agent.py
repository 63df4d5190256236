"""The agent as other programs use it."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from agents import STATES, Obedient, obedient_agent, random_agent
from lamps import Lamps

from sestra.agent import Agent, Context
from sestra.agent.folder import About
from sestra.agent.parsing import as_turns
from sestra.agent.trace import Attention, Trace, Weight, Word
from sestra.data.batch import encode_turns
from sestra.data.synthetic import generate
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.worlds import WORLDS

NAMES = sorted(STATES)
DARK = "1:_ 2:_ 3:_"


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)


@pytest.fixture
def obedient(lamps) -> Agent:
    return obedient_agent()


@pytest.fixture(scope="module", params=NAMES)
def agent(request) -> Agent:
    return random_agent(request.param)


def interactions(agent: Agent, count: int = 8) -> list[tuple[str, tuple[str, ...]]]:
    """Generated ones of different lengths."""
    data = generate(agent.world.name, count, seed=3)
    return [(agent.world.format(each.states[0]), each.instructions[: number % 5 + 1]) for number, each in enumerate(data)]


def contexts_of(traces: list[Trace]) -> list[Context]:
    """Of each turn; earlier ones that were not understood are left out."""
    found = []
    for trace in traces:
        for number, turn in enumerate(trace.turns):
            turns = [*(each for each in trace.turns[:number] if each.understood), turn]
            found.append(Context(tuple(each.start for each in turns), tuple(each.instruction for each in turns)))
    return found


def assert_alike(one: Trace, other: Trace) -> None:
    """Equal, but for rounding in the last digits."""
    _compare(one.to_json(), other.to_json())


def _compare(one, other) -> None:
    if isinstance(one, float):
        assert one == pytest.approx(other, abs=1e-3)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            if key == "alternatives":  # two that are equally probable may stand either way
                _compare([each["probability"] for each in one[key]], [each["probability"] for each in other[key]])
            else:
                _compare(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            _compare(mine, theirs)
    else:
        assert one == other


# What is done, and what is told of it.


def test_actions_states_and_ends(obedient):
    trace = obedient.follow(DARK, ["light1r light3g", "out1"])
    first, second = trace.turns
    assert (trace.world, trace.start, trace.final_state) == ("lamps", DARK, "1:_ 2:_ 3:g")
    assert first.actions == ("light 1 r", "light 3 g")
    assert [step.action for step in first.steps] == ["light 1 r", "light 3 g", "stop"]
    assert [step.state for step in first.steps] == ["1:r 2:_ 3:_", "1:r 2:_ 3:g", "1:r 2:_ 3:g"]
    assert (first.start, first.end, first.stopped, first.notes) == (DARK, "1:r 2:_ 3:g", True, ())
    assert (second.start, second.end, second.actions) == (first.end, "1:_ 2:_ 3:g", ("out 1",))
    assert second.instruction == "out1"


def test_probabilities_and_alternatives(obedient):
    step = obedient.follow(DARK, ["light1r"]).turns[0].steps[0]
    total = math.e**3 + math.e**2 + 8
    assert step.probability == pytest.approx(math.e**3 / total)
    assert len(step.alternatives) == 5
    assert step.alternatives[0].action == "light 1 g"
    assert step.alternatives[0].probability == pytest.approx(math.e**2 / total)
    assert [each.probability for each in step.alternatives[1:]] == pytest.approx([1 / total] * 4)
    assert step.action not in {each.action for each in step.alternatives}


def test_attention_lies_on_the_words_and_not_on_marks(obedient):
    second = obedient.follow(DARK, ["light1r out2", "out1 light2g"]).turns[1]
    for step, weights in zip(second.steps, ([0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]), strict=True):
        heads = (tuple(map(Weight, ("light1r", "out2", "out1", "light2g"), weights)),)
        assert step.attention == (Attention("obeyed", "words", heads),)


def test_the_horizon_is_told(obedient):
    cut = obedient.follow(DARK, ["light1r out1 light1g"], horizon=2).turns[0]
    assert cut.actions == ("light 1 r", "out 1")
    assert not cut.stopped
    assert any("2 actions" in note for note in cut.notes)
    assert not obedient.follow(DARK, ["out1 " * 5]).turns[0].stopped  # the configuration's five
    assert obedient.follow(DARK, ["out1 " * 4]).turns[0].stopped


def test_misspelt_and_unknown_words_are_told(obedient):
    turn = obedient.follow(DARK, ["out1 stpo glorpf!"]).turns[0]
    assert turn.words == (Word("out1", "out1", True), Word("stpo", "stop", True), Word("glorpf", "<unknown>", False))
    assert any("“stpo”" in note and "“stop”" in note for note in turn.notes)
    assert any("“glorpf”" in note for note in turn.notes)
    assert not any("!" in note for note in turn.notes)
    assert obedient.follow(DARK, ["out1"]).turns[0].notes == ()


def test_a_note_about_many_or_long_words_is_short(obedient):
    turn = obedient.follow(DARK, [" ".join(f"{'z' * 180}{number}" for number in range(5))]).turns[0]
    assert max(map(len, turn.notes)) < 400
    turn = obedient.follow(DARK, [" ".join(f"word{number}" for number in range(130))]).turns[0]
    assert max(map(len, turn.notes)) < 400


def test_what_the_policy_is_given_is_what_training_gives_it(agent):
    """But for the goals, which nobody knows."""
    data = generate(agent.world.name, 6, seed=5)  # of which the vocabulary has all words
    expected = encode_turns(data, agent.vocabulary, agent.tables)
    contexts = [
        Context(tuple(map(agent.world.format, each.states[: number + 1])), each.instructions[: number + 1])
        for each in data
        for number in range(len(each.instructions))
    ]
    readings = [agent._parser.parse(context) for context in contexts]
    assert all(word.known and word.text == word.read_as for reading in readings for word in reading.words)
    given = as_turns(readings, agent.tables)
    for name in ("words", "lengths", "current", "history", "turn", "initial"):
        assert np.array_equal(getattr(given, name), getattr(expected, name)), name
    reached = agent.tables.decode(agent.execute(expected).final)
    assert [turn.end for turn in agent.take_turns(contexts)] == [agent.world.format(state) for state in reached]


# One, many, a turn at a time.


@pytest.mark.parametrize("how", ["greedy", "beam"])
def test_many_are_as_each_alone(agent, how):
    given = interactions(agent)
    for together, (state, instructions) in zip(agent.follow_many(given, how=how), given, strict=True):
        assert len(together.turns) == len(instructions)
        assert_alike(together, agent.follow(state, instructions, how=how))


def test_a_turn_is_as_in_the_interaction(agent):
    traces = agent.follow_many(interactions(agent))
    turns = agent.take_turns(contexts_of(traces))
    begun = iter(turns)
    for trace in traces:
        assert_alike(dataclasses.replace(trace, turns=tuple(next(begun) for _ in trace.turns)), trace)


def test_more_than_fit_into_one_call(obedient, monkeypatch):
    monkeypatch.setattr("sestra.agent.agent.MAX_BATCH", 3)
    given = [(DARK, [f"light{number % 3 + 1}r"]) for number in range(8)]
    assert [trace.turns[0].actions for trace in obedient.follow_many(given)] == [(f"light {number % 3 + 1} r",) for number in range(8)]


def test_nothing_to_do(obedient):
    assert obedient.follow(DARK, []) == Trace("lamps", DARK)
    assert obedient.follow_many([]) == []
    assert obedient.take_turns([]) == []


def test_an_interaction_turn_by_turn(agent):
    state, instructions = interactions(agent)[4]
    interaction = agent.start(state)
    assert (interaction.state, interaction.trace) == (state, Trace(agent.world.name, state))
    for instruction in instructions:
        turn = interaction.do(instruction)
        assert interaction.state == turn.end
    whole = agent.follow(state, instructions)
    assert_alike(interaction.trace, whole)
    undone = interaction.undo()
    assert undone is turn
    assert interaction.state == whole.turns[-1].start
    interaction.do("something else")
    interaction.undo()
    interaction.do(instructions[-1])  # nothing is left of what was undone
    assert_alike(interaction.trace, whole)


def test_undo_at_the_start(obedient):
    with pytest.raises(InputError, match="no turn to undo"):
        obedient.start(DARK).undo()


def test_a_failed_turn_leaves_the_interaction_as_it_was(obedient):
    interaction = obedient.start(DARK)
    interaction.do("light1r")
    with pytest.raises(InputError):
        interaction.do("")
    assert interaction.state == "1:r 2:_ 3:_"


# Sampling and search.


def test_the_same_seed_gives_the_same_trace(agent):
    state, instructions = interactions(agent)[4]
    traces = [agent.follow(state, instructions, how="sample", seed=seed) for seed in (7, 7, *range(8, 16))]
    assert traces[0] == traces[1]
    assert len({tuple(turn.actions for turn in trace.turns) for trace in traces}) > 1
    interaction = agent.start(state, how="sample", seed=7)
    for instruction in instructions:
        interaction.do(instruction)
    assert interaction.trace == traces[0]


def test_without_a_seed_samples_differ(obedient):
    context = Context((DARK,), ("light1r light2r light3r light1g",))
    assert len({obedient.take_turns([context], how="sample")[0].actions for _ in range(20)}) > 1


def test_actions_are_drawn_by_their_probabilities(obedient):
    turns = obedient.take_turns([Context((DARK,), ("light1r",))] * 4000, how="sample", seed=1, horizon=1)
    drawn = Counter(turn.steps[0].action for turn in turns)
    total = math.e**3 + math.e**2 + 8
    for action, score in (("light 1 r", 3), ("light 1 g", 2), ("stop", 0)):
        share = math.e**score / total
        assert drawn[action] / 4000 == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 4000))
        assert all(turn.steps[0].probability == pytest.approx(share) for turn in turns if turn.steps[0].action == action)


def test_a_beam_of_one_is_greedy(agent):
    for state, instructions in interactions(agent):
        assert agent.follow(state, instructions, how="beam", beam=1) == agent.follow(state, instructions)


# Attention.


EXPECTED = {
    "alchemy-sestra": {"current": 1, "previous": 1, "initial": 2, "state": 2},
    "alchemy": {"words": 4, "changes": 4, "objects": 4},
}
"""What agents attend to, and with how many heads."""


@pytest.mark.parametrize("name", EXPECTED)
def test_attention_is_labelled_alike_alone_and_in_a_batch(name):
    agent = Agent.from_pretrained(name)
    words = ["throw out the first beaker", "then", "pour it into the last green one", "mix"]
    state = STATES["alchemy"]
    given = [(state, words[: number + 1]) for number in range(4)] + [(state, words[:0:-1])]
    for together, (_, instructions) in zip(agent.follow_many(given), given, strict=True):
        assert_alike(together, agent.follow(state, instructions))
        for number, turn in enumerate(together.turns):
            understood = [each for each in together.turns[:number] if each.understood]
            earlier, now = ([word.text for each in turns for word in each.words] for turns in (understood, [turn]))
            labels = {"current": now, "previous": earlier, "words": earlier + now}
            for step in turn.steps:
                assert {attended.name: len(attended.heads) for attended in step.attention} == EXPECTED[name]
                for attended in step.attention:
                    assert attended.over == ("words" if attended.name in labels else "objects")
                    for head in attended.heads:
                        assert [each.label for each in head] == labels.get(attended.name, list("1234567"))
                        if attended.name in ("current", "initial", "state"):
                            assert sum(each.weight for each in head) == pytest.approx(1, abs=1e-3)


def test_attention_over_a_row_that_grows_empty():
    agent = Agent.from_pretrained("tangrams-sestra")
    first = agent.take_turns([Context(("1:3",), ("take it away",)), Context(("",), ("take it away",))])
    for turn in first:
        [initial] = [attended for attended in turn.steps[0].attention if attended.name == "initial"]
        for head in initial.heads:
            weights = {each.label: each.weight for each in head}
            assert list(weights) == list("12345")
            assert weights["1"] == pytest.approx(1)


def test_an_agent_without_attention():
    class Silent(Obedient):
        def step(self, encoded, states, previous, *, attention=False):
            return super().step(encoded, states, previous)

    agent = Agent(Silent(), Obedient.tables, Vocabulary(Obedient.words), About("lamps", 5, 0.0), "silent")
    [turn] = agent.follow(DARK, ["light1r out1"]).turns
    assert turn.actions == ("light 1 r", "out 1")
    assert [step.attention for step in turn.steps] == [(), (), ()]


def test_what_is_not_from_a_folder_cannot_be_saved(obedient, tmp_path):
    with pytest.raises(InputError, match="was not loaded from a folder"):
        obedient.save_pretrained(tmp_path / "agent")
    assert not (tmp_path / "agent").exists()


@pytest.mark.parametrize("how", ["greedy", "sample", "beam"])
def test_what_is_not_understood_is_not_acted_on(how):
    agent = Agent.from_pretrained("alchemy")
    first, second = agent.follow(
        "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_", ["blorp zxqvw!", "throw out the first beaker blorp"], how=how, seed=1
    ).turns
    assert [step.action for step in first.steps] == ["stop"]
    assert first.end == first.start
    assert first.notes == ("The agent does not know “blorp”, “zxqvw” and did nothing.",)
    assert second.end != second.start
    assert second.notes == ("The agent does not know “blorp” and could make no use of it.",)

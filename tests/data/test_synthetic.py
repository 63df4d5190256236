"""The grammars: what they write is valid, true, unambiguous, varied, and the same for the same seed."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lamps import Lamps

from sestra.data import scone, synthetic
from sestra.data.grammar import Context, Phenomenon, Phrase, Speaker, Turn
from sestra.errors import InputError
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import compile_world

worlds = pytest.mark.parametrize("world", WORLDS.names())
HORIZON = {"alchemy": 7, "scene": 5, "tangrams": 5}  # the paper's M, STOP included


def contexts(world, count, seed=0, turns=5):
    return list(islice(synthetic.annotated(world, seed=seed, turns=turns), count))


@worlds
def test_the_same_seed_writes_the_same_and_a_smaller_count_the_first_of_it(world):
    many = synthetic.generate(world, 30, seed=5)
    assert synthetic.generate(world, 30, seed=5) == many
    assert synthetic.generate(world, 10, seed=5) == many[:10]
    other = synthetic.generate(world, 30, seed=6)
    assert not {i.instructions for i in many} & {i.instructions for i in other}


@worlds
def test_identifiers_and_turns(world):
    interactions = synthetic.generate(world, 3, seed=0, turns=2, prefix="mine")
    assert [i.id for i in interactions] == ["mine-0", "mine-1", "mine-2"]
    assert all(len(i.instructions) == 2 and len(i.states) == 3 for i in interactions)


@worlds
def test_splits_are_disjoint(world, monkeypatch):
    monkeypatch.setattr(synthetic, "TRAIN", 500)
    splits = synthetic.splits(world)
    assert {name: len(part) for name, part in splits.items()} == {"train": 500, "dev": 200}
    keys = {name: {(i.states, i.instructions) for i in part} for name, part in splits.items()}
    assert not keys["train"] & keys["dev"]
    assert len({i.id for part in splits.values() for i in part}) == 700
    assert synthetic.splits(world, seed=1)["dev"] != splits["dev"]


@worlds
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**12), turns=st.integers(1, 30))
def test_every_interaction_is_valid(world, seed, turns):
    rules = get_world(world)
    for interaction in synthetic.generate(world, 2, seed=seed, turns=turns):
        assert len(interaction.instructions) == turns
        for instruction, start, goal in interaction.turns():
            assert start != goal
            assert re.fullmatch(r"[a-z0-9,/ ]+", instruction), instruction
            assert "  " not in instruction
            assert instruction == instruction.strip()
        for state in interaction.states:
            assert rules.parse(rules.format(state)) == state


@worlds
def test_files_read_back(world, tmp_path):
    path, rules = tmp_path / f"{world}-generated.tsv", get_world(world)
    interactions = synthetic.generate(world, 200, seed=3)
    scone.write(path, rules, interactions)
    assert scone.read(path, rules) == interactions


@worlds
def test_goals_are_within_the_papers_horizon(world):
    tables = compile_world(get_world(world))
    turns = [turn for interaction in synthetic.generate(world, 400, seed=1) for turn in interaction.turns()]
    steps = tables.steps_to_go(tables.encode(start for _, start, _ in turns), tables.encode(goal for *_, goal in turns))
    assert steps.min() >= 1
    assert steps.max() < HORIZON[world]


LEAST = {  # rates of the phenomena that SCONE shows
    "alchemy": {"pronoun": 0.08, "the last one": 0.03, "same again": 0.05, "ellipsis": 0.02, "put it back": 0.01},
    "scene": {"pronoun": 0.2, "the last one": 0.01, "the other one": 0.01, "same again": 0.02, "ellipsis": 0.05, "put it back": 0.02},
    "tangrams": {"pronoun": 0.06, "the last one": 0.05, "same again": 0.08, "ellipsis": 0.01, "put it back": 0.1, "earlier step": 0.05},
}
SHOWN_BY = {
    Phenomenon.PRONOUN: {"it", "its", "he", "she", "him", "her", "his", "they", "them", "that", "this", "same"},
    Phenomenon.LAST_ONE: {"last"},
    Phenomenon.OTHER_ONE: {"other"},
    Phenomenon.SAME_AGAIN: {"same", "again", "repeat", "identical", "like", "does", "that", "too", "well", "now", "then"},
    Phenomenon.PUT_BACK: {"back", "undo", "reverse", "again", "returns", "return", "replace", "old", "previous"},
    Phenomenon.STEP: {"step"},
}


@worlds
def test_discourse_phenomena_occur_and_show(world):
    turns = [turn for context in contexts(world, 1000) for turn in context.turns]
    counts = Counter(phenomenon for turn in turns for phenomenon in turn.instruction.phenomena)
    assert {name: counts[name] / len(turns) for name, least in LEAST[world].items() if counts[name] / len(turns) < least} == {}
    for turn in turns:
        for phenomenon in turn.instruction.phenomena & SHOWN_BY.keys():
            assert set(turn.instruction.words.split()) & SHOWN_BY[phenomenon], turn.instruction


@worlds
def test_nothing_leans_on_a_past_that_is_not_there(world):
    leaning = {Phenomenon.SAME_AGAIN, Phenomenon.ELLIPSIS, Phenomenon.PUT_BACK, Phenomenon.STEP}
    first = [context.turns[0].instruction for context in contexts(world, 1000, turns=1)]
    assert [phrase for phrase in first if phrase.phenomena & leaning] == []


@worlds
def test_an_instruction_means_one_thing_in_its_context(world):
    """Whatever a grammar could say next, it never says the same words with two goals."""
    repeated = 0
    for context in contexts(world, 12, seed=2, turns=3):
        rng, goals = Random(0), {}
        for _ in range(1000):
            turn = synthetic.next_turn(get_world(world).grammar(), world, context, rng)
            words = turn.instruction.words
            repeated += words in goals
            assert goals.setdefault(words, turn.state) == turn.state, (context, words)
    assert repeated > 1500  # the same words do come up again


# What comes from outside.


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"world": "chess"}, "unknown world 'chess'"),
        ({"count": 0}, "count=0; .* from 1 to"),
        ({"count": -3}, "count=-3"),
        ({"count": 10**9}, "count=1000000000"),
        ({"count": 2.5}, "count=2.5"),
        ({"count": True}, "count=True"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": "x"}, "seed='x'"),
        ({"turns": 0}, "turns=0"),
        ({"turns": 1000}, "turns=1000"),
    ],
)
def test_nonsense_is_refused(arguments, expected):
    with pytest.raises(InputError, match=expected):
        synthetic.generate(**{"world": "scene", "count": 1, "seed": 0, **arguments})
    with pytest.raises(InputError, match="seed=-2"):
        synthetic.splits("scene", seed=-2)


def press(context, rng):
    return Turn(Phrase("press it"), ("r" if context.state[0] == "_" else "_", "_", "_"), None)


def test_a_world_of_ones_own(monkeypatch):
    with pytest.raises(InputError, match="'lamps' has no grammar"):
        synthetic.generate(Lamps(), 1, seed=0)
    dark = Context((("_",) * 3,), Speaker({}, digits=False, terse=False, chatty=0))
    grammar = SimpleNamespace(start=lambda rng: dark, RULES={press: 1.0})
    monkeypatch.setattr(Lamps, "grammar", lambda self: grammar)
    (interaction,) = synthetic.generate(Lamps(), 1, seed=0, turns=2)
    assert interaction.states == (("_", "_", "_"), ("r", "_", "_"), ("_", "_", "_"))
    assert interaction.instructions == ("press it", "press it")
    grammar.RULES = {lambda context, rng: None: 1.0}
    with pytest.raises(InputError, match="nothing to say after 0 turns"):
        synthetic.generate(Lamps(), 1, seed=0)

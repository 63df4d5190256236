"""Turns as JSON text: the same JSON as that of their plain values, for every agent."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import replace

import pytest
from agents import STATES, random_agent

from sestra.agent.trace import Alternative, Attention, Labelled, Step, Turn, Weight, Word
from sestra.agent.trace_json import turn_to_json

INSTRUCTIONS = ("throw out the first one", '100% of “it” \\ "now"', "moove it")
LABELLED = Labelled(("a", '50% "b"', "%s"), [[0.25, 0.5, 0.25], [0.0, 1.0, 0.0]])
HEADS = (
    (Weight("a", 0.25), Weight('50% "b"', 0.5), Weight("%s", 0.25)),
    (Weight("a", 0.0), Weight('50% "b"', 1.0), Weight("%s", 0.0)),
)


def turn(*attention: Attention) -> Turn:
    step = Step("push 1 g", 0.75, (Alternative("pop 2", 1e-7),), attention, "1:g")
    return Turn("push", (Word("push", "push", known=True),), "1:_", "1:g", stopped=False, notes=("“x” is new.",), steps=(step, step))


@pytest.mark.parametrize("world", sorted(STATES))
def test_it_is_the_json_of_the_plain_values(world: str):
    for each in random_agent(world).follow(STATES[world], INSTRUCTIONS).turns:
        assert json.loads(turn_to_json(each)) == each.to_json()


def test_attention_that_was_made_in_either_way():
    deferred, made = (turn(Attention.of("words % now", "words", LABELLED)), turn(Attention("words % now", "words", HEADS)))
    assert json.loads(turn_to_json(deferred)) == json.loads(turn_to_json(made)) == made.to_json()
    both = turn(Attention.of("words", "words", LABELLED), Attention("state", "objects", HEADS))
    assert json.loads(turn_to_json(both)) == both.to_json()
    assert json.loads(turn_to_json(turn())) == turn().to_json()


def test_what_differs_from_step_to_step():
    first = turn(Attention.of("words", "words", LABELLED)).steps[0]
    others = [(Attention.of("words", "words", Labelled(("c",), [[1.0]])),), (), (Attention.of("more", "objects", LABELLED),) * 2]
    several = replace(turn(), steps=(first, *(replace(first, attention=each) for each in others), first))
    assert json.loads(turn_to_json(several)) == several.to_json()


def test_numbers_that_json_does_not_have():
    wrong = turn(Attention.of("words", "words", Labelled(("a",), [[math.nan], [math.inf]])))
    assert json.loads(turn_to_json(wrong)) == wrong.to_json()
    assert b"NaN" not in turn_to_json(wrong)


def test_attention_is_the_same_however_and_whenever_it_is_made():
    deferred, made = Attention.of("words", "words", LABELLED), Attention("words", "words", HEADS)
    assert Attention.of("words", "words", LABELLED) == made
    assert hash(deferred) == hash(made)
    assert repr(deferred) == repr(made)
    assert deferred.heads is deferred.heads
    for copied in (copy.deepcopy(Attention.of("words", "words", LABELLED)), pickle.loads(pickle.dumps(deferred))):
        assert copied == made
    with pytest.raises(AttributeError, match="no attribute 'tails'"):
        made.tails  # type: ignore[attr-defined]  # noqa: B018

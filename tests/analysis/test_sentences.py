"""The hand-written sentences: every file is whole, and every expected state can be reached."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import sestra.worlds
from sestra.analysis.checks.check import Check, read_sentences
from sestra.errors import InputError
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

WORLDS = ("alchemy", "scene", "tangrams")
HORIZON = 20
"""The most actions that shipped agents take."""


def file(world: str) -> Path:
    return Path(sestra.worlds.__file__).parent / world / "sentences.json"


@pytest.fixture(params=WORLDS)
def world(request):
    return get_world(request.param)


@pytest.fixture
def sentences(world) -> tuple[Check, ...]:
    return read_sentences(file(world.name), world)


def test_enough_of_each_kind(sentences):
    assert len(sentences) >= 100
    kinds = Counter(check.kind for check in sentences)
    assert kinds["followable"] >= 70
    assert all(kinds[kind] >= 5 for kind in ("no instruction", "not there", "unknown deed", "ambiguous"))


def test_halves_are_alike(sentences):
    for capability in {check.capability for check in sentences}:
        halves = Counter(check.half for check in sentences if check.capability == capability)
        assert abs(halves["tune"] - halves["report"]) <= 1, capability


def test_no_sentence_twice(sentences):
    assert len({check.context for check in sentences}) == len(sentences)


def test_states_are_written_as_the_world_writes_them(world, sentences):
    for check in sentences:
        for state in (*check.states, check.goal, *check.readings):
            assert world.format(world.parse(state)) == state


def test_something_is_done_where_it_should_and_nothing_elsewhere(sentences):
    for check in sentences:
        assert (check.goal != check.start) == check.followable, check.sentence
        assert bool(check.why or check.readings) != check.followable, check.sentence
        assert bool(check.readings) == (check.kind == "ambiguous"), check.sentence
        assert len(set(check.readings) | {check.start}) == len(check.readings) + 1, check.sentence
        assert all(before != after for before, after in zip(check.states, check.states[1:], strict=False)), check.sentence


def test_expected_states_can_be_reached(world, sentences):
    tables = compile_world(world)
    for check in sentences:
        for goal in (check.goal, *check.readings):
            now, wanted = (tables.encode([world.parse(state)]) for state in (check.start, goal))
            assert 0 <= tables.steps_to_go(now, wanted)[0] <= HORIZON - 1, check.sentence


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"states": ["1:0 2:1"]}, "1 states for 2 instructions"),
        ({"goal": "1:0 2:0"}, "stands 2 times"),
        ({"half": None}, "no half"),
        ({"kind": "odd"}, "kind is 'odd'"),
        ({"expected": "1:0"}, "unknown field 'expected'"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path, change, said):
    right = {
        "half": "tune",
        "kind": "followable",
        "capability": "place",
        "states": ["1:0 2:1", "1:1"],
        "instructions": ["remove the first", "again"],
        "goal": "",
    }
    path = tmp_path / "sentences.json"
    path.write_text(json.dumps([right]))
    assert read_sentences(path, get_world("tangrams"))[0].sentence == "again"
    path.write_text(json.dumps([right | change]))
    with pytest.raises(InputError, match="sentence 1") as error:
        read_sentences(path, get_world("tangrams"))
    assert said in str(error.value)

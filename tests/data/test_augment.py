"""Renamings: rules stay the same, words and states go together."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from sestra.data.augment import SymbolRenamings
from sestra.data.batch import encode_turns
from sestra.data.scone import Interaction
from sestra.data.vocabulary import Vocabulary
from sestra.worlds import WORLDS, get_world
from sestra.worlds.tables import compile_world

TEXTS = ["pour the green beaker into the red one's neighbour", "violet greens mix with purple yellow orange brown"]
ALCHEMY = compile_world(get_world("alchemy"))
START, MIDDLE, END = (
    get_world("alchemy").parse(text)
    for text in ("1:g 2:rr 3:_ 4:_ 5:_ 6:_ 7:_", "1:_ 2:rrg 3:_ 4:_ 5:_ 6:_ 7:_", "1:_ 2:bbb 3:_ 4:_ 5:_ 6:_ 7:_")
)
VOCABULARY = Vocabulary.of(TEXTS, 1)
TURNS = encode_turns([Interaction("x", (START, MIDDLE, END), tuple(TEXTS))], VOCABULARY, ALCHEMY)


@pytest.mark.parametrize("name", WORLDS.names())
def test_the_rules_are_the_same_under_every_renaming(name: str):
    """Renaming the content and then editing gives what editing and then renaming does, if the edit is renamed too; and distances stay."""
    world, tables = get_world(name), compile_world(get_world(name))
    renamings = SymbolRenamings(tables, VOCABULARY)
    orders = list(permutations(world.interchangeable))
    for number in range(0, len(orders), max(1, len(orders) // 7)):
        names = dict(zip(world.interchangeable, orders[number], strict=True))
        contents = renamings.contents[number]
        edits = [
            next(place for place, other in enumerate(world.edits) if other == type(edit)(edit.kind, renamed))
            for edit in world.edits
            for renamed in [tuple(_renamed(argument, names, name, place) for place, argument in enumerate(edit.arguments))]
        ]
        assert np.array_equal(tables.next[contents][:, edits], contents[tables.next])
        assert np.array_equal(tables.valid[contents][:, edits], tables.valid)
        assert np.array_equal(tables.distance[contents][:, contents], tables.distance)


def _renamed(argument: str, names: dict[str, str], world: str, place: int) -> str:
    return argument if world == "tangrams" and place == 0 else names.get(argument, argument)  # a position of the row is no figure


def test_words_and_states_are_renamed_alike():
    renamings = SymbolRenamings(ALCHEMY, VOCABULARY)
    seen = set()
    for number in range(len(renamings)):
        renamed = renamings.rename(TURNS, np.full(len(TURNS), number))
        words = VOCABULARY.decode(renamed.words[0, : renamed.lengths[0]].tolist())
        first, second = ALCHEMY.decode(renamed.history[0])[0][:2]
        spoken = {"green": "g", "red": "r", "orange": "o", "purple": "p", "yellow": "y"}
        assert spoken[words[3]] == first
        assert second in ("".join(2 * [colour]) for colour in "gropy")
        assert ALCHEMY.decode(renamed.goal)[1][1] == "bbb"  # brown is what mixing makes
        seen.add(first)
    assert seen == set("gropy")


def test_what_is_not_a_name_stays():
    renamed = SymbolRenamings(ALCHEMY, VOCABULARY).rename(TURNS, np.full(len(TURNS), 3))
    words = VOCABULARY.decode(renamed.words[1, : renamed.lengths[1]].tolist())
    assert [word for word in words if word in {"pour", "the", "beaker", "into", "mix", "brown", "with"}] == [
        "pour", "the", "beaker", "into", "the", "mix", "with", "brown",
    ]  # fmt: skip
    assert np.array_equal(renamed.lengths, TURNS.lengths)


def test_a_missing_ending_gives_way_to_the_plain_name():
    """'greens' is known, 'reds' is not: the plural becomes 'red', and never an unknown word."""
    renamings = SymbolRenamings(ALCHEMY, VOCABULARY)
    greens = VOCABULARY.encode("greens")[0]
    assert set(renamings.words[:, greens].tolist()) == set(VOCABULARY.encode("greens red orange purple yellow"))


def test_a_synonym_becomes_the_usual_name():
    renamings = SymbolRenamings(ALCHEMY, VOCABULARY)
    violet = VOCABULARY.encode("violet")[0]
    assert set(renamings.words[:, violet].tolist()) == set(VOCABULARY.encode("violet red green orange yellow"))


def test_each_turn_has_its_own_renaming():
    renamings = SymbolRenamings(ALCHEMY, VOCABULARY)
    assert len(renamings) == len(list(permutations(get_world("alchemy").interchangeable)))
    both, first, second = (renamings.rename(TURNS, np.array(choice)) for choice in ([5, 9], [5, 5], [9, 9]))
    for name in ("words", "history", "goal"):
        assert np.array_equal(getattr(both, name), [getattr(first, name)[0], getattr(second, name)[1]])
        assert not np.array_equal(getattr(first, name), getattr(second, name))

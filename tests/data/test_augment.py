"""Renamings: rules stay the same, words and states go together."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch

from sestra.data.augment import Symmetry
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
    symmetry = Symmetry(tables, VOCABULARY)
    orders = list(permutations(world.interchangeable))
    for number in range(0, len(orders), max(1, len(orders) // 7)):
        names = dict(zip(world.interchangeable, orders[number], strict=True))
        contents = symmetry.contents[number]
        edits = [
            next(place for place, other in enumerate(world.edits) if other == type(edit)(edit.kind, renamed))
            for edit in world.edits
            for renamed in [tuple(_renamed(argument, names, name, place) for place, argument in enumerate(edit.arguments))]
        ]
        assert torch.equal(tables.next[contents][:, edits], contents[tables.next])
        assert torch.equal(tables.valid[contents][:, edits], tables.valid)
        assert torch.equal(tables.distance[contents][:, contents], tables.distance)


def _renamed(argument: str, names: dict[str, str], world: str, place: int) -> str:
    return argument if world == "tangrams" and place == 0 else names.get(argument, argument)  # a position of the row is no figure


def test_words_and_states_are_renamed_alike():
    symmetry = Symmetry(ALCHEMY, VOCABULARY)
    seen = set()
    for seed in range(40):
        renamed = symmetry.rename(TURNS, torch.Generator().manual_seed(seed))
        words = VOCABULARY.decode(renamed.words[0, : renamed.lengths[0]].tolist())
        first, second = ALCHEMY.decode(renamed.history[0])[0][:2]
        spoken = {"green": "g", "red": "r", "orange": "o", "purple": "p", "yellow": "y"}
        assert spoken[words[3]] == first
        assert second in ("".join(2 * [colour]) for colour in "gropy")
        assert ALCHEMY.decode(renamed.goal)[1][1] == "bbb"  # brown is what mixing makes
        seen.add(first)
    assert seen == set("gropy")


def test_what_is_not_a_name_stays():
    renamed = Symmetry(ALCHEMY, VOCABULARY).rename(TURNS, torch.Generator().manual_seed(3))
    words = VOCABULARY.decode(renamed.words[1, : renamed.lengths[1]].tolist())
    assert [word for word in words if word in {"pour", "the", "beaker", "into", "mix", "brown", "with"}] == [
        "pour", "the", "beaker", "into", "the", "mix", "with", "brown",
    ]  # fmt: skip
    assert torch.equal(renamed.lengths, TURNS.lengths)


def test_a_missing_ending_gives_way_to_the_plain_name():
    """'greens' is known, 'reds' is not: the plural becomes 'red', and never an unknown word."""
    symmetry = Symmetry(ALCHEMY, VOCABULARY)
    greens = VOCABULARY.encode("greens")[0]
    assert set(symmetry.words[:, greens].tolist()) == set(VOCABULARY.encode("greens red orange purple yellow"))


def test_a_synonym_becomes_the_usual_name():
    symmetry = Symmetry(ALCHEMY, VOCABULARY)
    violet = VOCABULARY.encode("violet")[0]
    assert set(symmetry.words[:, violet].tolist()) == set(VOCABULARY.encode("violet red green orange yellow"))


def test_the_same_seed_renames_alike():
    symmetry = Symmetry(ALCHEMY, VOCABULARY)
    one, two = (symmetry.rename(TURNS, torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(one.words, two.words)
    assert torch.equal(one.history, two.history)

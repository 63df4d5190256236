"""Interactions seen from behind: what is said of them is as true as before."""

from __future__ import annotations

import pytest

from sestra.data.mirror import mirror_words, mirrored
from sestra.data.scone import Interaction
from sestra.worlds import WORLDS, get_world

COLOURS = ("green", "yellow")


@pytest.mark.parametrize(
    ("said", "mirrored"),
    [
        ("throw out the leftmost one on the right", "throw out the rightmost one on the left"),
        ("the man at the left-most spot", "the man at the right - most spot"),
        ("drain the third beaker", "drain the third beaker from the right"),
        ("drain the third yellow chemical", "drain the third yellow chemical from the right"),
        ("drain the 3rd beaker from the right", "drain the 3rd beaker from the left"),
        ("the yellow beaker third from left", "the yellow beaker third from right"),
        ("pour the first beaker into the last one", "pour the last beaker into the first one"),
        ("first , pour it into the second", "first , pour it into the second from the right"),
        ("first pour the last yellow one", "first pour the first yellow one"),
        ("empty the second to last beaker", "empty the second beaker"),
        ("empty the last but one flask", "empty the second flask"),
        ("pour beaker two into beaker 7", "pour beaker six into beaker 1"),
        ("throw out one third of the green beaker", "throw out one third of the green beaker"),
        ("repeat the last step", "repeat the last step"),
        ("it turns brown", "it turns brown"),
    ],
)
def test_words(said: str, mirrored: str):
    assert mirror_words(said, 7, COLOURS) == mirrored


@pytest.mark.parametrize("said", ["throw out the last unit", "beakers are labeled 1 to 7", "drain beaker 8", "the second-to-last one"])
def test_what_is_not_clear_is_left_alone(said: str):
    assert mirror_words(said, 7, COLOURS) is None


@pytest.mark.parametrize("said", ["remove figure 2", "remove figure one"])
def test_numbers_in_a_row_of_any_length_are_not_clear(said: str):
    assert mirror_words(said, 1, ()) is None


@pytest.mark.parametrize("name", WORLDS)
def test_a_state_seen_twice_from_behind_is_itself(name: str):
    world = get_world(name)
    state = {
        "alchemy": "1:g 2:rry 3:_ 4:_ 5:_ 6:_ 7:oo",
        "scene": " ".join(["1:rg", *(f"{n}:__" for n in range(2, 11))]),
        "tangrams": "1:0 2:3",
    }
    start = world.parse(state[name])
    assert world.mirror(start) != start
    assert world.mirror(world.mirror(start)) == start
    assert all(content in world.contents for content in world.mirror(start))


def test_interactions():
    world = get_world("tangrams")
    interaction = Interaction("x", (("302",), None, ("2",)), ("remove the first figure", "undo step 1"))
    assert mirrored(interaction, world) == Interaction("x-mirrored", (("203",), None, ("2",)), ("remove the last figure", "undo step 1"))
    assert mirrored(Interaction("x", (("302",), ("32",)), ("remove figure 2",)), world) is None

"""What must hold of the world and of its interactions, whatever they are: ``pytest shelf``."""

from __future__ import annotations

from pathlib import Path

import pytest

from sestra.data import scone
from sestra.worlds.tables import compile_world

from .world import Shelf

DATA = Path(__file__).parent / "data"
WORLD = Shelf()


def test_the_rules_can_be_compiled() -> None:
    """No edit leads to a content that is not listed, none changes nothing, and distances are whole numbers."""
    tables = compile_world(WORLD)
    assert tables.distance.diagonal().max() == 0, "a content is at a distance from itself"


def test_what_is_written_is_read_again() -> None:
    for content in WORLD.contents:
        state = (content,) * WORLD.slots
        assert WORLD.parse(WORLD.format(state)) == state


@pytest.mark.parametrize("split", ["train", "dev"])
def test_actions_lead_from_each_state_to_the_next(split: str) -> None:
    """And they are not more than the horizon allows; an instruction that changes nothing is allowed, too."""
    tables = compile_world(WORLD)
    for interaction in scone.read(DATA / f"{WORLD.name}-{split}.tsv", WORLD):
        for instruction, start, goal in interaction.turns():
            [actions] = tables.demonstrate(tables.encode([start]), tables.encode([goal])).tolist()
            assert len(actions) <= WORLD.settings.horizon, f"{interaction.id}: {instruction!r} takes {len(actions)} actions"


def test_some_actions_by_name() -> None:
    """Your own examples: an action, and what it makes of a state."""
    state = WORLD.parse("1:_ 2:r 3:_ 4:b")
    assert WORLD.format(WORLD.apply(state, WORLD.parse_action("put 1 b"))) == "1:b 2:r 3:_ 4:b"
    assert WORLD.apply(state, WORLD.parse_action("put 2 b")) == state, "an action that is not possible changes nothing"

"""The plain-Python worlds against the paper: action counts, transitions, notation."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestra.data.scone import read
from sestra.errors import InputError
from sestra.worlds import STOP, WORLDS, Action, StateError, get_world
from sestra.worlds.alchemy.world import Alchemy
from sestra.worlds.scene.world import Scene
from sestra.worlds.tangrams.world import Tangrams

NAMES = sorted(WORLDS.names())
COUNTS = {"alchemy": 50, "scene": 141, "tangrams": 31}
CONTENTS = {"alchemy": 1555, "scene": 49, "tangrams": 326}


def states(name: str) -> st.SearchStrategy[tuple[str, ...]]:
    world = get_world(name)
    return st.tuples(*[st.sampled_from(world.contents)] * world.slots)


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_the_papers(name):
    world = get_world(name)
    assert len(world.actions) == len(set(world.actions)) == COUNTS[name]
    assert len(world.contents) == len(set(world.contents)) == CONTENTS[name]
    assert world.actions[-1] == STOP
    assert not world.contents[0].strip("_")  # the empty one


@pytest.mark.parametrize("name", NAMES)
def test_every_action_reads_back(name):
    world = get_world(name)
    for index, action in enumerate(world.actions):
        assert world.parse_action(str(action)) == action
        assert world.action_indices[action] == index


@pytest.mark.parametrize("text", ["", " ", "push", "push 8 o", "push 7", "push 7 o o", "PUSH 7 o", "stop 1", "pop 0", "insert 1 1"])
def test_what_is_not_an_action_is_refused(text):
    with pytest.raises(InputError, match="not an action of alchemy"):
        Alchemy().parse_action(text)


FIGURE_1 = [  # the paper's Figure 1, from a state that fits its picture's actions
    ("throw out first beaker", "pop 1, stop", "1:_ 2:_ 3:p 4:_ 5:y 6:oo 7:g"),
    ("pour sixth beaker into last one", "pop 6, pop 6, push 7 o, push 7 o, stop", "1:_ 2:_ 3:p 4:_ 5:y 6:_ 7:goo"),
    ("it turns brown", "pop 7, pop 7, pop 7, push 7 b, push 7 b, push 7 b, stop", "1:_ 2:_ 3:p 4:_ 5:y 6:_ 7:bbb"),
    ("pour purple beaker into yellow one", "pop 3, push 5 p, stop", "1:_ 2:_ 3:_ 4:_ 5:yp 6:_ 7:bbb"),
    ("throw out two units of brown one", "pop 7, pop 7, stop", "1:_ 2:_ 3:_ 4:_ 5:yp 6:_ 7:b"),
]


def test_figure_1_action_by_action():
    world = Alchemy()
    state = world.parse("1:r 2:_ 3:p 4:_ 5:y 6:oo 7:g")
    for _, actions, wanted in FIGURE_1:
        for text in actions.split(", "):
            action = world.parse_action(text)
            after = world.apply(state, action)
            assert (after == state) == (action == STOP)
            state = after
        assert world.format(state) == wanted


@pytest.mark.parametrize(
    ("world", "state", "action", "wanted"),
    [
        (Alchemy(), "1:_ 2:g 3:_ 4:_ 5:_ 6:_ 7:_", "pop 1", None),
        (Alchemy(), "1:_ 2:gggg 3:_ 4:_ 5:_ 6:_ 7:_", "push 2 g", None),
        (Alchemy(), "1:_ 2:go 3:_ 4:_ 5:_ 6:_ 7:_", "pop 2", "1:_ 2:g 3:_ 4:_ 5:_ 6:_ 7:_"),
        (Scene(), "1:r_ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:__", "appear_person 1 g", None),
        (Scene(), "1:r_ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:__", "remove_hat 1", None),
        (Scene(), "1:r_ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:__", "remove_person 10", None),
        (Scene(), "1:r_ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:ry", "appear_hat 10 y", None),
        (
            Scene(),
            "1:ry 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:__",
            "remove_person 1",
            "1:_y 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:__",
        ),
        (Tangrams(), "1:4 2:0 3:2", "insert 1 0", None),
        (Tangrams(), "1:4 2:0 3:2", "insert 5 1", None),
        (Tangrams(), "1:4 2:0 3:2", "remove 4", None),
        (Tangrams(), "1:4 2:0 3:2", "insert 4 1", "1:4 2:0 3:2 4:1"),
        (Tangrams(), "1:4 2:0 3:2", "insert 2 1", "1:4 2:1 3:0 4:2"),
        (Tangrams(), "1:4 2:0 3:2", "remove 1", "1:0 2:2"),
        (Tangrams(), "", "remove 1", None),
        (Tangrams(), "", "insert 1 3", "1:3"),
    ],
)
def test_transitions_of_supplementary_a(world, state, action, wanted):
    """None: the action is invalid and the state stays."""
    after = world.apply(world.parse(state), world.parse_action(action))
    assert world.format(after) == (state if wanted is None else wanted)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_states_read_back(name, data):
    world = get_world(name)
    state = data.draw(states(name))
    assert world.parse(world.format(state)) == state


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text(alphabet="0123456789:_ brgopy\tx", max_size=60) | st.text())
def test_any_text_is_a_state_or_a_state_error(name, text):
    world = get_world(name)
    try:
        state = world.parse(text)
    except StateError:
        return
    assert world.format(state) == text
    assert all(content in world.contents for content in state)


BAD = {
    "alchemy": [
        ("1:_ 2:_", "2 objects"),
        ("1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 8:_", "position '8' stands where 7 was expected"),
        ("1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:_ 8:_", "8 objects"),
        ("1:_ 2:_ 3:x 4:_ 5:_ 6:_ 7:_", r"unknown colour 'x' in beaker 'x'; expected b \(brown\), g \(green\)"),
        ("1:_ 2:_ 3:ggggg 4:_ 5:_ 6:_ 7:_", "5 units in beaker 'ggggg'; a beaker holds at most 4"),
        ("1:_ 2:_ 3: 4:_ 5:_ 6:_ 7:_", "'3:' is not an object of alchemy"),
        ("1:_ 2:_ 3:_ 4:_ 5:_ 6:_  7:_", "'' is not an object of alchemy"),
        ("", "0 objects"),
        ("?", "'\\?' is not an object of alchemy"),
    ],
    "scene": [
        ("1:__ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:r", "not two letters"),
        ("1:__ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:rz", "unknown colour 'z'"),
        ("1:__ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__", "9 objects"),
    ],
    "tangrams": [
        ("1:5", "unknown figure '5'"),
        ("1:0 2:0", "stands 2 times"),
        ("1:0 2:1 3:2 4:3 5:4 6:0", "6 figures"),
        ("1:01", "unknown figure '01'"),
        ("2:0", "position '2' stands where 1 was expected"),
    ],
}


@pytest.mark.parametrize(("name", "text", "message"), [(name, *case) for name, cases in BAD.items() for case in cases])
def test_what_is_wrong_with_a_state_is_said(name, text, message):
    with pytest.raises(StateError, match=message):
        get_world(name).parse(text)


@pytest.mark.scone
@pytest.mark.parametrize("name", NAMES)
def test_the_real_states_print_back(name, scone):
    world = get_world(name)
    for split in ("train", "dev"):
        path = scone / f"{name}-{split}.tsv"
        raw = [field for line in path.read_text("utf-8").splitlines() for field in line.split("\t")[1::2]]
        assert [world.format(state) for interaction in read(path, world) for state in interaction.states] == raw


def test_actions_print_as_in_the_paper():
    assert [str(action) for action in Alchemy().actions[:2]] == ["pop 1", "push 1 b"]
    assert str(Scene().actions[-2]) == "remove_hat 10"
    assert str(Tangrams().actions[0]) == "insert 1 0"
    assert str(Action("stop")) == "stop"


def test_the_settings_of_the_paper():
    settings = {name: dataclasses.astuple(get_world(name).settings) for name in NAMES}
    assert settings == {"alchemy": (0.1, 0.15, 7), "scene": (0.07, 0.2, 5), "tangrams": (0.1, 0.0, 5)}

"""The compiled tables against the plain-Python worlds, and against facts computed in another way."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from sestra.errors import InputError
from sestra.worlds import STOP, WORLDS, Edit, World, get_world
from sestra.worlds.tables import UNREACHABLE, Integers, Tables, compile_world

NAMES = sorted(WORLDS.names())
TABLES = {name: compile_world(get_world(name)) for name in NAMES}


@pytest.fixture(params=NAMES)
def tables(request):
    return TABLES[request.param]


def random_states(tables: Tables, count: int, seed: int = 0) -> Integers:
    return np.random.default_rng(seed).integers(len(tables.world.contents), size=(count, tables.slots))


# Contents: every one, with every edit and every other.


def test_next_and_valid_for_every_content_and_edit(tables):
    contents = tables.world.contents
    for row, content in enumerate(contents):
        for column, edit in enumerate(tables.world.edits):
            after = tables.world.edit(content, edit)
            assert bool(tables.valid[row, column]) == (after is not None)
            assert contents[tables.next[row, column]] == (content if after is None else after)


def test_distance_is_the_worlds_own(tables):
    """To every goal, or to some hundred where there are more: for those, tests below check every pair in other ways."""
    contents, distance = tables.world.contents, tables.world.distance
    for goal in range(0, len(contents), 1 + len(contents) // 200):
        assert tables.distance[:, goal].tolist() == [distance(content, contents[goal]) for content in contents]


def edit_distance(a: str, b: str, substitution: int) -> int:
    """The textbook's table, row by row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        above, row = row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (0 if x == y else substitution)))
    return row[-1]


def test_tangrams_distance_is_the_textbooks_for_every_pair():
    contents = TABLES["tangrams"].world.contents
    assert TABLES["tangrams"].distance.tolist() == [[edit_distance(a, b, 2) for b in contents] for a in contents]


def test_alchemy_distance_is_the_textbooks():
    tables = TABLES["alchemy"]
    for a, b in np.random.default_rng(1).integers(1555, size=(20_000, 2)).tolist():
        assert tables.distance[a, b] == edit_distance(tables.world.contents[a], tables.world.contents[b], 1)


def test_alchemy_distance_is_the_shortest_way_of_single_edits_for_every_pair():
    contents = TABLES["alchemy"].world.contents
    index = {content: number for number, content in enumerate(contents)}
    removals = {(index[c], index[c[:i] + c[i + 1 :]]) for c in contents for i in range(len(c))}
    swaps = {(index[c], index[c[:i] + colour + c[i + 1 :]]) for c in contents for i in range(len(c)) for colour in "bgopry"}
    start, end = np.array([*removals, *((b, a) for a, b in removals), *swaps]).T
    graph = csr_array((np.ones(len(start)), (start, end)), shape=(1555, 1555))
    assert np.array_equal(TABLES["alchemy"].distance, shortest_path(graph, unweighted=True))


def test_scene_distance_is_the_number_of_steps():
    assert np.array_equal(TABLES["scene"].distance, TABLES["scene"].steps)


def test_tangrams_distance_and_steps_agree():
    """With single insertions and removals, a substitution takes two."""
    assert np.array_equal(TABLES["tangrams"].distance, TABLES["tangrams"].steps)


def search(world: World, start: object) -> dict[object, int]:
    """Breadth first, over the plain-Python edits."""
    found, queue = {start: 0}, deque([start])
    while queue:
        content = queue.popleft()
        for edit in world.edits:
            after = world.edit(content, edit)
            if after is not None and after not in found:
                found[after] = found[content] + 1
                queue.append(after)
    return found


@pytest.mark.parametrize("name", ["scene", "tangrams"])
def test_steps_are_those_of_a_search_for_every_pair(name):
    contents = TABLES[name].world.contents
    for start, row in zip(contents, TABLES[name].steps.tolist(), strict=True):
        found = search(TABLES[name].world, start)
        assert row == [found[goal] for goal in contents]


def test_alchemy_steps_keep_the_common_bottom_for_every_pair():
    contents = TABLES["alchemy"].world.contents
    letters = np.array([[*content.ljust(4)] for content in contents])
    size = np.array([len(content) for content in contents])
    same = (letters[:, None] == letters[None]) & (letters != " ")[:, None]
    common = np.cumprod(same, axis=2).sum(2)
    assert np.array_equal(TABLES["alchemy"].steps, size[:, None] + size[None] - 2 * common)


# States, in batches.


def test_encode_and_decode(tables):
    states = random_states(tables, 100)
    assert np.array_equal(tables.encode(tables.decode(states)), states)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_batches_do_what_the_plain_world_does(name, data):
    tables, world = TABLES[name], TABLES[name].world
    state = st.tuples(*[st.sampled_from(world.contents)] * world.slots)
    drawn = data.draw(st.lists(st.tuples(state, state, st.sampled_from(world.actions)), min_size=1, max_size=4))
    before, goals, actions = zip(*drawn, strict=True)
    states, ends = tables.encode(before), tables.encode(goals)
    after = tables.step(states, np.array([world.action_indices[action] for action in actions]))
    valid, optimal, togo = tables.valid_actions(states), tables.optimal_actions(states, ends), tables.steps_to_go(states, ends)
    assert tables.decode(after) == [world.apply(s, a) for s, a in zip(before, actions, strict=True)]
    assert tables.state_distance(states, ends).tolist() == [world.state_distance(s, g) for s, g in zip(before, goals, strict=True)]
    for row, (state, goal) in enumerate(zip(before, goals, strict=True)):
        for index, action in enumerate(world.actions):
            then = world.apply(state, action)
            assert bool(valid[row, index]) == (action == STOP or then != state)
            closer = tables.steps_to_go(tables.encode([then])[0], ends[row]) == togo[row] - 1
            assert bool(optimal[row, index]) == (state == goal if action == STOP else closer)


def test_any_leading_dimensions(tables):
    states, goals = random_states(tables, 24), random_states(tables, 24, seed=1)
    actions = np.arange(24) % tables.actions

    def results(states, goals, actions):
        moved, valid, optimal = tables.step(states, actions), tables.valid_actions(states), tables.optimal_actions(states, goals)
        return moved, valid, optimal, tables.edit_rewards(states, goals)

    flat = results(states, goals, actions)
    deep = results(states.reshape(2, 3, 4, -1), goals.reshape(2, 3, 4, -1), actions.reshape(2, 3, 4))
    for a, b in zip(flat, deep, strict=True):
        assert b.shape[:3] == (2, 3, 4)
        assert np.array_equal(a, b.reshape(a.shape))


def test_edit_rewards_are_the_same_without_their_table(tables, monkeypatch):
    states, goals = random_states(tables, 200), random_states(tables, 200, seed=1)
    small = Tables(tables.world)
    monkeypatch.setattr("sestra.worlds.tables.MAX_REWARD_TABLE", 0)
    assert np.array_equal(small.edit_rewards(states, goals), tables.edit_rewards(states, goals))


def test_step_leaves_its_input_alone(tables):
    states = random_states(tables, 50)
    copy = states.copy()
    tables.step(states, np.arange(50) % tables.actions)
    assert np.array_equal(states, copy)


# Demonstrations.


def check_demonstrations(tables: Tables, states: Integers, goals: Integers) -> None:
    """That they reach the goal, in the least number of actions, each of which changes something, and end with STOP."""
    execution = tables.demonstrate(states, goals)
    acting = execution != tables.stop  # [batch, steps]
    assert np.array_equal(acting.sum(1), tables.steps_to_go(states, goals))
    assert not acting[:, -1].any()
    assert (acting[:, :-1] | ~acting[:, 1:]).all()  # nothing after STOP
    for action in execution.T:
        assert tables.valid_actions(states)[np.arange(len(states)), action].all()
        states = tables.step(states, action)
    assert np.array_equal(states, goals)


def test_demonstrations_between_random_states(tables):
    states, goals = random_states(tables, 400), random_states(tables, 400, seed=1)
    check_demonstrations(tables, states, goals)
    check_demonstrations(tables, states, states)
    assert tables.demonstrate(states[:0], goals[:0]).shape == (0, 1)


def test_demonstrations_do_not_depend_on_the_batch(tables):
    states, goals = random_states(tables, 50), random_states(tables, 50, seed=1)
    together = tables.demonstrate(states, goals)
    assert np.array_equal(together, tables.demonstrate(states, goals))
    for row in range(50):
        alone = tables.demonstrate(states[row : row + 1], goals[row : row + 1])[0]
        assert np.array_equal(alone, together[row, : len(alone)])


def test_demonstrations_take_away_before_they_put(tables):
    for execution in tables.demonstrate(random_states(tables, 400), random_states(tables, 400, seed=1)):
        kinds = [tables.action(index).kind.partition("_")[0] for index in execution.tolist() if index != tables.stop]
        assert kinds == sorted(kinds, key=lambda kind: kind not in ("pop", "remove"))


@pytest.mark.parametrize(
    ("name", "state", "goal", "wanted"),
    [
        ("alchemy", "1:_ 2:_ 3:_ 4:_ 5:_ 6:oo 7:g", "1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:goo", "pop 6, pop 6, push 7 o, push 7 o"),
        ("alchemy", "1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:go", "1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:bb", "pop 7, pop 7, push 7 b, push 7 b"),
        (
            "scene",
            "1:__ 2:ry 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:__",
            "1:ry 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:__",
            "remove_person 2, remove_hat 2, appear_person 1 r, appear_hat 1 y",
        ),
        ("tangrams", "1:4 2:1 3:3 4:2 5:0", "1:2 2:1 3:3 4:4 5:0", "remove 1, remove 3, insert 1 2, insert 4 4"),
    ],
)
def test_natural_order(name, state, goal, wanted):
    tables = TABLES[name]
    states, goals = (tables.encode([tables.world.parse(text)]) for text in (state, goal))
    assert ", ".join(str(tables.action(index)) for index in tables.demonstrate(states, goals)[0].tolist()) == f"{wanted}, stop"


# Worlds of one's own.


class Lamps(World[str]):
    """Three lamps, each off, on or red; only a lamp that is on can be painted, and paint stays."""

    name = "lamps"
    slots = 3
    contents = ("off", "on", "red")
    edits = (Edit("press"), Edit("paint"))

    def edit(self, content: str, edit: Edit) -> str | None:
        if edit.kind == "press":
            return {"off": "on", "on": "off"}.get(content)
        return "red" if content == "on" else None

    def distance(self, content: str, goal: str) -> int:
        return int(content != goal)

    def parse(self, text: str) -> tuple[str, ...]:
        return tuple(text.split())

    def format(self, state: tuple[str, ...]) -> str:
        return " ".join(state)


def test_lamps():
    tables = Tables(Lamps())
    assert [str(action) for action in tables.world.actions] == ["press 1", "paint 1", "press 2", "paint 2", "press 3", "paint 3", "stop"]
    states, goals = tables.encode([("off", "off", "on")]), tables.encode([("on", "red", "off")])
    assert tables.steps_to_go(states, goals).tolist() == [4]
    assert tables.valid_actions(states).tolist() == [[True, False, True, False, True, True, True]]
    check_demonstrations(tables, states, goals)
    assert tables.decode(tables.step(states, np.array([5]))) == [("off", "off", "red")]


def test_a_goal_out_of_reach_is_unreachable_however_many_slots():
    tables = Tables(Lamps())
    red, off, half = tables.encode([("red",) * 3]), tables.encode([("off",) * 3]), tables.encode([("red", "off", "off")])
    assert tables.steps.tolist() == [[0, 1, 2], [1, 0, 1], [UNREACHABLE, UNREACHABLE, 0]]
    for state in (red, half):
        assert tables.steps_to_go(state, off).tolist() == [UNREACHABLE]
        assert not tables.optimal_actions(state, off).any()
    mixed = tables.encode([("red", "on", "off")])  # one lamp could still be put right, but the state cannot
    assert not tables.optimal_actions(mixed, off).any()
    on = tables.encode([("on",) * 3])
    assert tables.progress("steps", on, off).tolist() == [[[1, -126]] * 3]  # to ruin a lamp is the largest step away
    assert tables.edit_rewards(on, off, "steps").tolist() == [[[1, -126]] * 3]
    assert tables.edit_rewards(red, off, "steps").tolist() == [[[-1, -1]] * 3]  # both edits are invalid, and nothing is lost any more
    with pytest.raises(InputError, match="lead from the state 'red red red' to the goal 'off off off'"):
        tables.demonstrate(np.concatenate([off, red]), np.concatenate([off, off]))


class Counter(Lamps):
    """One dial with more positions than a byte has values, that only turns up."""

    name = "counter"
    slots = 1
    contents = tuple(map(str, range(300)))
    edits = (Edit("up"),)

    def edit(self, content: str, edit: Edit) -> str | None:
        return str(int(content) + 1) if content != "299" else None


def test_many_steps_do_not_overflow():
    tables = Tables(Counter())
    assert tables.steps[0].tolist() == list(range(300))
    assert set(tables.steps[299].tolist()) == {0, UNREACHABLE}
    check_demonstrations(tables, np.array([[0], [7]]), np.array([[299], [9]]))


def variant(**changes: object) -> World:
    return type("Variant", (Lamps,), {"name": "variant", **changes})()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"contents": ("off", "on", "red", "off")}, "two of its contents are equal"),
        ({"edits": (Edit("press"), Edit("press"))}, "two of its actions read the same"),
        ({"contents": ("off", "on")}, "edit 'paint' makes 'red' of 'on', which is not among its contents"),
        ({"edit": lambda self, content, edit: content}, "an edit that changes nothing is invalid"),
        ({"columns": 0}, "columns is 0; expected a whole number from 1 to 3, its slots"),
        ({"columns": 4}, "columns is 4"),
        ({"columns": True}, "columns is True"),
        ({"columns": "2"}, "columns is '2'"),
    ],
)
def test_a_world_that_breaks_a_promise_is_refused(changes, message):
    with pytest.raises(InputError, match=f"world variant: .*{message}"):
        Tables(variant(**changes))


@pytest.mark.parametrize("distance", [-1, 128, 0.5])
def test_a_distance_that_does_not_fit_is_refused(distance):
    with pytest.raises(InputError, match="world variant: its distances must be whole numbers from 0 to 127"):
        _ = Tables(variant(distance=lambda self, content, goal: distance)).distance

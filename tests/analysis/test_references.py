"""References are found where a reader finds them, held to what the grammars know of their own sentences, and are dated by mentions."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from sestra.analysis.changes import analysis_of
from sestra.analysis.language import Language
from sestra.analysis.mentions import references
from sestra.analysis.references import find
from sestra.data.grammar import ELLIPSIS, LAST_ONE, OTHER_ONE
from sestra.data.locate import read_split
from sestra.data.scone import Interaction
from sestra.data.synthetic import annotated
from sestra.worlds import WORLDS, get_world


@pytest.mark.parametrize("world", WORLDS.names())
def test_agrees_with_the_grammar(world):
    counts = Counter()
    for context in islice(annotated(world, seed=23), 400):
        for number, turn in enumerate(context.turns[1:], start=1):
            if OTHER_ONE in turn.instruction.phenomena:  # than one of an earlier turn, or of the same instruction
                continue
            told = bool(turn.instruction.phenomena - {LAST_ONE})
            counts[told, bool(find(analysis_of(get_world(world)).language, turn.instruction.words, number))] += 1
    precision = counts[True, True] / (counts[True, True] + counts[False, True])
    recall = counts[True, True] / (counts[True, True] + counts[True, False])
    assert precision > 0.98, counts
    assert recall > 0.98, counts


@pytest.mark.parametrize("world", WORLDS.names())
def test_what_the_grammar_leaves_out_is_found_as_ellipsis_or_as_its_mark(world):
    left_out = [
        (turn.instruction.words, find(analysis_of(get_world(world)).language, turn.instruction.words, 1))
        for context in islice(annotated(world, seed=5), 400)
        for turn in context.turns[1:]
        if turn.instruction.phenomena == {ELLIPSIS}
    ]
    found = [words for words, references in left_out if any(each.kind == "ellipsis" for each in references)]
    assert len(found) >= 0.9 * len(left_out), [words for words, references in left_out if words not in found][:10]


@pytest.mark.parametrize(
    ("world", "instruction", "kinds"),
    [
        ("alchemy", "mix it", [("coreference", "object")]),
        ("alchemy", "then, drain 2 units", [("ellipsis", "object")]),
        ("alchemy", "same with the last beaker", [("coreference", "action")]),
        ("alchemy", "same for one more unit", [("coreference", "action and arguments")]),
        ("alchemy", "mix it again", [("coreference", "object")]),
        ("alchemy", "pour the first orange one into the other orange one", []),
        ("alchemy", "pour yellow into that same beaker", [("coreference", "object")]),
        ("alchemy", "the last step is to mix the first beaker", []),
        ("alchemy", "take the red beaker and pour it out", []),
        ("alchemy", "add the red beaker to it", [("coreference", "object")]),
        ("alchemy", "pour out the beaker that contains yellow", []),
        ("alchemy", "after that, empty the last beaker", []),
        ("alchemy", "throw out the remaining green chemical", []),
        ("scene", "he moves to the left end", [("coreference", "object")]),
        ("scene", "he moves back", [("coreference", "position"), ("coreference", "object")]),
        ("scene", "he moves back to the right end", [("coreference", "object")]),
        ("scene", "they did it again", [("coreference", "action and arguments"), ("coreference", "object")]),
        ("scene", "he takes that man's hat", [("coreference", "object")] * 2),
        ("scene", "he takes his hat", [("coreference", "object")] * 2),
        ("scene", "he gives his hat to the man in red", [("coreference", "object")]),
        ("scene", "they stay and a man appears on the right of them", [("coreference", "object")]),
        ("scene", "the man in red takes the hat of the man on his right", []),
        ("scene", "the man in red moves to his left", [("coreference", "object")]),
        ("scene", "the man on his left leaves", [("coreference", "object")]),
        ("scene", "the man in red gives her the hat", [("coreference", "object")]),
        ("scene", "a man appears in his place", [("coreference", "position"), ("coreference", "object")]),
        ("scene", "the man in red gives his hat to the man in blue", []),
        ("scene", "a man in red appears to his left", [("coreference", "object")]),
        ("scene", "then moves one space to the right", [("ellipsis", "object")]),
        ("scene", "no one moves", []),
        ("tangrams", "put the item you just removed in the second spot", [("coreference", "object via action")]),
        ("tangrams", "removed the second item", []),
        ("tangrams", "add it back", [("coreference", "object"), ("ellipsis", "position")]),
        ("tangrams", "add it back where it was", [("coreference", "position"), ("coreference", "object")]),
        ("tangrams", "repeat the first step", [("coreference", "action and arguments")]),
        ("tangrams", "repeat the first step with the last figure", [("coreference", "action")]),
        ("tangrams", "do the same with the second figure", [("coreference", "action")]),
        ("tangrams", "do it again", [("coreference", "action and arguments")]),
        ("tangrams", "undo the last step", [("ellipsis", "action and arguments")]),
        ("tangrams", "swap the first and second figures", []),
        ("tangrams", "then the third figure", [("ellipsis", "action")]),
        ("lamps", "make it red", [("coreference", "object")]),
        ("lamps", "switch on the first lamp", []),
    ],
)
def test_examples(world, instruction, kinds):
    language = Language() if world == "lamps" else analysis_of(get_world(world)).language
    assert [(each.kind, each.to) for each in find(language, instruction, 2)] == kinds
    assert find(language, instruction, 0) == []  # there is nothing before the first turn


def _ages(world, states, *instructions):
    parse = get_world(world).parse
    found = references(get_world(world), Interaction("x", tuple(map(parse, states)), instructions))
    return [[each.age for each in turn] for turn in found]


def test_a_beaker_is_dated_by_the_last_turn_that_names_it():
    states = [
        f"1:{first} 2:{second} 3:_ 4:_ 5:_ 6:_ 7:_" for first, second in (("gg", "r"), ("g", "r"), ("gr", "_"), ("bb", "_"), ("b", "_"))
    ]
    said = ("drain one unit of green", "pour the red one into it", "mix it", "then, drain 1 unit")
    assert _ages("alchemy", states, *said) == [[], [1], [2], [3]]


def test_a_description_is_a_mention_again():
    states = [f"1:{first} 2:r 3:_ 4:_ 5:_ 6:_ 7:_" for first in ("gggg", "ggg", "gg", "g", "_")]
    said = ("drain one unit of green", "drain one unit of it", "drain one unit of the first beaker", "throw it out")
    assert _ages("alchemy", states, *said) == [[], [1], [], [1]]


def test_a_person_is_dated_by_the_place_beside_a_new_one():
    nobody = " ".join(f"{n}:__" for n in range(4, 11))
    states = [f"1:__ 2:r_ 3:__ {nobody}", f"1:r_ 2:__ 3:__ {nobody}", f"1:r_ 2:b_ 3:__ {nobody}"]
    assert _ages("scene", states, "the man in red moves left", "a man in blue appears on his right") == [[], [1]]


def test_a_person_is_the_same_one_in_another_place():
    rest = " ".join(f"{n}:__" for n in range(5, 11))
    states = [" ".join(f"{n}:{'r_' if n == place else '__'}" for n in range(1, 5)) + f" {rest}" for place in (1, 2, 3, 4)]
    assert _ages("scene", states, "the man in red moves right", "he moves right", "he moves right") == [[], [1], [2]]


def test_two_people_in_one_instruction_each_have_an_age():
    rest = " ".join(f"{n}:__" for n in range(4, 11))
    states = [f"{three} {rest}" for three in ("1:ry 2:__ 3:__", "1:__ 2:ry 3:__", "1:__ 2:ry 3:g_", "1:__ 2:r_ 3:gy")]
    said = ("the man in red moves right", "a man in green appears on his right", "he gives his hat to that man")
    assert sorted(_ages("scene", states, *said)[2]) == [1, 2]


def test_a_figure_is_dated_by_itself_and_a_step_by_its_number():
    states = ["1:0 2:1 3:2", "1:0 2:1", "1:1 2:0", "1:1 2:0 3:2", "1:0 2:1 3:2"]
    said = ("remove the last one", "swap the first two", "put the figure you removed at the end", "repeat step 2")
    assert _ages("tangrams", states, *said) == [[], [], [2], [2]]


def test_figures_that_a_plural_pronoun_means_keep_their_mention():
    states = ["1:0 2:1 3:2", "1:1 2:0 3:2", "1:0 2:1 3:2", "1:1 2:0 3:2"]
    assert _ages("tangrams", states, "swap the first two", "swap them again", "swap them again") == [[], [1], [2]]


def test_unknown_states_leave_the_age_open():
    interaction = Interaction(
        "x", (get_world("tangrams").parse("1:0 2:1"), None, get_world("tangrams").parse("1:1")), ("swap them", "remove it")
    )
    assert [[each.age for each in turn] for turn in references(get_world("tangrams"), interaction)] == [[], [None]]


@pytest.mark.scone
@pytest.mark.parametrize(("world", "paper"), [("alchemy", 1.4), ("scene", 2.4), ("tangrams", 1.7)])
def test_as_many_as_the_authors_counted_give_or_take_a_quarter(scone, world, paper):
    """They counted every word in thirty interactions; here an instruction counts at most twice, in all of dev.

    The margin was set when the counts were known: this guards against change, and proves nothing.
    """
    interactions = read_split(world, "dev", scone)
    found = sum(len(turn) for interaction in interactions for turn in references(get_world(world), interaction))
    assert 0.75 * paper < found / len(interactions) < 1.25 * paper

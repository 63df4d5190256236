"""What people say in Tangrams beyond SCONE: words read by rules that know nothing of how they were written."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from sestra.data import synthetic
from sestra.data.grammar import Context, Phrase, Speaker, Turn
from sestra.worlds import get_world
from sestra.worlds.tangrams import deeds, grammar, repetition, requests, restoring, unfollowable
from sestra.worlds.tangrams.descriptions import Event, Place
from sestra.worlds.tangrams.talk import TALK

KINDS = ("requests", "ambiguous", "unfollowable")
WORLD = get_world("tangrams")
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NTH = f"({'|'.join(ORDINALS)}|last)"
MANY = f"({'|'.join(NUMBERS)})"
EDITS = 10  # the most that an agent may need for one turn
WORDS = {"figure": "figure", "take": "remove", "swap": "swap", "back": "add {x} back", "spot": "place"}
PLAIN = Speaker(WORDS, digits=False, terse=False, chatty=0)


@pytest.fixture(scope="module")
def interactions():
    """Broadened interactions, and the name of the rule of each turn that is not one of ``RULES``."""
    named = {kind: [rule.__name__ for rule in getattr(TALK, kind)] for kind in KINDS}

    def naming(rule, kind):
        def named_rule(context, rng):
            turn = rule(context, rng)
            return turn and replace(turn, instruction=Phrase(turn.instruction.words, turn.instruction.phenomena | {(kind, rule.__name__)}))

        return named_rule

    with pytest.MonkeyPatch.context() as patch:
        kinds = {kind: {naming(rule, kind): weight for rule, weight in getattr(TALK, kind).items()} for kind in KINDS}
        patch.setattr(type(WORLD), "talk", lambda world: replace(TALK, **kinds))
        contexts = list(islice(synthetic.broadened("tangrams", seed=0), 2000))
    found = [
        (context, n, next((p for p in turn.instruction.phenomena if isinstance(p, tuple)), None))
        for context in contexts
        for n, turn in enumerate(context.turns)
    ]
    return found, named


def test_every_rule_applies_often(interactions):
    found, named = interactions
    counts = Counter(rule for _, _, rule in found if rule)
    for kind in KINDS:
        total = sum(count for (k, _), count in counts.items() if k == kind)
        shares = {name: counts[kind, name] / total for name in named[kind]}
        assert min(shares.values()) > 0.015, shares
    talk = sum(count for (kind, _), count in counts.items() if kind == "unfollowable")
    assert 0.12 < counts["unfollowable", "small_talk"] / talk < 0.28


def test_turns_are_whole_and_within_reach(interactions):
    for context, n, rule in interactions[0]:
        (before,), (after,), words = context.states[n], context.states[n + 1], context.turns[n].instruction.words
        assert not re.search(r"[\[\]{}|]|  ", words), words
        assert after in WORLD.contents
        assert WORLD.distance(before, after) <= EDITS
        if not rule or rule[0] != "ambiguous":  # which may lead nowhere
            assert (before == after) == bool(rule and rule[0] == "unfollowable"), (words, before, after)


def test_a_row_of_one_figure_has_something_to_say():
    """The rules after SCONE alone keep the last figure, and had nothing to say to it."""
    context = replace(grammar.start(Random(0)), states=(("3",),))
    assert synthetic.draw_turn(grammar.RULES, context, Random(0)) is None
    assert synthetic.draw_turn(TALK.requests, context, Random(0)).state == ("",)


def said(rules, context, count=4000):
    """Each thing that the rules say in a context, with the rows that it may lead to."""
    rng, goals = Random(1), defaultdict(set)
    for _ in range(count):
        turn = rng.choice(rules)(context, rng)
        if turn is not None:
            goals[turn.instruction.words].add(turn.state[0])
    return goals


def told(start, *turns):
    """A context made of (words, row, event)."""
    context = Context(((start,),), PLAIN, nothing=Event("nothing"))
    for words, row, event in turns:
        context = context.then(Turn(Phrase(words), (row,), event))
    return context


def index(word, row):
    return len(row) - 1 if word == "last" else ORDINALS.index(word)


def moved(row, at, to):
    rest = row[:at] + row[at + 1 :]
    return rest[:to] + row[at] + rest[to:]


def swapped(row, a, b):
    return "".join(row[{a: b, b: a}.get(n, n)] for n in range(len(row)))


READINGS = {
    rf"(?:remove|delete) the {NTH} figure": lambda row, n: row.replace(row[index(n, row)], ""),
    rf"(?:remove|delete) the first {MANY} figures": lambda row, n: row[NUMBERS.index(n) + 1 :],
    rf"(?:remove|delete) the last {MANY} figures": lambda row, n: row[: -NUMBERS.index(n) - 1],
    rf"(?:remove|delete) (?:all|everything) (?:but|except) the {NTH} figure": lambda row, n: row[index(n, row)],
    rf"(?:keep|leave) only the {NTH} figure": lambda row, n: row[index(n, row)],
    rf"(?:swap|switch|exchange) the {NTH} figure (?:and|with) the {NTH} figure": lambda row, a, b: swapped(
        row, index(a, row), index(b, row)
    ),
    r"(?:swap|switch|exchange) the (?:outer two|two outer) figures": lambda row: swapped(row, 0, len(row) - 1),
    rf"(?:swap|switch) the {NTH} figure with its left neighbou?r": lambda row, n: swapped(row, index(n, row) - 1, index(n, row)),
    rf"(?:move|put|send) the {NTH} figure to the (?:front|beginning|start)": lambda row, n: moved(row, index(n, row), 0),
    rf"(?:move|put|send) the {NTH} figure to the (?:end|very end)": lambda row, n: moved(row, index(n, row), len(row) - 1),
    rf"(?:move|shift) the {NTH} figure {MANY} (?:place|spot|step|position)s? to the left": lambda row, n, k: moved(
        row, index(n, row), index(n, row) - NUMBERS.index(k) - 1
    ),
    rf"(?:move|shift) the {NTH} figure {MANY} (?:place|spot|step|position)s? to the right": lambda row, n, k: moved(
        row, index(n, row), index(n, row) + NUMBERS.index(k) + 1
    ),
    r"(?:reverse|flip|invert) the (?:row|whole row|order)": lambda row: row[::-1],
    r"rotate the row (?:by one|one place) to the left": lambda row: row[1:] + row[0],
    r"(?:clear|empty) the row|(?:remove|delete) (?:everything|all figures)": lambda row: "",
    r"swap the first two and the last two figures": lambda row: swapped(swapped(row, 0, 1), len(row) - 2, len(row) - 1),
}


def test_plain_requests_lead_to_their_goals():
    rules = [
        *(deeds.remove_one, deeds.remove_several, deeds.keep_only, deeds.clear, deeds.swap_two, deeds.swap_pairs),
        *(deeds.move_to, deeds.move_by, requests.reverse, requests.rotate),
    ]
    read = Counter()
    for row in ("40231", "3102", "214"):
        for words, goals in said(rules, told(row), 20_000).items():
            for pattern, goal in READINGS.items():
                if match := re.fullmatch(pattern, words):
                    assert goals == {goal(row, *match.groups())}, (words, row)
                    read[pattern] += 1
    assert {*read} == {*READINGS}, {*READINGS} - {*read}


def test_requests_have_one_reading():
    """The same words in the same context never lead to two rows."""
    event = Event("remove", (Place("right", 1),), "1")
    context = told("40231", ("remove the last figure", "4023", event), ("swap the first two", "0423", Event("swap", figures="40")))
    for words, goals in said(list(requests.COMMANDS), context, 30_000).items():
        assert len(goals) == 1, (words, goals)


LAST = Event("remove", (Place("right", 1),), "1")
FIRST = Event("remove", (Place("left", 1),), "4")


@pytest.mark.parametrize(
    ("rules", "context", "words", "goal"),
    [
        ([restoring.bring_back], [("remove the last figure", "4023", LAST)], r"put it back", "40231"),
        ([restoring.bring_back], [("remove the last figure", "4023", LAST)], r"(add|put|insert) it (back )?to the front", "14023"),
        (
            [restoring.bring_back],
            [("remove the last figure", "4023", LAST), ("remove the first figure", "023", FIRST)],
            r"(put|add|bring) the (figure|one) (you )?removed first back (to|at) the end",
            "0231",
        ),
        (
            [restoring.bring_all_back],
            [("remove the last figure", "4023", LAST), ("remove the first figure", "023", FIRST)],
            r"(put|bring|add) back everything (that was removed|you removed)",
            "40231",
        ),
        (
            [restoring.replace_one],
            [("remove the last figure", "4023", LAST)],
            r"replace the first figure (with|by) the missing figure",
            "1023",
        ),
        ([repetition.undo_last], [("remove the last figure", "4023", LAST)], r"undo the last step", "40231"),
        (
            [repetition.undo_more],
            [("remove the last figure", "4023", LAST), ("remove the first figure", "023", FIRST)],
            r"undo (the last two steps|everything)",
            "40231",
        ),
        ([repetition.repeat_same], [("remove the last figure", "4023", LAST)], r"(once more|again|do that again)", "402"),
        ([repetition.repeat_same], [("remove the last figure", "4023", LAST)], r"repeat (that|it) twice", "40"),
        (
            [repetition.repeat_with],
            [("remove the last figure", "4023", LAST), ("reverse the row", "3204", Event("reverse", several=True))],
            r"repeat step one with the third figure",
            "324",
        ),
        ([repetition.redo], [("remove the last figure", "4023", LAST), ("undo", "40231", Event("undo"))], r"redo (that|it)", "4023"),
        (
            [repetition.undo_step],
            [("swap the first two", "04231", Event("swap")), ("remove the last figure", "0423", LAST)],
            r"undo step one",
            "4023",
        ),
        ([repetition.remove_both], [("swap the first two", "04231", Event("swap"))], r"remove both of them", "231"),
        (
            [deeds.swap_two],
            [("move the last to the third place", "40123", Event("move", figures="1"))],
            r"swap it with its left neighbou?r",
            "41023",
        ),
        (
            [deeds.remove_one],
            [("add it", "40231", Event("put back", (), "2"))],
            r"(remove|delete|erase) the figure (you|we|i) just (added|put back|brought back|inserted)",
            "4031",
        ),
    ],
)
def test_requests_that_depend_on_the_past(rules, context, words, goal):
    found = {text: goals for text, goals in said(rules, told("40231", *context), 20_000).items() if re.fullmatch(words, text)}
    assert found
    assert all(goals == {goal} for goals in found.values()), found


@pytest.mark.parametrize("row", ["40231", "402", "3", ""])
def test_what_cannot_be_followed_changes_nothing(row):
    for words, goals in said(list(TALK.unfollowable), told(row)).items():
        assert goals == {row}, words


def test_ambiguous_words_lead_to_several_rows():
    context = told("40231", ("remove the last two", "402", Event("remove several", several=True)))
    for rule in TALK.ambiguous:
        goals = said([rule], context)
        drawn = [rows for rows in goals.values() if len(rows) > 1]
        assert len(drawn) > 20, rule
        assert sum(rows == {"402"} for rows in goals.values()) == 0


@pytest.mark.parametrize("row", ["40231", "402", "3"])
def test_what_is_not_there_is_not(row):
    checked = 0
    for words in said([unfollowable.not_there], told(row), 6000):
        if match := re.fullmatch(rf"(?:remove|delete|erase|toss) (?:the {NTH} \w+|\w+ {MANY})", words):
            assert (ORDINALS.index(match[1]) if match[1] else NUMBERS.index(match[2])) >= len(row), words
            checked += 1
    assert checked > 10


def test_negations_share_the_words_of_commands():
    words = said([unfollowable.negation], told("40231"), 8000)
    assert any(re.fullmatch(r"(don't|do not|never) (reverse|flip|invert) the (row|order)", text) for text in words)
    assert any(re.fullmatch(r"(don't|do not|never) remove the \w+ figure", text) for text in words)

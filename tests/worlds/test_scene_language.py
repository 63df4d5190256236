"""Scene's broader language, read by rules that know nothing of how it was written."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from sestra.data import synthetic
from sestra.data.grammar import Phrase, Turn, expand
from sestra.worlds.scene import grammar, repetition, unfollowable
from sestra.worlds.scene.ambiguous import AMBIGUOUS
from sestra.worlds.scene.clauses import Clause, affirm, ask, negate, suppose
from sestra.worlds.scene.descriptions import Event, people_of
from sestra.worlds.scene.requests import FILLERS, MOST_EDITS, REQUESTS
from sestra.worlds.scene.talk import TALK
from sestra.worlds.scene.world import COLOURS, Scene, distance

LETTERS = {name: letter for letter, name in COLOURS.items()}
COLOUR = f"({'|'.join(LETTERS)})"
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
KINDS = ("REQUESTS", "AMBIGUOUS", "UNFOLLOWABLE")


def number(word):
    return NUMBERS.index(word) + 1 if word in NUMBERS else ORDINALS.index(word) + 1 if word in ORDINALS else int(re.match(r"\d+", word)[0])


@pytest.fixture(scope="module")
def broadened():
    """2,000 interactions, and how often each rule had the word in them."""
    used, draw = {kind: Counter() for kind in KINDS}, synthetic.draw_turn

    def draw_and_count(rules, context, rng, *, changes=True):
        tried = []
        wrapped = {lambda context, rng, rule=rule: tried.append(rule) or rule(context, rng): weight for rule, weight in rules.items()}
        turn = draw(wrapped, context, rng, changes=changes)
        for kind in KINDS:
            if turn and rules is getattr(TALK, kind.lower()):
                used[kind][tried[-1].__name__] += 1
        return turn

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthetic, "draw_turn", draw_and_count)
        return list(islice(synthetic.broadened("scene", seed=5), 2000)), used


@pytest.mark.parametrize(("kind", "least"), [("REQUESTS", 0.02), ("AMBIGUOUS", 0.05), ("UNFOLLOWABLE", 0.02)])
def test_every_rule_applies_often(broadened, kind, least):
    used = broadened[1][kind]
    rules = {rule.__name__ for rule in getattr(TALK, kind.lower())}
    assert len(rules) == len(getattr(TALK, kind.lower()))
    assert {rule: used[rule] for rule in rules if used[rule] < least * used.total()} == {}
    if kind == "UNFOLLOWABLE":
        assert 0.15 < used["small_talk"] / used.total() < 0.27


def test_no_template_is_left_over_and_no_turn_takes_too_many_edits(broadened):
    most = 0
    for context in broadened[0]:
        for before, after, turn in zip(context.states, context.states[1:], context.turns, strict=False):
            assert not re.search(r"[\[\]{}]|  |^ | $", turn.instruction.words), turn.instruction.words
            most = max(most, sum(map(distance, before, after)))
            assert all(content in Scene.contents and (content[0] != "_" or content == "__") for content in after), turn
    assert 8 < most <= MOST_EDITS


def contexts(count, turns=2, seed=8):
    return list(islice(synthetic.annotated("scene", seed=seed, turns=turns), count))


@pytest.mark.parametrize(("kind", "changes"), [("UNFOLLOWABLE", False), ("AMBIGUOUS", True)])
def test_what_cannot_be_followed_leaves_the_state_and_what_is_ambiguous_changes_it(kind, changes):
    rng = Random(2)
    for context in contexts(200):
        for rule in getattr(TALK, kind.lower()):
            turn = rule(context, rng)
            assert turn is None or (turn.state != context.state) == changes, turn


def test_ambiguous_words_have_several_goals():
    rng, goals = Random(3), defaultdict(set)
    for context in contexts(4):
        for rule in AMBIGUOUS:
            for _ in range(1500):
                if turn := rule(context, rng):
                    goals[rule.__name__, context.state, turn.instruction.words].add(turn.state)
    split = {rule for (rule, _, _), states in goals.items() if len(states) > 1}
    assert split == {rule.__name__ for rule in AMBIGUOUS}


def someone_fits(words, state):
    """Whether anybody on the stage fits the description."""
    people = [(n, content) for n, content in enumerate(state) if content != "__"]
    if "hats" in words or re.search(r"with (a|the) hat$", words):
        return any(content[1] != "_" for _, content in people)
    if re.search(r"without a hat|hatless", words):
        return any(content[1] == "_" for _, content in people)
    if place := re.search(r"(?:position|place|spot) (\w+)$|the (\w+) (?:position|spot)$", words):
        return state[number(place[1] or place[2]) - 1] != "__"
    if rank := re.search(rf"the ({'|'.join(ORDINALS)}|\d\w\w|10th)\b", words):
        return number(rank[1]) <= len(people)
    if colour := re.search(rf"\b{COLOUR}\b", words):
        letter = LETTERS[colour[1]]
        return any(letter in (content[1] if "hat" in words else content[0] if "shirt" in words else content) for _, content in people)
    return False  # a dog, somebody in pink


def test_who_is_not_there_is_not_there():
    rng, kinds = Random(4), Counter()
    for context in contexts(400):
        words = unfollowable.absent_name(context, rng).words
        assert not someone_fits(words, context.state), (words, context.state)
        kinds.update(re.findall(r"shirt|hat\b|position|from|dog|black|mr", words))
        for position in people_of(context):  # the reader does recognise those who are there
            name = f"the person at position {position + 1}"
            assert someone_fits(name, context.state)
    assert min(kinds[kind] for kind in ("shirt", "hat", "position", "from", "mr")) > 3


# Goals of plain requests.


def person(words, state):
    """Where the one person is whom the words mean, or None if they are not plain."""
    people = [n for n, content in enumerate(state) if content != "__"]
    if re.fullmatch(COLOUR, words):
        (who,) = [n for n in people if state[n][0] == LETTERS[words]]
    elif match := re.fullmatch(rf"the (?:person|man|guy|woman|one) (?:in|with|wearing) the {COLOUR} (shirt|hat)", words):
        (who,) = [n for n in people if state[n][match[2] == "hat"] == LETTERS[match[1]]]
    elif match := re.fullmatch(r"the (\w+) (?:person|man|guy|woman|one) from the (left|right)", words):
        who = people[number(match[1]) - 1] if match[2] == "left" else people[-number(match[1])]
    elif match := re.fullmatch(r"the (?:person|man|guy|woman|one) (?:at|in|on) (?:position|place|spot) (\w+)", words):
        who = number(match[1]) - 1
    elif match := re.fullmatch(r"the (first|last) (?:person|man|guy|woman)", words):
        who = people[0 if match[1] == "first" else -1]
    else:
        return None
    return who


def leave(match, row):
    who = person(match[1], row)
    return None if who is None else {who: "__"}


def all_leave(match, row):
    with_hat = {"": None, " with a hat": True, " without a hat": False, " wearing a hat": True}[match[1] or ""]
    return {n: "__" for n, content in enumerate(row) if with_hat is None or (content[1] != "_") == with_hat}


def step(match, row):
    who, count = person(match[1], row), 1 if match[2] == "a" else number(match[2])
    return None if who is None else {who: "__", who + (count if match[3] == "right" else -count): row[who]}


def to_end(match, row):
    who = person(match[1], row)
    return None if who is None else {who: "__", 0 if match[2] == "left" else 9: row[who]}


def add(match, row):
    return {number(match[3]) - 1: LETTERS[match[1] or match[2]] + "_"}


def put_on(match, row):
    who = person(match[2], row)
    return None if who is None else {who: row[who][0] + LETTERS[match[1]]}


def swap(match, row):
    b = person(match[2], row)
    a = None if b is None else person(match[1], row)  # "and" may belong to a name: "the shirt and hat"
    if a is None:
        return None
    return {a: row[a][0] + row[b][1], b: row[b][0] + row[a][1]} if match[match.re.groups] == "hats" else {a: row[b], b: row[a]}


def first_or_last(match, row):
    people = [n for n, content in enumerate(row) if content != "__"]
    count = number(match[2])
    return dict.fromkeys(people[:count] if match[1] == "first" else people[-count:], "__")


READINGS = {
    r"(?:remove|delete|make|let|get rid of) ([\w ]+?)(?: leave| disappear|)": leave,
    r"([\w ]+) (?:leaves|exits|disappears)": leave,
    r"(?:everyone|everybody|every person)( with a hat| without a hat| wearing a hat|) (?:leaves|exits|disappears)": all_leave,
    r"(?:remove|delete|dismiss|erase|take away) (?:everyone|everybody)( with a hat| without a hat|)": all_leave,
    r"(?:move|shift) ([\w ]+?) (\w+) (?:step|position)s? to the (left|right)": step,
    r"(?:move|shift|send|slide|bring|push) ([\w ]+?) to the (?:far|very|extreme) (left|right)": to_end,
    rf"(?:add|put|place|insert|create|spawn|introduce|draw|make|bring in|set|show) a (?:new )?(?:person|man|guy|woman) "
    rf"(?:(?:in|wearing|dressed in) {COLOUR}|(?:in|with|wearing) an? {COLOUR} shirt) (?:at|in|on) (?:position|place|spot) (\w+)": add,
    rf"(?:put|place) an? {COLOUR} hat on ([\w ]+)": put_on,
    r"([\w ]+) and ([\w ]+) (?:swap|switch|trade|exchange) (hats|places)": swap,
    r"(?:swap|switch|exchange) ([\w ]+?) and ([\w ]+)": swap,
    r"(?:remove |delete |)the (first|last) (\w+) (?:people|ones|persons|guys|men|women)(?: leave| exit| disappear|)": first_or_last,
}


def test_plain_requests_lead_to_their_goals():
    rng, done = Random(6), Counter()
    plain = ("leave", "move", "enter", "put_on", "trade", "leave_together")
    chosen = [rule for rule in REQUESTS if rule.__name__ in plain] * 10
    for context in contexts(500, turns=3):
        speaker = replace(context.speaker, terse=False, chatty=0, words={**context.speaker.words, "step": "step"})
        fresh = replace(context, states=context.states[-1:], turns=(), speaker=speaker)
        for rule in chosen:
            turn = rule(fresh, rng)
            if turn is None or re.search(r"\b(and|then)\b.*\b(and|then)\b|'|,", turn.instruction.words):
                continue
            for pattern, reading in READINGS.items():
                if (match := re.fullmatch(pattern, turn.instruction.words)) and (edits := reading(match, context.state)):
                    assert fresh.state_with(edits) == turn.state, (turn.instruction.words, context.state)
                    done[pattern] += 1
    assert {pattern: done[pattern] for pattern in READINGS if done[pattern] < 3} == {}


# What leans on the past, in interactions told by hand.


def told(start, *turns):
    """A context in which these events led to these states."""
    rules = Scene()

    def parse(text):
        return rules.parse(" ".join(f"{n}:{content}" for n, content in enumerate(text.split(), start=1)))

    context = replace(grammar.start(Random(0)), states=(parse(start),))
    context = replace(context, speaker=replace(context.speaker, digits=True, words={**context.speaker.words, "he": "he", "him": "him"}))
    for state, event in turns:
        context = context.then(Turn(Phrase("."), parse(state), event))
    return context


START = "r_ __ __ b_ __ gy __ __ __ __"
RED_RIGHT = ("__ __ r_ b_ __ gy __ __ __ __", Event("move", 2, origin=0, steps=2))
BLUE_GONE = ("__ __ r_ __ __ gy __ __ __ __", Event("leave", origin=3))
GREEN_BARE = ("__ __ r_ __ __ g_ __ __ __ __", Event("take off", 5))


@pytest.mark.parametrize(
    ("rule", "turns", "words", "goal"),
    [
        (
            repetition.once_more,
            [("r_ __ __ b_ __ __ gy __ __ __", Event("move", 6, origin=5, steps=1))],
            "once more",
            "r_ __ __ b_ __ __ __ gy __ __",
        ),
        (repetition.same_with, [RED_RIGHT], "same with blue", "__ __ r_ __ __ b_ __ __ __ __"),
        (repetition.repeat_step, [BLUE_GONE, GREEN_BARE], "repeat step 1 with green", "__ __ r_ __ __ __ __ __ __ __"),
        (repetition.repeat_step, [RED_RIGHT, BLUE_GONE], "repeat step 1", "__ __ __ __ r_ gy __ __ __ __"),
        (repetition.undo, [RED_RIGHT, BLUE_GONE, GREEN_BARE], "undo the last two steps", RED_RIGHT[0]),
        (repetition.undo, [RED_RIGHT, BLUE_GONE, GREEN_BARE], "undo everything", START),
        (repetition.undo, [RED_RIGHT], "undo that", START),
        (repetition.undo_step, [RED_RIGHT, BLUE_GONE], "undo step 1", "r_ __ __ __ __ gy __ __ __ __"),
        (repetition.back, [RED_RIGHT, BLUE_GONE], "bring him back", RED_RIGHT[0]),
        (repetition.bring_back, [RED_RIGHT, BLUE_GONE, GREEN_BARE], "bring blue back", "__ __ r_ b_ __ g_ __ __ __ __"),
    ],
)
def test_repetition_and_reversal_by_example(rule, turns, words, goal):
    context, rng = told(START, *turns), Random(0)
    if words == "same with blue":  # blue would not get past green
        context = replace(context, states=(*context.states[:-1], context.state_with({5: "__"})))
    turns = (rule(context, rng) for _ in range(20_000))
    found = next(turn for turn in turns if turn and turn.instruction.words == words)
    assert " ".join(found.state) == goal


def test_a_step_is_not_undone_once_its_places_have_changed():
    context = told(START, RED_RIGHT, ("__ __ ry b_ __ g_ __ __ __ __", Event("give", 5, frozenset((2, 5)))))
    rng = Random(1)
    words = {turn.instruction.words for turn in (repetition.undo_step(context, rng) for _ in range(500)) if turn}
    assert words
    assert not {name for name in words if re.search("1|first", name)}


SUPPOSING = (
    r"if|yesterday|ago|week|today|morning|once|year|later|day|tomorrow|almost|nearly|imagine|suppose|pretend|wonder|doubt|dream|heard|funny|"
    r"wish|think|when|before|unless|until|might|may|forgot|used|about|could|wants|whether"
)


@pytest.mark.parametrize(
    ("say", "marks"),
    [
        (negate, r"not|n't|never|dont|no |nobody|stop|avoid|quit|prevent|keep|refuses|declines|forb|anything but|under no"),
        (ask, r"\?|^(did|does|why|when|how|what|is|are|do|who|should|how)\b"),
        (suppose, SUPPOSING),
    ],
)
def test_a_clause_that_is_not_to_be_followed_says_so(say, marks):
    context, rng = contexts(1)[0], Random(0)
    clauses = [
        Clause(Phrase("red"), "leave", Phrase("the stage")),
        Clause(None, "remove", Phrase("red")),
        Clause(Phrase("they"), "be", Phrase("gone"), True),
    ]
    for clause in clauses * 100:
        words = say(context, rng, clause).words
        assert re.search(marks, words), words
        assert not re.search(r"\b(does|do|did)(n't| not)? be\b|they (is|has|needs|does)\b", words), words
    requests = {affirm(context, rng, clauses[0]).words for _ in range(500)}
    assert {"red leaves the stage", "make red leave the stage", "red left the stage"} <= requests


def test_fillers_fit_around_words():
    for filler in FILLERS:
        assert filler.count("{x}") == 1
        assert "red leaves" in filler.format(x="red leaves")
        assert expand(Random(0), contexts(1)[0].speaker, filler, x="red leaves").words == " ".join(filler.format(x="red leaves").split())

"""The grammars' words, read by rules that know nothing of how they were written."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from sestra.data import synthetic
from sestra.data.grammar import Phenomenon, Speaker
from sestra.worlds import WORLDS, get_world
from sestra.worlds.alchemy import descriptions as alchemy_beakers
from sestra.worlds.alchemy.world import COLOURS
from sestra.worlds.scene import descriptions as scene_people
from sestra.worlds.scene.world import COLOURS as DYES
from sestra.worlds.tangrams import grammar as tangrams

worlds = pytest.mark.parametrize("world", WORLDS.names())
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
MOVES = r"(the .*) (?:moves|goes|walks) (?:to the (?:far (left|right)|(left|right) end)|(\w+) steps? to the (left|right))"


def choose(words, pool, other_than=None):
    """The members of a row that words such as "second", "last" or "on the left" leave over."""
    ordinal = next((n for n, name in enumerate(ORDINALS) if name in words.split()), None)
    if re.search(r"second to last|second last|next to last|last but one", words):
        return pool[-2:-1]
    if ordinal is not None and (side := re.search(r"from the (left|right)", words)):
        return pool[ordinal : ordinal + 1] if side[1] == "left" else pool[::-1][ordinal : ordinal + 1]
    if re.search(r"\b(last|rightmost|right most|far right)\b", words):
        return pool[-1:]
    if re.search(r"\b(leftmost|left most|far left)\b", words):
        return pool[:1]
    if re.search(r"\b(middle|center)\b", words):
        return [pool[len(pool) // 2]] if len(pool) % 2 else []
    if "other" in words.split():
        return [n for n in pool if n != other_than]
    if side := re.search(r"on the (left|right)$", words):
        return [pool[0 if side[1] == "left" else 1]] if len(pool) == 2 else []
    return pool if ordinal is None else pool[ordinal : ordinal + 1]


def beakers_called(words, state, other_than=None):
    if neighbour := re.search(r"to the (left|right) of (.*)", words):
        beside = [other_than] if re.fullmatch("it|that one|that beaker", neighbour[2]) else beakers_called(neighbour[2], state)
        return [n + (-1 if neighbour[1] == "left" else 1) for n in beside]
    if number := re.fullmatch(r"(?:beaker) (\w+)", words):
        return [NUMBERS.index(number[1])]
    colours = {letter for letter, name in COLOURS.items() if name in words.split()}
    pool = [n for n, content in enumerate(state) if colours <= set(content)]
    if "empty" in words.split():
        pool = [n for n in pool if not state[n]]
    if re.search("mixed|mixture", words):
        pool = [n for n in pool if len(set(state[n])) > 1]
    if units := re.search(r"with (\w+) units?", words):
        pool = [n for n in pool if len(state[n]) == NUMBERS.index(units[1]) + 1]
        words = words[: units.start()]
    if size := re.search(r"\b(larger|bigger|fuller|largest|fullest)\b|\b(smaller|smallest)\b", words):
        wanted = (max if size[1] else min)(len(state[n]) for n in pool)
        pool = [n for n in pool if len(state[n]) == wanted]
    return choose(words, pool, other_than)


def people_called(words, state, other_than=None):
    pool = [n for n, content in enumerate(state) if content != "__"]
    for dye, name in DYES.items():
        if f"{name} shirt" in words:
            pool = [n for n in pool if state[n][0] == dye]
        if f"{name} hat" in words:
            pool = [n for n in pool if state[n][1] == dye]
        if re.search(rf"in {name}$|\b{name} person", words):
            pool = [n for n in pool if dye in state[n]]
        if f"all {name}" in words:
            pool = [n for n in pool if state[n] == dye * 2]
    if re.search("no hat|hatless|without a hat", words):
        pool = [n for n in pool if state[n][1] == "_"]
    if "with the hat" in words:
        pool = [n for n in pool if state[n][1] != "_"]
    return choose(words, pool, other_than)


def figures_called(words, state, other_than=None):
    if number := re.fullmatch(r"(?:figure|number) (\w+)", words):
        return [NUMBERS.index(number[1])]
    return choose(words, list(range(len(state[0]))))


def plain(context):
    """The same context told by a speaker of few habits."""
    favourites = {word: word for word in ("beaker", "chemical", "unit", "person", "figure", "swap", "leaves", "step", "he")}
    words = {**context.speaker.words, **favourites, "wearing": "in", "take": "remove"}
    return replace(context, speaker=Speaker(words, digits=False, terse=False, chatty=0))


@worlds
def test_references_are_true_of_one_thing_alone(world):
    rng, checked, seen = Random(1), 0, set()
    for context in map(plain, islice(synthetic.annotated(world, seed=4), 400)):
        spoken_of = None
        if world == "alchemy":
            things, call, spoken_of = range(7), beakers_called, alchemy_beakers.focus(context)
        elif world == "scene":
            things, call, spoken_of = scene_people.people_of(context), people_called, scene_people.focus(context)
        else:
            things, call = range(len(context.state[0])), figures_called
        for thing in things:
            if world == "alchemy":
                words = alchemy_beakers.describe(context, thing, rng).words
            elif world == "scene":
                words = scene_people.describe(context, thing, rng, spoken_of).words
            else:
                phrase, place = tangrams.describe(context, thing, rng)
                words = phrase.words
                assert place.index(context.state[0]) == thing
            assert call(words, context.state, spoken_of) == [thing], (words, context.state, thing)
            checked += 1
            seen.add(words)
    assert checked > 400
    assert len(seen) > 30


def executed(world, words, state):
    """The goal of the plainest instructions, without their history; None for all others."""
    row = list(state)
    if world == "alchemy":
        verb = r"(?:throw out|throw away|pour out|drain|dump|remove|discard|toss|get rid of|tip out|empty out)"
        if part := re.fullmatch(verb + r" (one|two|three|four) units? (?:of|from) (.*)", words):
            (beaker,) = beakers_called(part[2], state)
            row[beaker] = row[beaker][: -NUMBERS.index(part[1]) - 1]
        elif move := re.fullmatch(r"(?:pour|transfer|empty|add) (the .*?) (?:into|to) (the .*|beaker \w+)", words):
            if re.search("to the (left|right)|second to", words):
                return None
            (source,), (target,) = (beakers_called(move[n].replace("all of ", "").replace("the contents of ", ""), state) for n in (1, 2))
            row[source], row[target] = "", row[target] + row[source][::-1]
        elif whole := re.fullmatch(verb + r" (the [a-z ]* (?:beaker|chemical))", words):
            if re.search("contents| (from|in|out of) ", words):
                return None
            (beaker,) = beakers_called(whole[1], state)
            row[beaker] = ""
        else:
            return None
    elif world == "scene":
        if leaves := re.fullmatch(r"(the .*) leaves", words):
            (who,) = people_called(leaves[1], state)
            row[who] = "__"
        elif moves := re.fullmatch(MOVES, words):
            (who,) = people_called(moves[1], state)
            steps = 1 if moves[4] == "a" else NUMBERS.index(moves[4]) + 1 if moves[4] else 0
            target = (who + (steps if moves[5] == "right" else -steps)) if steps else (0 if "left" in (moves[2], moves[3]) else 9)
            row[who], row[target] = "__", row[who]
        else:
            return None
    elif removes := re.fullmatch(r"remove (the .*|figure \w+)", words):
        (index,) = figures_called(removes[1], state)
        row[0] = row[0][:index] + row[0][index + 1 :]
    elif swaps := re.fullmatch(r"swap the (\w+) and (\w+) figures", words):
        a, b = (figures_called(swaps[n], state)[0] for n in (1, 2))
        figures = list(row[0])
        figures[a], figures[b] = figures[b], figures[a]
        row[0] = "".join(figures)
    else:
        return None
    return tuple(row)


@worlds
def test_plain_instructions_lead_to_their_goals(world):
    rng, done, kinds = Random(9), 0, Counter()
    for context in map(plain, islice(synthetic.annotated(world, seed=7, turns=2), 300)):
        for _ in range(10):
            turn = synthetic.next_turn(get_world(world).grammar(), world, context, rng)
            leaning = {Phenomenon.PRONOUN, Phenomenon.SAME_AGAIN, Phenomenon.ELLIPSIS, Phenomenon.PUT_BACK, Phenomenon.OTHER_ONE}
            goal = None if turn.instruction.phenomena & leaning else executed(world, turn.instruction.words, context.state)
            if goal is not None:
                assert goal == turn.state, (turn.instruction.words, context.state)
                done += 1
                kinds[turn.event.kind] += 1
    assert done > 300
    assert len(kinds) == 2


# Phrases that lean on the past, one by one.


def told(world, state, *steps):
    """A context made of chosen turns: each is what the next turn must say, drawn until it does."""
    context, rng = replace(plain(get_world(world).grammar().start(Random(0))), states=(state,)), Random(3)
    for step in steps:
        turns = (synthetic.next_turn(get_world(world).grammar(), world, context, rng) for _ in range(200_000))
        context = context.then(next(turn for turn in turns if turn.instruction.words == step))
    return context


@pytest.mark.parametrize(
    ("world", "start", "steps", "goal"),
    [
        ("tangrams", "40231", ["remove the last figure", "do it again"], "402"),
        ("tangrams", "40231", ["remove the third figure", "do it again"], "401"),
        ("tangrams", "402", ["remove the second figure", "remove the first figure", "undo step 1"], "20"),
        ("tangrams", "402", ["swap the first and last figures", "swap them back"], "402"),
        ("alchemy", "gg _ _ _ _ rr _", ["drain one unit from the green one", "do the same with the red one"], "g _ _ _ _ r _"),
        ("alchemy", "gg _ r _ _ _ _", ["pour the red one into the green one", "it turns brown"], "bbb _ _ _ _ _ _"),
        ("alchemy", "gg _ _ _ _ r _", ["drain the green one", "put it back"], "gg _ _ _ _ r _"),
        ("scene", "__ rb __ __ __ __ __ __ __ __", ["the person moves to the far right", "he leaves"], "__ __ __ __ __ __ __ __ __ __"),
        (
            "scene",
            "__ rb __ __ __ __ __ __ __ __",
            ["the person moves two steps to the right", "he does it again"],
            "__ __ __ __ __ rb __ __ __ __",
        ),
        ("scene", "__ rb __ __ __ __ __ __ __ __", ["the person moves to the far right", "he moves back"], "__ rb __ __ __ __ __ __ __ __"),
        ("scene", "__ rb __ g_ __ __ __ __ __ __", ["the person in green takes the hat", "he leaves"], "__ r_ __ __ __ __ __ __ __ __"),
        (
            "scene",
            "__ rb __ g_ __ __ __ __ __ __",
            ["the person in green takes the hat", "he gives it back"],
            "__ rb __ g_ __ __ __ __ __ __",
        ),
        (
            "scene",
            "__ rb __ g_ __ __ __ __ __ __",
            ["the person in green leaves", "so does the only person"],
            "__ __ __ __ __ __ __ __ __ __",
        ),
    ],
)
def test_discourse_by_example(world, start, steps, goal):
    rules = get_world(world)
    start, goal = (" ".join(f"{n}:{x}" for n, x in enumerate(text.split() if " " in text else text, start=1)) for text in (start, goal))
    assert rules.format(told(world, rules.parse(start), *steps).state) == goal


@pytest.mark.parametrize(
    ("world", "start", "step"),
    [
        ("scene", "1:__ 2:__ 3:rb 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:__", "the person moves to the far left"),
        ("alchemy", "1:_ 2:gggg 3:gg 4:_ 5:_ 6:_ 7:_", "drain half of the second beaker"),
    ],
)
def test_what_cannot_be_repeated_is_not(world, start, step):
    """Nobody says "again" or "the same" after the far end or of a share: it would not be clear what is meant."""
    context, rng = told(world, get_world(world).parse(start), step), Random(0)
    turns = [synthetic.next_turn(get_world(world).grammar(), world, context, rng) for _ in range(500)]
    assert [turn.instruction.words for turn in turns if Phenomenon.SAME_AGAIN in turn.instruction.phenomena] == []

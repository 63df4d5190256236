"""Words that fit two or more readings: one is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from random import Random

from sestra.data.grammar import Context, Rule, Turn
from sestra.worlds.tangrams import rearranging
from sestra.worlds.tangrams.deeds import TAKE
from sestra.worlds.tangrams.descriptions import Event, absent
from sestra.worlds.tangrams.references import an, destination, name, noun
from sestra.worlds.tangrams.world import SHAPES


def some_figure(context: Context, rng: Random) -> Turn | None:
    """A figure is to go, and the words fit two or more."""
    (row,), thing = context.state, noun(context, rng)
    size = len(row)
    if size < 2:
        return None
    ways = [(f"[{an(thing)}|any {thing}|some {thing}|one {thing}|one of the {thing}s|one of them|a random {thing}]", list(range(size)))]
    ways += [(f"[one of the outer {thing}s|an outer {thing}|{an(thing)} at [one|either] end|one of the ends]", [0, size - 1])]
    first, second = sorted(rng.sample(range(size), 2))
    x, y = name(context, first, rng), name(context, second, rng)
    ways += [(f"[either|] {x} or {y}", [first, second])]
    if size > 2:
        ways += [(f"[one of the first two {thing}s|one of the first two]", [0, 1])]
        ways += [(f"[one of the last two {thing}s|one of the last two]", [size - 2, size - 1])]
        inner = rng.randrange(1, size - 1)
        beside = name(context, inner, rng)
        ways += 2 * [(f"[the {thing}|the one|{an(thing)}] [next to|beside|adjacent to] {beside}", [inner - 1, inner + 1])]
        ways += [(f"[a|the|one] [neighbor|neighbour] of {beside}", [inner - 1, inner + 1])]
    if size == 4:
        ways += 3 * [(f"[the|a] [middle|center|centre|central] [{thing}|one]", [1, 2])]
    if context.event.kind == "swap" and len(context.event.figures) == 2:
        ways += 4 * [("[it|one of them|one of the two]", [row.index(figure) for figure in context.event.figures])]
    words, indices = rng.choice(ways)
    phrase = context.say(rng, f"{TAKE} {words}")
    index = rng.choice(indices)
    return Turn(phrase, (rearranging.without(row, {index}),), Event("remove", (), row[index]))


def some_swap(context: Context, rng: Random) -> Turn | None:
    """A swap of which one figure, or both, may be any of several."""
    (row,), thing = context.state, noun(context, rng)
    size = len(row)
    if size < 3:
        return None
    swap = "[swap|switch|exchange|{swap}]"
    index = rng.randrange(size)
    x = name(context, index, rng)
    others = [(index, other) for other in range(size) if other != index]
    ways = [
        (
            f"{swap} [two {thing}s|two of the {thing}s|two of them|a pair of {thing}s|any two {thing}s|a few {thing}s]",
            list(combinations(range(size), 2)),
        )
    ]
    ways += [(f"{swap} {x} [|with another [{thing}|one]|with [some|any] other {thing}|with something|with one of the others]", others)]
    if 0 < index < size - 1:
        beside = [(index, index - 1), (index, index + 1)]
        ways += 2 * [(f"{swap} {x} with [its neighbor|its neighbour|the one next to it|a neighbor|the {thing} beside it]", beside)]
    if size == 4:
        middle = [(index, other) for other in (1, 2) if other != index]
        ways += [(f"{swap} {x} with the [middle|center|centre] [one|{thing}]", middle)] if len(middle) == 2 else []
    words, pairs = rng.choice(ways)
    phrase = context.say(rng, words)
    return Turn(phrase, (rearranging.swapped(row, *rng.choice(pairs)),), Event("swap"))


def some_move(context: Context, rng: Random) -> Turn | None:
    """A move that does not say where to, or does not say of what."""
    (row,), thing = context.state, noun(context, rng)
    size = len(row)
    if size < 3:
        return None
    index = rng.randrange(size)
    x, move = name(context, index, rng), "[move|shift|push|slide]"
    elsewhere = [(index, to) for to in range(size) if to != index]
    ways = [
        (f"{move} {x} [|somewhere else|elsewhere|to another {{spot}}|to a different {{spot}}|to some other {{spot}}|around]", elsewhere)
    ]
    ways += [
        (f"{move} [{an(thing)}|some {thing}|one {thing}|any {thing}] to the [front|start|beginning]", [(at, 0) for at in range(1, size)])
    ]
    ways += [(f"{move} [{an(thing)}|some {thing}|one {thing}|any {thing}] to the end", [(at, size - 1) for at in range(size - 1)])]
    if 0 < index < size - 1:
        ways += [(f"{move} {x} [one place|by one|one {{spot}}|one over|over one|a place]", [(index, index - 1), (index, index + 1)])]
        ways += [(f"{move} {x} to [one of the ends|one end|either end]", [(index, 0), (index, size - 1)])]
        ways += [(f"{move} {x} to the [side|edge]", [(index, 0), (index, size - 1)])]
    if index > 1:
        ways += [(f"{move} {x} [to the left|left|a bit to the left|further left]", [(index, to) for to in range(index)])]
    if index < size - 2:
        ways += [(f"{move} {x} [to the right|right|a bit to the right|further right]", [(index, to) for to in range(index + 1, size)])]
    beside = rng.choice([at for at in range(size) if at != index])
    rest = rearranging.without(row, {index})
    sides = [(index, rest.index(row[beside])), (index, rest.index(row[beside]) + 1)]
    ways += [(f"[move|put|place] {x} [next to|beside] {name(context, beside, rng)}", sides)]
    words, moves = rng.choice(ways)
    moves = [(at, to) for at, to in moves if at != to]
    if len(moves) < 2:
        return None
    at, to = rng.choice(moves)
    phrase = context.say(rng, words)
    return Turn(phrase, (rearranging.moved(row, at, to),), Event("move", figures=row[at]))


def some_absent(context: Context, rng: Random) -> Turn | None:
    """A figure is to come back, and two or more are out of the row."""
    (row,), thing, gone = context.state, noun(context, rng), absent(context)
    missing = list(gone) if len(gone) > 1 else sorted({*SHAPES} - {*row})
    if len(missing) < 2:
        return None
    words = f"[{an(thing)}|[another|one more|a new|some] {thing}]"
    if len(gone) > 1:
        words = f"[the [missing|removed|deleted] {thing}|one of the [missing|removed|deleted] {thing}s|a removed {thing}]"
        words = f"[{words}|{words}|{an(thing)}|another {thing}|one more {thing}]"
    if context.event.kind == "remove several" and len(gone) > 1:
        words = f"[{words}|it|one of them]"
    index = rng.choice((0, len(row), rng.randint(0, len(row))))
    phrase = context.say(rng, f"[add|put|insert|bring] {words} [back|] {{where}}", where=destination(context, row, index, rng))
    figure = rng.choice(missing)
    return Turn(phrase, (rearranging.inserted(row, figure, index),), Event("put back", (), figure))


AMBIGUOUS: Mapping[Rule, float] = {some_figure: 1.4, some_swap: 1, some_move: 1.2, some_absent: 1.2}

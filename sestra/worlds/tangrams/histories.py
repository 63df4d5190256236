"""Situations in Tangrams with earlier turns, and those in which nothing should be done."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random

from sestra.analysis.checks.patterns import Draw, Situation, need
from sestra.data.vocabulary import CARDINALS, ORDINALS
from sestra.worlds.tangrams.situations import Words, insert, move, ordinals, remove, row, swap
from sestra.worlds.tangrams.world import SHAPES

Row = tuple[str]


def said_remove(place: int) -> str:
    return f"remove the {ORDINALS[place]} figure"


def said_swap(one: int, other: int) -> str:
    return f"swap the {ORDINALS[one]} and {ORDINALS[other]} figures"


def _situation(rows: list[str], goal: str, words: Words, *earlier: str) -> Situation:
    return Situation(tuple((figures,) for figures in rows), (goal,), words, earlier)


def put_at(generator: Random) -> Situation:
    """The figure that was just removed comes back at another place."""
    start = row(generator, 4, 5)
    place, to = generator.sample(range(len(start)), 2)
    now = remove(start, place)
    return _situation([start, now], insert(now, to, start[place]), {"ordinal": ORDINALS[to], "number": str(to + 1)}, said_remove(place))


def put_at_end(generator: Random) -> Situation:
    start = row(generator, 4, 5)
    place = generator.randrange(1, len(start) - 1)
    edge, side, to = generator.choice((("front", "left", 0), ("end", "right", len(start) - 1)))
    now = remove(start, place)
    return _situation([start, now], insert(now, to, start[place]), {"edge": edge, "side": side}, said_remove(place))


def put_step(generator: Random) -> Situation:
    """One of two removed figures, named by the step that removed it."""
    start = row(generator, 4, 5)
    first, second = generator.randrange(len(start)), generator.randrange(len(start) - 1)
    between = remove(start, first)
    now = remove(between, second)
    number, to = generator.randrange(2), generator.randrange(len(now) + 1)
    figure = (start[first], between[second])[number]
    words = {"step": CARDINALS[number], "digit": str(number + 1), "which": ORDINALS[number], "ordinal": ORDINALS[to]}
    return _situation([start, between, now], insert(now, to, figure), words, said_remove(first), said_remove(second))


def put_last_removed(generator: Random) -> Situation:
    """The later one of two removed figures."""
    start = row(generator, 4, 5)
    first, second = generator.randrange(len(start)), generator.randrange(len(start) - 1)
    between = remove(start, first)
    now = remove(between, second)
    to = generator.randrange(len(now) + 1)
    words = {"ordinal": ORDINALS[to], "number": str(to + 1)}
    return _situation([start, between, now], insert(now, to, between[second]), words, said_remove(first), said_remove(second))


def swapped_again(generator: Random) -> Situation:
    start = row(generator)
    (one, other), _ = ordinals(generator, start, 2)
    return _situation([start, swap(start, one, other)], start, {}, said_swap(one, other))


def after_insertion(then: Callable[[str, int], str]) -> Draw:
    """A figure was removed and added at the end; now something is done to it."""

    def draw(generator: Random) -> Situation:
        start = row(generator, 4, 5)
        place = generator.randrange(len(start) - 1)
        between = remove(start, place)
        now = between + start[place]
        return _situation([start, between, now], then(now, len(now) - 1), {}, said_remove(place), "add it at the end")

    return draw


def swap_with_first(figures: str, place: int) -> str:
    return swap(figures, place, 0)


def move_to_front(figures: str, place: int) -> str:
    return move(figures, place, 0)


def others_swapped(generator: Random) -> Situation:
    """Of four figures the two that were not swapped."""
    start = row(generator, 4)
    one, other = sorted(generator.sample(range(4), 2))
    now = swap(start, one, other)
    rest = [place for place in range(4) if place not in (one, other)]
    return _situation([start, now], swap(now, *rest), {}, said_swap(one, other))


def remove_again(generator: Random) -> Situation:
    """The figure at the same end once more."""
    start = row(generator, 4, 5)
    place, said = generator.choice(((0, "remove the first figure"), (-1, "remove the last figure")))
    now, goal = (start[1:], start[2:]) if place == 0 else (start[:-1], start[:-2])
    return _situation([start, now], goal, {}, said)


def remove_too(generator: Random) -> Situation:
    start = row(generator, 4, 5)
    place = generator.randrange(len(start))
    now = remove(start, place)
    (other,), (name,) = ordinals(generator, now, 1)
    return _situation([start, now], remove(now, other), {"other": name}, said_remove(place))


def swap_too(generator: Random) -> Situation:
    start = row(generator)
    (one, other), _ = ordinals(generator, start, 2)
    now = swap(start, one, other)
    places, (first, second) = ordinals(generator, now, 2)
    need(places != [one, other])
    return _situation([start, now], swap(now, *places), {"one": first, "other": second}, said_swap(one, other))


def repeat_step(generator: Random) -> Situation:
    """The first of two steps, a swap or a removal, with the same arguments."""
    start = row(generator, 5)
    (one, other), _ = ordinals(generator, start[:-1], 2)
    if generator.random() < 0.5:
        rows = [start, swap(start, one, other)]
        rows.append(rows[-1][:-1])
        goal, said = swap(rows[-1], one, other), (said_swap(one, other), "remove the last figure")
    else:
        rows = [start, remove(start, one)]
        rows.append(swap(rows[-1], 0, len(rows[-1]) - 1))
        goal, said = remove(rows[-1], one), (said_remove(one), "swap the first and last figures")
    return _situation(rows, goal, {}, *said)


def repeat_step_with(generator: Random) -> Situation:
    """One of two steps, a swap and a removal, with other arguments."""
    start = row(generator, 5)
    (one, other), _ = ordinals(generator, start[:-1], 2)
    rows = [start, swap(start, one, other)]
    rows.append(rows[-1][:-1])
    places, (first, second) = ordinals(generator, rows[-1], 2)
    need(places != [one, other])
    return _situation(
        rows, swap(rows[-1], *places), {"one": first, "other": second}, said_swap(one, other), "remove the last figure"
    )  # fmt: skip


def undone(generator: Random) -> Situation:
    """The last turn, a removal or a swap."""
    return generator.choice((put_back, swapped_again))(generator)


def put_back(generator: Random) -> Situation:
    """A figure comes back where it was."""
    start = row(generator)
    place = generator.randrange(len(start))
    return _situation([start, remove(start, place)], start, {}, said_remove(place))


def undone_step(generator: Random) -> Situation:
    """The first of two steps: a swap, after which the last figure was removed."""
    start = row(generator, 4, 5)
    (one, other), _ = ordinals(generator, start[:-1], 2)
    swapped = swap(start, one, other)
    return _situation([start, swapped, swapped[:-1]], start[:-1], {}, said_swap(one, other), "remove the last figure")


def unchanged(generator: Random) -> Situation:
    """Nothing should be done, whatever is named; sometimes after an earlier turn."""
    start = row(generator, 4, 5)
    rows, earlier = [start], []
    if generator.random() < 0.5:
        place = generator.randrange(len(start))
        rows, earlier = [start, remove(start, place)], [said_remove(place)]
    (one, _), (first, second) = ordinals(generator, rows[-1], 2)
    return _situation(rows, rows[-1], {"one": first, "other": second, "number": str(one + 1)}, *earlier)


def beyond(generator: Random) -> Situation:
    """A place where there is no figure."""
    figures = row(generator)
    place = generator.randrange(len(figures), 8)
    words = {"ordinal": ORDINALS[place], "number": str(place + 1), "one": ORDINALS[generator.randrange(len(figures))]}
    return _situation([figures], figures, words)


def nothing_removed(generator: Random) -> Situation:
    figures = row(generator, 5)
    return _situation([figures], figures, {})


def no_such_step(generator: Random) -> Situation:
    start = row(generator)
    place, step = generator.randrange(len(start)), generator.randint(3, 8)
    return _situation([start, remove(start, place)], remove(start, place), {"step": str(step)}, said_remove(place))


def _ambiguous(figures: str, readings: list[str], **words: str) -> Situation:
    return Situation(((figures,),), (figures,), words, (), tuple((reading,) for reading in dict.fromkeys(readings)))


def which_to_remove(generator: Random) -> Situation:
    figures = row(generator)
    return _ambiguous(figures, [remove(figures, place) for place in range(len(figures))])


def which_to_swap_with(generator: Random) -> Situation:
    figures = row(generator)
    (place,), (name,) = ordinals(generator, figures, 1)
    return _ambiguous(figures, [swap(figures, place, other) for other in range(len(figures)) if other != place], ordinal=name)


def which_two(generator: Random) -> Situation:
    figures = row(generator)
    return _ambiguous(figures, [swap(figures, *places) for places in combinations(range(len(figures)), 2)])


def which_missing(generator: Random) -> Situation:
    figures = row(generator, 2, 3)
    return _ambiguous(figures, [figures + shape for shape in SHAPES if shape not in figures])


def which_to_front(generator: Random) -> Situation:
    figures = row(generator)
    return _ambiguous(figures, [move(figures, place, 0) for place in range(1, len(figures))])

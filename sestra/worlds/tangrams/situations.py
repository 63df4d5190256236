"""Situations in Tangrams that the patterns of ``checks`` are said in: figures, which are meant, and the row that should follow."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sestra.analysis.checks.patterns import Draw, Situation, need
from sestra.analysis.checks.wording import NUMERALS
from sestra.data.vocabulary import CARDINALS, ORDINALS
from sestra.worlds.tangrams.world import SHAPES

Words = dict[str, str]
Naming = Callable[[Random, str], tuple[list[int], Words]]


def row(generator: Random, *sizes: int) -> str:
    """Three to five figures, or so many."""
    return "".join(generator.sample(SHAPES, generator.choice(sizes or (3, 4, 5, 5))))


def remove(figures: str, place: int) -> str:
    return figures[:place] + figures[place + 1 :]


def insert(figures: str, place: int, figure: str) -> str:
    need(place <= len(figures))
    return figures[:place] + figure + figures[place:]


def swap(figures: str, one: int, other: int) -> str:
    found = list(figures)
    found[one], found[other] = found[other], found[one]
    return "".join(found)


def move(figures: str, place: int, to: int) -> str:
    need(0 <= to < len(figures) and to != place)
    return insert(remove(figures, place), to, figures[place])


def ordinals(generator: Random, figures: str, number: int) -> tuple[list[int], list[str]]:
    """So many places in order, and what they are called from the left."""
    need(len(figures) >= number)
    places = sorted(generator.sample(range(len(figures)), number))
    return places, ["last" if place == len(figures) - 1 and generator.random() < 0.5 else ORDINALS[place] for place in places]


def removed(naming: Naming, *sizes: int) -> Draw:
    """Those that are named are removed."""

    def draw(generator: Random) -> Situation:
        figures = row(generator, *sizes)
        places, words = naming(generator, figures)
        need(bool(places) and max(places) < len(figures))
        goal = "".join(figure for place, figure in enumerate(figures) if place not in places)
        return Situation(((figures,),), (goal,), words)

    return draw


def by_place(generator: Random, figures: str) -> tuple[list[int], Words]:
    """By its number and its ordinal from either end."""
    place = generator.randrange(len(figures))
    other = len(figures) - 1 - place
    words = {"number": str(place + 1), "word": CARDINALS[place], "ordinal": ORDINALS[place], "numeral": NUMERALS[place]}
    return [place], words | {"right": ORDINALS[other], "right_numeral": NUMERALS[other]}


def by_end(generator: Random, figures: str) -> tuple[list[int], Words]:
    side, place = generator.choice((("left", 0), ("right", len(figures) - 1)))
    return [place], {"side": side}


def in_the_middle(_: Random, figures: str) -> tuple[list[int], Words]:
    need(len(figures) % 2 == 1)
    return [len(figures) // 2], {}


def last(_: Random, figures: str) -> tuple[list[int], Words]:
    return [len(figures) - 1], {}


def before_last(_: Random, figures: str) -> tuple[list[int], Words]:
    return [len(figures) - 2], {}


def beside(generator: Random, figures: str) -> tuple[list[int], Words]:
    other = generator.randrange(len(figures))
    side, step = generator.choice((("left", -1), ("right", 1)))
    need(0 <= other + step < len(figures))
    after = "before" if step < 0 else "after"
    return [other + step], {"ordinal": ORDINALS[other], "numeral": NUMERALS[other], "side": side, "after": after}


def between(generator: Random, figures: str) -> tuple[list[int], Words]:
    place = generator.randrange(1, len(figures) - 1)
    return [place], {"one": ORDINALS[place - 1], "other": ORDINALS[place + 1]}


def first_few(generator: Random, figures: str) -> tuple[list[int], Words]:
    number = generator.choice((2, 3))
    need(number < len(figures))
    return list(range(number)), {"few": CARDINALS[number - 1]}


def last_few(generator: Random, figures: str) -> tuple[list[int], Words]:
    places, words = first_few(generator, figures)
    return [len(figures) - 1 - place for place in places], words


def everything(_: Random, figures: str) -> tuple[list[int], Words]:
    return list(range(len(figures))), {}


def all_but_one(generator: Random, figures: str) -> tuple[list[int], Words]:
    (kept,), words = by_place(generator, figures)
    return [place for place in range(len(figures)) if place != kept], words


def two(generator: Random, figures: str) -> tuple[list[int], Words]:
    places, (one, other) = ordinals(generator, figures, 2)
    numbers = {"number": str(places[0] + 1), "other_number": str(places[1] + 1)}
    return places, {"one": one, "other": other, "numeral": NUMERALS[places[0]], "other_numeral": NUMERALS[places[1]], **numbers}


def both_ends(_: Random, figures: str) -> tuple[list[int], Words]:
    need(len(figures) > 2)
    return [0, len(figures) - 1], {}


def first_two(_: Random, __: str) -> tuple[list[int], Words]:
    return [0, 1], {}


def last_two(_: Random, figures: str) -> tuple[list[int], Words]:
    return [len(figures) - 2, len(figures) - 1], {}


def swapped(naming: Naming) -> Draw:
    """The two that are named change places."""

    def draw(generator: Random) -> Situation:
        figures = row(generator)
        (one, other), words = naming(generator, figures)
        return Situation(((figures,),), (swap(figures, one, other),), words)

    return draw


def moved_to_end(generator: Random) -> Situation:
    figures = row(generator)
    (place,), words = by_place(generator, figures)
    side, edge, to = generator.choice((("left", "front", 0), ("right", "end", len(figures) - 1)))
    return Situation(((figures,),), (move(figures, place, to),), words | {"side": side, "edge": edge})


def moved_by(generator: Random) -> Situation:
    figures = row(generator)
    (place,), words = by_place(generator, figures)
    number, (side, sign) = generator.randint(1, 3), generator.choice((("left", -1), ("right", 1)))
    goal = move(figures, place, place + sign * number)
    return Situation(((figures,),), (goal,), words | {"side": side, "n": CARDINALS[number - 1], "s": "s" * (number > 1)})


def moved_to_place(generator: Random) -> Situation:
    figures = row(generator)
    place, to = generator.sample(range(len(figures)), 2)
    one, other = ORDINALS[place], ORDINALS[to]
    return Situation(((figures,),), (move(figures, place, to),), {"one": one, "other": other, "number": str(to + 1)})


def reversed_order(generator: Random) -> Situation:
    figures = row(generator)
    return Situation(((figures,),), (figures[::-1],), {})


def missing_inserted(generator: Random) -> Situation:
    """The only figure that is missing comes at a place."""
    figures = row(generator, len(SHAPES) - 1)
    (missing,) = (shape for shape in SHAPES if shape not in figures)
    place = generator.randrange(len(SHAPES))
    return Situation(((figures,),), (insert(figures, place, missing),), {"ordinal": ORDINALS[place], "number": str(place + 1)})

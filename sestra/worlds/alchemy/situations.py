"""Situations in Alchemy that the patterns of ``checks`` are said in: beakers, what is meant, and the state that should follow.

A *naming* chooses the beakers that are meant and the words that say so; a *draw* makes a situation of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from sestra.analysis.checks.patterns import Draw, Situation, need
from sestra.analysis.checks.wording import NUMERALS
from sestra.data.vocabulary import CARDINALS, ORDINALS
from sestra.worlds.alchemy.world import BEAKERS, CAPACITY, COLOURS

Beakers = tuple[str, ...]
Words = dict[str, str]
Naming = Callable[[Random, Beakers], tuple[Sequence[int], Words]]

FRESH = tuple(colour for colour in COLOURS if colour != "b")
"""Brown comes from mixing."""
MOST_ACTIONS = 18
"""Agents stop after 20."""


def drain(beakers: Beakers, place: int, units: int = CAPACITY) -> Beakers:
    return replaced(beakers, place, beakers[place][: max(len(beakers[place]) - units, 0)])


def pour(beakers: Beakers, place: int, into: int, units: int = CAPACITY) -> Beakers:
    """Unit by unit from the top, so that the order of what is poured is reversed."""
    kept = max(len(beakers[place]) - units, 0)
    filled = beakers[into] + beakers[place][kept:][::-1]
    need(place != into and bool(beakers[place]) and len(filled) <= CAPACITY)
    return replaced(replaced(beakers, into, filled), place, beakers[place][:kept])


def mix(beakers: Beakers, place: int) -> Beakers:
    return replaced(beakers, place, "b" * len(beakers[place]))


def replaced(beakers: Beakers, place: int, beaker: str) -> Beakers:
    return (*beakers[:place], beaker, *beakers[place + 1 :])


def row(generator: Random, mixed: int = 0) -> Beakers:
    """Four to six beakers with units of one fresh colour each, and some of those with two colours."""
    places = generator.sample(range(BEAKERS), generator.randint(4, 6))
    beakers = tuple(generator.choice(FRESH) * generator.randint(1, CAPACITY) if place in places else "" for place in range(BEAKERS))
    for place in places[:mixed]:
        below, above = generator.sample(FRESH, 2)
        beakers = replaced(beakers, place, (below * generator.randint(1, 2) + above * generator.randint(1, 2)))
    return beakers


def filled(beakers: Beakers) -> list[int]:
    return [place for place, beaker in enumerate(beakers) if beaker]


def containing(beakers: Beakers, colour: str) -> list[int]:
    return [place for place, beaker in enumerate(beakers) if colour in beaker]


def named(beakers: Beakers) -> dict[int, str]:
    """The beakers that a colour names: they have no other colour, and no other beaker has it."""
    found = {colour: containing(beakers, colour) for colour in COLOURS}
    return {places[0]: COLOURS[colour] for colour, places in found.items() if len(places) == 1 and len(set(beakers[places[0]])) == 1}


def pick(generator: Random, places: Iterable[int], number: int = 1) -> list[int]:
    places = list(places)
    need(len(places) >= number)
    return generator.sample(places, number)


def units(number: int) -> str:
    return f"{CARDINALS[number - 1]} unit{'s' * (number > 1)}"


def emptied(naming: Naming, number: Callable[[Random, int], int] = lambda _, size: size) -> Draw:
    """What is named is emptied, or so many of its units are drained."""

    def draw(generator: Random) -> Situation:
        beakers = row(generator)
        places, words = naming(generator, beakers)
        need(all(beakers[place] for place in places))
        numbers = [number(generator, len(beakers[place])) for place in places]
        need(0 < sum(numbers) <= MOST_ACTIONS and min(numbers) > 0)
        goal = beakers
        for place, count in zip(places, numbers, strict=True):
            goal = drain(goal, place, count)
        left = len(goal[places[0]])
        counts = {"units": units(numbers[0]), "digit": str(numbers[0]), "left": units(left) if left else "none"}
        return Situation((beakers,), goal, words | counts)

    return draw


def some(generator: Random, size: int) -> int:
    """Not all units, and not none."""
    need(size > 1)
    return generator.randrange(1, size)


def half(_: Random, size: int) -> int:
    need(size % 2 == 0)
    return size // 2


def by_colour(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
    (place,) = pick(generator, named(beakers))
    return [place], {"colour": named(beakers)[place], "ordinal": ORDINALS[place], "numeral": NUMERALS[place]}


def by_two_colours(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
    places = pick(generator, named(beakers), 2)
    return places, {"colour": named(beakers)[places[0]], "other": named(beakers)[places[1]], "into": ORDINALS[places[1]]}


def by_end(generator: Random, _: Beakers) -> tuple[list[int], Words]:
    last = BEAKERS - 1
    name, place = generator.choice((("leftmost", 0), ("far left", 0), ("rightmost", last), ("far right", last), ("middle", last // 2)))
    return [place], {"place": name}


def by_place(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
    """By its number and its ordinal from either end."""
    (place,) = pick(generator, filled(beakers))
    other = BEAKERS - 1 - place
    words = {"number": str(place + 1), "word": CARDINALS[place], "ordinal": ORDINALS[place], "numeral": NUMERALS[place]}
    return [place], words | {"right": ORDINALS[other], "right_numeral": NUMERALS[other]}


def before_last(_: Random, __: Beakers) -> tuple[list[int], Words]:
    return [BEAKERS - 2], {}


def by_ordinal_and_colour(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
    colour = generator.choice(FRESH)
    places = containing(beakers, colour)
    need(len(places) > 1)
    number = generator.randrange(len(places))
    which = "last" if number == len(places) - 1 and generator.random() < 0.5 else ORDINALS[number]
    return [places[number]], {"which": which, "colour": COLOURS[colour]}


def by_amount(*sizes: int) -> Naming:
    """The only beaker with so many units."""

    def naming(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
        size = generator.choice(sizes)
        places = [place for place, beaker in enumerate(beakers) if len(beaker) == size]
        need(len(places) == 1)
        return places, {"amount": CARDINALS[size - 1], "amount_digit": str(size)}

    return naming


def fullest(_: Random, beakers: Beakers) -> tuple[list[int], Words]:
    sizes = [len(beaker) for beaker in beakers]
    need(sizes.count(max(sizes)) == 1)
    return [sizes.index(max(sizes))], {}


def by_size_and_colour(place: int) -> Naming:
    """Of two beakers of a colour the smaller (0) or the bigger (1)."""

    def naming(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
        colour = generator.choice(FRESH)
        places = sorted(containing(beakers, colour), key=lambda each: len(beakers[each]))
        need(len(places) == 2 and len(beakers[places[0]]) < len(beakers[places[1]]))
        return [places[place]], {"colour": COLOURS[colour]}

    return naming


def beside(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
    (other,) = pick(generator, named(beakers))
    side, step = generator.choice((("left", -1), ("right", 1)))
    need(0 <= other + step < BEAKERS)
    return [other + step], {"side": side, "colour": named(beakers)[other]}


def between(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
    place = generator.randrange(1, BEAKERS - 1)
    need({place - 1, place + 1} <= set(named(beakers)))
    return [place], {"colour": named(beakers)[place - 1], "other": named(beakers)[place + 1]}


def everything(_: Random, beakers: Beakers) -> tuple[list[int], Words]:
    return filled(beakers), {}


def all_but_colour(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
    (kept,) = pick(generator, named(beakers))
    return [place for place in filled(beakers) if place != kept], {"colour": named(beakers)[kept]}


def of_colour(*sizes: int) -> Naming:
    """All beakers of a colour of which there are so many."""

    def naming(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
        colour = generator.choice(FRESH)
        places = containing(beakers, colour)
        need(len(places) in sizes)
        return places, {"colour": COLOURS[colour]}

    return naming


def first_few(generator: Random, _: Beakers) -> tuple[list[int], Words]:
    number = generator.choice((2, 3))
    return list(range(number)), {"few": CARDINALS[number - 1]}


def last_few(generator: Random, _: Beakers) -> tuple[list[int], Words]:
    number = generator.choice((2, 3))
    return list(range(BEAKERS - number, BEAKERS)), {"few": CARDINALS[number - 1]}


def poured(naming: Naming, *, mixed: bool = False, number: Callable[[Random, int], int] = lambda _, size: size) -> Draw:
    """The first beaker that is named is poured into the second, or so many of its units are."""

    def draw(generator: Random) -> Situation:
        beakers = row(generator, mixed=int(mixed))
        (place, into), words = naming(generator, beakers)
        need(bool(beakers[place]))
        count = number(generator, len(beakers[place]))
        return Situation((beakers,), pour(beakers, place, into, count), words | {"units": units(count)})

    return draw


def two_places(generator: Random, _: Beakers) -> tuple[list[int], Words]:
    place, into = generator.sample(range(BEAKERS), 2)
    words = {"number": str(place + 1), "other_number": str(into + 1), "ordinal": ORDINALS[place], "into": ORDINALS[into]}
    return [place, into], words | {"numeral": NUMERALS[place], "into_numeral": NUMERALS[into]}


def mixed_into_colour(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
    """The only mixed beaker, whose colours no other beaker has, and another one."""
    places = [place for place, beaker in enumerate(beakers) if len(set(beaker)) > 1]
    (into,) = pick(generator, named(beakers))
    below, above = beakers[places[0]][0], beakers[places[0]][-1]
    need(len(containing(beakers, below)) == 1 == len(containing(beakers, above)))
    words = {"ordinal": ORDINALS[places[0]], "number": str(places[0] + 1), "into": ORDINALS[into], "other_number": str(into + 1)}
    return [places[0], into], words | {"below": COLOURS[below], "above": COLOURS[above], "colour": named(beakers)[into]}


def mixed_into_empty(generator: Random, beakers: Beakers) -> tuple[list[int], Words]:
    (place, _), words = mixed_into_colour(generator, beakers)
    (into,) = pick(generator, [each for each, beaker in enumerate(beakers) if not beaker])
    return [place, into], words | {"into": ORDINALS[into], "other_number": str(into + 1)}


def stirred(generator: Random) -> Situation:
    """The only mixed beaker turns brown."""
    beakers = row(generator, mixed=1)
    (place, _), words = mixed_into_colour(generator, beakers)
    return Situation((beakers,), mix(beakers, place), words)

"""Situations in Alchemy with earlier turns, and those in which nothing should be done."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sestra.analysis.checks.patterns import Draw, Situation, need
from sestra.data.vocabulary import CARDINALS, ORDINALS
from sestra.worlds.alchemy.situations import (
    FRESH,
    Beakers,
    by_colour,
    containing,
    drain,
    filled,
    mix,
    named,
    pick,
    pour,
    replaced,
    row,
    some,
    units,
)
from sestra.worlds.alchemy.world import BEAKERS, CAPACITY, COLOURS


def said_drain(place: int, number: int = 0) -> str:
    return f"throw out {units(number)} of the {ORDINALS[place]} beaker" if number else f"throw out the {ORDINALS[place]} beaker"


def said_pour(place: int, into: int) -> str:
    return f"pour the {ORDINALS[place]} beaker into the {ORDINALS[into]} one"


def after_pour(then: Callable[[Beakers, int], Beakers]) -> Draw:
    """Something is done to the beaker that was poured into."""

    def draw(generator: Random) -> Situation:
        start = row(generator)
        place, into = pick(generator, filled(start), 2)
        now = pour(start, place, into)
        need(len(set(now[into])) > 1)
        return Situation((start, now), then(now, into), {}, (said_pour(place, into),))

    return draw


def after_drain(generator: Random) -> Situation:
    """The rest of a beaker is drained."""
    start = row(generator)
    (place,) = pick(generator, filled(start))
    number = some(generator, len(start[place]))
    now = drain(start, place, number)
    return Situation((start, now), drain(now, place), {}, (said_drain(place, number),))


def other_of_colour(generator: Random) -> Situation:
    """Of two beakers of a colour, first one is emptied, then the other."""
    start, colour = row(generator), generator.choice(FRESH)
    places = containing(start, colour)
    need(len(places) == 2)
    number = generator.randrange(2)
    now = drain(start, places[number])
    earlier = f"throw out the {ORDINALS[number]} {COLOURS[colour]} beaker"
    return Situation((start, now), drain(now, places[1 - number]), {"colour": COLOURS[colour]}, (earlier,))


def again(generator: Random) -> Situation:
    """As many units of the same beaker once more."""
    start = row(generator)
    (place,) = pick(generator, filled(start))
    number = generator.randint(1, 2)
    need(len(start[place]) >= 2 * number)
    now = drain(start, place, number)
    return Situation((start, now), drain(now, place, number), {}, (said_drain(place, number),))


def same_with(generator: Random) -> Situation:
    """As many units of a beaker that a colour or an ordinal names."""
    start = row(generator)
    (place,) = pick(generator, filled(start))
    number = some(generator, len(start[place]))
    now = drain(start, place, number)
    (other,), words = by_colour(generator, now)
    need(other != place and len(now[other]) > number)
    return Situation((start, now), drain(now, other, number), words, (said_drain(place, number),))


def empty_too(generator: Random) -> Situation:
    """A beaker was emptied; now another one."""
    start = row(generator)
    (place,) = pick(generator, filled(start))
    now = drain(start, place)
    (other,), words = by_colour(generator, now)
    return Situation((start, now), drain(now, other), words, (said_drain(place),))


def repeat_step(generator: Random) -> Situation:
    """An earlier step, named by its number, with another beaker."""
    start = row(generator)
    first, second, other = pick(generator, filled(start), 3)
    numbers = generator.sample((1, 2, 3), 2)
    need(len(start[first]) > numbers[0] and len(start[second]) > numbers[1] and len(start[other]) > max(numbers))
    between = drain(start, first, numbers[0])
    now = drain(between, second, numbers[1])
    need(other in named(now))
    step = generator.randrange(2)
    words = {
        "step": CARDINALS[step], "digit": str(step + 1), "which": ORDINALS[step], "colour": named(now)[other], "ordinal": ORDINALS[other],
    }  # fmt: skip
    earlier = (said_drain(first, numbers[0]), said_drain(second, numbers[1]))
    return Situation((start, between, now), drain(now, other, numbers[step]), words, earlier)


def undone(generator: Random) -> Situation:
    """The last turn, whatever it was."""
    start = row(generator)
    place, into = pick(generator, filled(start), 2)
    number = generator.randint(1, CAPACITY)
    deeds: list[Callable[[], tuple[Beakers, str]]] = [
        lambda: (drain(start, place), said_drain(place)),
        lambda: (drain(start, place, number), said_drain(place, number)),
        lambda: (pour(start, place, into), said_pour(place, into)),
    ]
    need(number < len(start[place]))
    now, earlier = generator.choice(deeds)()
    return Situation((start, now), start, {}, (earlier,))


def put_back(generator: Random) -> Situation:
    """What was thrown out comes back."""
    start = row(generator)
    (place,) = pick(generator, filled(start))
    now = drain(start, place)
    return Situation((start, now), start, {"ordinal": ORDINALS[place]}, (said_drain(place),))


def undone_step(generator: Random) -> Situation:
    """One of two steps, named by its number."""
    start = row(generator)
    places = pick(generator, filled(start), 2)
    between = drain(start, places[0])
    now = drain(between, places[1])
    step = generator.randrange(2)
    words = {"step": CARDINALS[step], "digit": str(step + 1), "which": ORDINALS[step]}
    restored = replaced(now, places[step], start[places[step]])
    return Situation((start, between, now), restored, words, (said_drain(places[0]), said_drain(places[1])))


def unchanged(generator: Random) -> Situation:
    """Nothing should be done, whatever is named; sometimes after an earlier turn."""
    start = row(generator)
    (place,) = pick(generator, filled(start))
    states: tuple[Beakers, ...] = (start,)
    earlier: tuple[str, ...] = ()
    if generator.random() < 0.5:
        states, earlier = (start, drain(start, place)), (said_drain(place),)
    now = states[-1]
    (other,), words = by_colour(generator, now)
    return Situation(states, now, words | {"number": str(other + 1), "units": units(len(now[other]))}, earlier)


def absent_colour(generator: Random) -> Situation:
    beakers = row(generator)
    absent = [name for colour, name in COLOURS.items() if not containing(beakers, colour)]
    _, words = by_colour(generator, beakers)
    return Situation((beakers,), beakers, words | {"absent": generator.choice([*absent, "blue", "pink", "white"])})


def absent_place(generator: Random) -> Situation:
    """Beyond the last beaker, or an empty one."""
    beakers = row(generator)
    beyond = list(range(BEAKERS, len(ORDINALS)))
    place = generator.choice([*beyond, *(place for place, beaker in enumerate(beakers) if not beaker)])
    return Situation((beakers,), beakers, {"ordinal": ORDINALS[place], "number": str(place + 1)})


def too_full(generator: Random) -> Situation:
    """There is no room for what should be poured."""
    beakers = row(generator)
    place, into = pick(generator, named(beakers), 2)
    need(len(beakers[place]) + len(beakers[into]) > CAPACITY)
    words = {"colour": named(beakers)[place], "other": named(beakers)[into], "ordinal": ORDINALS[place], "into": ORDINALS[into]}
    return Situation((beakers,), beakers, words | {"number": str(place + 1), "other_number": str(into + 1)})


def which_of_colour(generator: Random) -> Situation:
    """Two or three beakers have the colour that is named."""
    beakers, colour = row(generator), generator.choice(FRESH)
    places = containing(beakers, colour)
    need(len(places) > 1)
    return Situation((beakers,), beakers, {"colour": COLOURS[colour]}, (), tuple(drain(beakers, place) for place in places))


def which_source(generator: Random) -> Situation:
    """One of two or three beakers of a colour should be poured into another one."""
    beakers, colour = row(generator), generator.choice(FRESH)
    places = containing(beakers, colour)
    need(len(places) > 1)
    (into,) = pick(generator, named(beakers))
    words = {"colour": COLOURS[colour], "other": named(beakers)[into]}
    return Situation((beakers,), beakers, words, (), tuple(pour(beakers, place, into) for place in places))


def which_mixed(generator: Random) -> Situation:
    beakers = row(generator, mixed=2)
    places = [place for place, beaker in enumerate(beakers) if len(set(beaker)) > 1]
    return Situation((beakers,), beakers, {}, (), tuple(mix(beakers, place) for place in places))

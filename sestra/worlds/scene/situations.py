"""Situations in Scene that the patterns of ``checks`` are said in: people, who is meant, and the state that should follow."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sestra.analysis.checks.patterns import Draw, Situation, need
from sestra.analysis.checks.wording import NUMERALS
from sestra.data.vocabulary import CARDINALS, ORDINALS
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS

Stage = tuple[str, ...]
Words = dict[str, str]
Naming = Callable[[Random, Stage], tuple[list[int], Words]]
EMPTY = NONE + NONE
ENDS = (("left", 0), ("right", POSITIONS - 1))


def stage(generator: Random, *people: int) -> Stage:
    """So many people, by default two to four, at random places. No shirt and no hat has another one's colour."""
    number = generator.choice(people or (2, 3, 3, 4))
    colours = generator.sample(tuple(COLOURS), len(COLOURS))
    shirts, hats = colours[:number], colours[number:]
    worn = [generator.choice((NONE, hat)) for hat in hats[:number]]
    worn += [NONE] * (number - len(worn))
    generator.shuffle(worn)
    found = [EMPTY] * POSITIONS
    for place, shirt, hat in zip(generator.sample(range(POSITIONS), number), shirts, worn, strict=True):
        found[place] = shirt + hat
    return tuple(found)


def people(now: Stage) -> list[int]:
    return [place for place, person in enumerate(now) if person != EMPTY]


def hatted(now: Stage) -> list[int]:
    return [place for place in people(now) if now[place][1] != NONE]


def hatless(now: Stage) -> list[int]:
    return [place for place in people(now) if now[place][1] == NONE]


def put(now: Stage, place: int, person: str) -> Stage:
    return (*now[:place], person, *now[place + 1 :])


def leave(now: Stage, place: int) -> Stage:
    return put(now, place, EMPTY)


def enter(now: Stage, place: int, person: str) -> Stage:
    need(0 <= place < POSITIONS and now[place] == EMPTY)
    return put(now, place, person)


def move(now: Stage, place: int, to: int) -> Stage:
    need(0 <= to < POSITIONS and now[to] == EMPTY)
    return put(leave(now, place), to, now[place])


def step(now: Stage, place: int, distance: int) -> Stage:
    """A move with nobody in the way."""
    way = range(place + 1, place + distance + 1) if distance > 0 else range(place + distance, place)
    need(all(0 <= each < POSITIONS and now[each] == EMPTY for each in way))
    return move(now, place, place + distance)


def trade_hats(now: Stage, one: int, other: int) -> Stage:
    return put(put(now, one, now[one][0] + now[other][1]), other, now[other][0] + now[one][1])


def trade_places(now: Stage, one: int, other: int) -> Stage:
    return put(put(now, one, now[other]), other, now[one])


def pick(generator: Random, places: list[int], number: int = 1) -> list[int]:
    need(len(places) >= number)
    return generator.sample(places, number)


def shirt(now: Stage, place: int) -> str:
    return COLOURS[now[place][0]]


def hat(now: Stage, place: int) -> str:
    return COLOURS[now[place][1]]


def newcomer(generator: Random, now: Stage) -> str:
    """The shirt of somebody who is not there yet, in a colour that nobody wears."""
    free = [colour for colour in COLOURS if not any(colour in person for person in now)]
    need(bool(free))
    return generator.choice(free)


def an(colour: str) -> str:
    return f"{'an' if COLOURS[colour][0] == 'o' else 'a'} {COLOURS[colour]}"


def steps(number: int) -> Words:
    return {"n": CARDINALS[number - 1], "digit": str(number), "s": "s" * (number > 1)}


def left_by(naming: Naming, *number: int) -> Draw:
    """Those who are named leave."""

    def draw(generator: Random) -> Situation:
        now = stage(generator, *number)
        places, words = naming(generator, now)
        goal = now
        for place in places:
            need(goal[place] != EMPTY)
            goal = leave(goal, place)
        return Situation((now,), goal, words)

    return draw


def by_shirt(generator: Random, now: Stage) -> tuple[list[int], Words]:
    (place,) = pick(generator, people(now))
    return [place], {"shirt": shirt(now, place)}


def by_hat(generator: Random, now: Stage) -> tuple[list[int], Words]:
    (place,) = pick(generator, hatted(now))
    return [place], {"shirt": shirt(now, place), "hat": hat(now, place)}


def by_no_hat(_: Random, now: Stage) -> tuple[list[int], Words]:
    need(len(hatless(now)) == 1 and bool(hatted(now)))
    return hatless(now), {}


def by_end(generator: Random, now: Stage) -> tuple[list[int], Words]:
    """The first or the last in the row."""
    side, place = generator.choice((("left", people(now)[0]), ("right", people(now)[-1])))
    return [place], {"side": side}


def by_position(generator: Random, now: Stage) -> tuple[list[int], Words]:
    (place,) = pick(generator, people(now))
    return [place], {"number": str(place + 1), "word": CARDINALS[place]}


def in_the_middle(_: Random, now: Stage) -> tuple[list[int], Words]:
    need(len(people(now)) == 3)
    return [people(now)[1]], {}


def by_ordinal(generator: Random, now: Stage) -> tuple[list[int], Words]:
    (place,) = pick(generator, people(now))
    left, right = people(now).index(place), people(now)[::-1].index(place)
    return [place], {"left": ORDINALS[left], "right": ORDINALS[right], "numeral": NUMERALS[left], "right_numeral": NUMERALS[right]}


def last(_: Random, now: Stage) -> tuple[list[int], Words]:
    return [people(now)[-1]], {}


def before_last(_: Random, now: Stage) -> tuple[list[int], Words]:
    need(len(people(now)) > 2)
    return [people(now)[-2]], {}


def beside(generator: Random, now: Stage) -> tuple[list[int], Words]:
    """Somebody who stands directly beside another."""
    other, place = pick(generator, people(now), 2)
    need(abs(other - place) == 1)
    return [place], {"shirt": shirt(now, other), "side": "left" if place < other else "right"}


def with_hats(_: Random, now: Stage) -> tuple[list[int], Words]:
    need(len(hatted(now)) == 2 and len(people(now)) > 2)
    return hatted(now), {}


def without_hats(_: Random, now: Stage) -> tuple[list[int], Words]:
    need(len(hatless(now)) >= 2 and bool(hatted(now)))
    return hatless(now), {}


def everybody(_: Random, now: Stage) -> tuple[list[int], Words]:
    return people(now), {}


def all_but_one(generator: Random, now: Stage) -> tuple[list[int], Words]:
    need(len(people(now)) > 2)
    (kept,), words = by_shirt(generator, now)
    return [place for place in people(now) if place != kept], words


def first_two(_: Random, now: Stage) -> tuple[list[int], Words]:
    need(len(people(now)) > 2)
    return people(now)[:2], {}


def last_two(_: Random, now: Stage) -> tuple[list[int], Words]:
    need(len(people(now)) > 2)
    return people(now)[-2:], {}


def two_shirts(generator: Random, now: Stage) -> tuple[list[int], Words]:
    one, other = pick(generator, people(now), 2)
    return [one, other], {"shirt": shirt(now, one), "other": shirt(now, other)}


def entered_at_end(generator: Random) -> Situation:
    now = stage(generator)
    colour, (side, place) = newcomer(generator, now), generator.choice(ENDS)
    return Situation((now,), enter(now, place, colour + NONE), {"a": an(colour), "shirt": COLOURS[colour], "side": side})


def entered_at_position(generator: Random) -> Situation:
    now = stage(generator)
    colour, place = newcomer(generator, now), generator.randrange(POSITIONS)
    words = {"a": an(colour), "number": str(place + 1), "word": CARDINALS[place]}
    return Situation((now,), enter(now, place, colour + NONE), words)


def entered_beside(generator: Random) -> Situation:
    now = stage(generator)
    colour, (other,) = newcomer(generator, now), pick(generator, people(now))
    side, distance = generator.choice((("left", -1), ("right", 1)))
    words = {"a": an(colour), "shirt": COLOURS[colour], "other": shirt(now, other), "side": side}
    return Situation((now,), enter(now, other + distance, colour + NONE), words)


def entered_between(generator: Random) -> Situation:
    now = stage(generator)
    colour, places = newcomer(generator, now), people(now)
    number = generator.randrange(len(places) - 1)
    need(places[number + 1] - places[number] == 2)
    words = {"a": an(colour), "one": shirt(now, places[number]), "other": shirt(now, places[number + 1])}
    return Situation((now,), enter(now, places[number] + 1, colour + NONE), words)


def moved_beside(generator: Random) -> Situation:
    now = stage(generator)
    place, other = pick(generator, people(now), 2)
    side, distance = generator.choice((("left", -1), ("right", 1)))
    need(other + distance != place)
    words = {"shirt": shirt(now, place), "other": shirt(now, other), "side": side}
    return Situation((now,), move(now, place, other + distance), words)


def moved(*distances: int) -> Draw:
    """By so many places."""

    def draw(generator: Random) -> Situation:
        now = stage(generator)
        (place,) = pick(generator, people(now))
        number, (side, sign) = generator.choice(distances), generator.choice((("left", -1), ("right", 1)))
        return Situation((now,), step(now, place, sign * number), {"shirt": shirt(now, place), "side": side, **steps(number)})

    return draw


def moved_to_end(generator: Random) -> Situation:
    now = stage(generator)
    (place,), (side, to) = pick(generator, people(now)), generator.choice(ENDS)
    return Situation((now,), move(now, place, to), {"shirt": shirt(now, place), "side": side})


def moved_to_position(generator: Random) -> Situation:
    now = stage(generator)
    (place,), to = pick(generator, people(now)), generator.randrange(POSITIONS)
    return Situation((now,), move(now, place, to), {"shirt": shirt(now, place), "number": str(to + 1), "word": CARDINALS[to]})


def hat_given(generator: Random) -> Situation:
    now = stage(generator)
    (giver,), (taker,) = pick(generator, hatted(now)), pick(generator, hatless(now))
    words = {"shirt": shirt(now, giver), "hat": hat(now, giver), "other": shirt(now, taker)}
    return Situation((now,), trade_hats(now, giver, taker), words)


def hats_traded(generator: Random) -> Situation:
    now = stage(generator)
    one, other = pick(generator, hatted(now), 2)
    return Situation((now,), trade_hats(now, one, other), {"shirt": shirt(now, one), "other": shirt(now, other)})


def places_traded(generator: Random) -> Situation:
    now = stage(generator)
    one, other = pick(generator, people(now), 2)
    return Situation((now,), trade_places(now, one, other), {"shirt": shirt(now, one), "other": shirt(now, other)})


def all_step(generator: Random) -> Situation:
    """Two people move one place."""
    now = stage(generator, 2)
    side, distance = generator.choice((("left", -1), ("right", 1)))
    goal = now
    for place in people(now)[::-distance]:
        goal = step(goal, place, distance)
    return Situation((now,), goal, {"side": side})

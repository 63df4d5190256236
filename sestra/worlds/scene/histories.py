"""Situations in Scene with earlier turns, and those in which nothing should be done."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sestra.analysis.checks.patterns import Draw, Situation, need
from sestra.data.vocabulary import CARDINALS, ORDINALS
from sestra.worlds.scene.situations import (
    EMPTY,
    ENDS,
    Stage,
    an,
    by_shirt,
    enter,
    hat,
    hatless,
    hatted,
    leave,
    move,
    newcomer,
    people,
    pick,
    put,
    shirt,
    stage,
    step,
    steps,
    trade_hats,
)
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS

SIDES = (("left", -1), ("right", 1))
Then = Callable[[Stage, int], Stage]


def said_move(now: Stage, place: int, distance: int) -> str:
    number = abs(distance)
    spaces = f"{CARDINALS[number - 1]} space{'s' * (number > 1)}"
    return f"the person in {shirt(now, place)} moves {spaces} to the {'right' if distance > 0 else 'left'}"


def after_move(then: Then, *number: int) -> Draw:
    """Somebody moves, and then does something else."""

    def draw(generator: Random) -> Situation:
        start = stage(generator, *number)
        (place,) = pick(generator, people(start))
        side, distance = generator.choice(SIDES)
        now = step(start, place, distance)
        goal = then(now, place + distance)
        need(goal != start)
        return Situation((start, now), goal, {"side": side}, (said_move(start, place, distance),))

    return draw


def to_left_end(now: Stage, place: int) -> Stage:
    return move(now, place, 0)


def two_right(now: Stage, place: int) -> Stage:
    return step(now, place, 2)


def other_leaves(now: Stage, place: int) -> Stage:
    (other,) = (each for each in people(now) if each != place)
    return leave(now, other)


def after_entrance(then: Then) -> Draw:
    """Somebody comes, and then does something else."""

    def draw(generator: Random) -> Situation:
        start = stage(generator, 2, 3)
        colour, (side, place) = newcomer(generator, start), generator.choice(ENDS)
        now = enter(start, place, colour + NONE)
        earlier = f"a person in {COLOURS[colour]} appears at the {side} end"
        return Situation((start, now), then(now, place), {}, (earlier,))

    return draw


def takes_only_hat(now: Stage, place: int) -> Stage:
    need(len(hatted(now)) == 1)
    return trade_hats(now, place, hatted(now)[0])


def again(generator: Random) -> Situation:
    """The same move once more."""
    start = stage(generator)
    (place,), (side, sign) = pick(generator, people(start)), generator.choice(SIDES)
    distance = sign * generator.randint(1, 3)
    now = step(start, place, distance)
    return Situation((start, now), step(now, place + distance, distance), {"side": side}, (said_move(start, place, distance),))


def same_move(generator: Random) -> Situation:
    """The same move by somebody else."""
    start = stage(generator)
    place, other = pick(generator, people(start), 2)
    distance = generator.choice(SIDES)[1] * generator.randint(1, 3)
    now = step(start, place, distance)
    return Situation((start, now), step(now, other, distance), {"shirt": shirt(now, other)}, (said_move(start, place, distance),))


def same_exit(generator: Random) -> Situation:
    start = stage(generator)
    place, other = pick(generator, people(start), 2)
    now = leave(start, place)
    return Situation((start, now), leave(now, other), {"shirt": shirt(now, other)}, (f"the person in {shirt(start, place)} leaves",))


def repeat_step(generator: Random) -> Situation:
    """One of two earlier moves, named by its number, by a third person."""
    start = stage(generator, 3, 4)
    first, second, other = pick(generator, people(start), 3)
    distances = [generator.choice(SIDES)[1] * number for number in generator.sample((1, 2, 3), 2)]
    between = step(start, first, distances[0])
    now = step(between, second, distances[1])
    number = generator.randrange(2)
    words = {"step": CARDINALS[number], "digit": str(number + 1), "which": ORDINALS[number], "shirt": shirt(now, other)}
    earlier = (said_move(start, first, distances[0]), said_move(between, second, distances[1]))
    return Situation((start, between, now), step(now, other, distances[number]), words, earlier)


def moved_back(generator: Random) -> Situation:
    start = stage(generator)
    (place,), (side, to) = pick(generator, people(start)), generator.choice(ENDS)
    now = move(start, place, to)
    words = {"shirt": shirt(start, place)}
    return Situation((start, now), start, words, (f"the person in {shirt(start, place)} moves to the {side} end",))


def hat_back(generator: Random) -> Situation:
    start = stage(generator)
    (giver,), (taker,) = pick(generator, hatted(start)), pick(generator, hatless(start))
    now = trade_hats(start, giver, taker)
    earlier = f"the person in {shirt(start, giver)} gives his hat to the person in {shirt(start, taker)}"
    return Situation((start, now), start, {"shirt": shirt(start, taker), "other": shirt(start, giver)}, (earlier,))


def came_back(generator: Random) -> Situation:
    start = stage(generator)
    (place,), words = by_shirt(generator, start)
    return Situation((start, leave(start, place)), start, words, (f"the person in {words['shirt']} leaves",))


def undone(generator: Random) -> Situation:
    """The last turn, whatever it was."""

    def entered(generator: Random) -> Situation:
        start = stage(generator)
        colour, (side, place) = newcomer(generator, start), generator.choice(ENDS)
        return Situation(
            (start, enter(start, place, colour + NONE)), start, {}, (f"a person in {COLOURS[colour]} appears at the {side} end",)
        )

    return generator.choice((entered, moved_back, hat_back, came_back))(generator)


def unchanged(generator: Random) -> Situation:
    """Nothing should be done, whoever is named; sometimes after an earlier turn."""
    start = stage(generator, 3, 4)
    place, other, third = pick(generator, people(start), 3)
    states: tuple[Stage, ...] = (start,)
    earlier: tuple[str, ...] = ()
    if generator.random() < 0.5:
        distance = generator.choice(SIDES)[1]
        states, earlier = (start, step(start, third, distance)), (said_move(start, third, distance),)
    words = {"shirt": shirt(start, place), "other": shirt(start, other), "number": str(place + 1)}
    return Situation(states, states[-1], words, earlier)


def absent(generator: Random) -> Situation:
    """Nobody wears the colour that is named."""
    now = stage(generator)
    _, words = by_shirt(generator, now)
    missing = generator.choice([COLOURS[newcomer(generator, now)], "grey", "white", "pink"])
    return Situation((now,), now, words | {"absent": missing})


def absent_place(generator: Random) -> Situation:
    now = stage(generator)
    place, number = generator.choice([place for place in range(POSITIONS) if now[place] == EMPTY]), len(people(now))
    return Situation((now,), now, {"number": str(place + 1), "ordinal": ORDINALS[generator.randint(number, number + 2)]})


def no_hats(generator: Random) -> Situation:
    now = tuple(person[0] + NONE for person in stage(generator))
    one, other = pick(generator, people(now), 2)
    return Situation((now,), now, {"shirt": shirt(now, one), "other": shirt(now, other)})


def past_the_end(generator: Random) -> Situation:
    now = stage(generator)
    (place,), number = pick(generator, people(now)), generator.randint(1, 4)
    side, beyond = generator.choice((("left", place - number < 0), ("right", place + number >= POSITIONS)))
    need(beyond)
    return Situation((now,), now, {"shirt": shirt(now, place), "side": side, **steps(number)})


def which_shirt(then: Then) -> Draw:
    """Two people in the same colour, neither with a hat."""

    def draw(generator: Random) -> Situation:
        now = stage(generator, 2, 3)
        one, other = pick(generator, people(now), 2)
        twins = put(put(now, one, now[one][0] + NONE), other, now[one][0] + NONE)
        readings = tuple(then(twins, place) for place in sorted((one, other)))
        need(twins not in readings)
        words = {"shirt": shirt(now, one), "a": an(now[one][0])}
        return Situation((twins,), twins, words, (), readings)

    return draw


def which_hat(generator: Random) -> Situation:
    """Two people with hats of the same colour."""
    now = stage(generator, 2, 3)
    one, other = pick(generator, people(now), 2)
    need(now[one][1] != NONE)
    twins = put(now, other, now[other][0] + now[one][1])
    return Situation((twins,), twins, {"hat": hat(now, one)}, (), tuple(leave(twins, place) for place in sorted((one, other))))


def somebody(generator: Random) -> Situation:
    now = stage(generator)
    return Situation((now,), now, {}, (), tuple(leave(now, place) for place in people(now)))

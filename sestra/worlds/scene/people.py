"""More ways than SCONE's to say who is meant: bare colours, places, ordinals from either end, neighbours."""

from __future__ import annotations

from random import Random

from sestra.data.grammar import LAST_ONE, OTHER_ONE, PRONOUN, Context, Phrase, Template, marked
from sestra.worlds.scene.descriptions import article, describe, focus, people_of
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS

P = "[{person}|{person}|{person}|person|one]"
"""A noun for somebody."""
NEWCOMER = ("the newcomer", "the new [{person}|person|one|arrival]", f"the {P} who just [came|arrived|appeared|came in|showed up|joined]")
MOVER = (f"the {P} who just moved", "the one [you just moved|that moved last]")
DRESSED = (f"the {P} who just got the hat", "the new owner of the hat")


def subject(context: Context, position: int, rng: Random) -> Phrase:
    """Somebody, often by a pronoun if he was just mentioned."""
    if position == focus(context) and rng.random() < 0.5:
        return pronoun(context, rng)
    return name(context, position, rng, focus(context))


def pronoun(context: Context, rng: Random) -> Phrase:
    """The person whom the last instruction was about."""
    names = [*5 * ["{he}"], "[that|this|the same] [{person}|person|one]"]
    names += {"enter": [*NEWCOMER], "move": [*MOVER], "give": [*DRESSED] * context.event.got}.get(context.event.kind, [])
    return context.say(rng, names, PRONOUN)


def name(context: Context, position: int, rng: Random, other_than: int | None = None) -> Phrase:
    """A description that is true of this person alone."""
    if rng.random() < 0.25:
        return describe(context, position, rng, other_than)
    kinds = [_by_clothes(context, position), _by_clothes(context, position), _by_rank(context, position), _by_place(context, position)]
    if rng.random() < 0.4:
        kinds.append(_by_neighbour(context, position, rng))
    if len(people_of(context)) == 2 and other_than in people_of(context) and other_than != position:
        kinds.append([marked("the other [{person}|one|person|guy]", OTHER_ONE)])
    known = [kind for kind in kinds if kind]
    return context.say(rng, rng.choice(known))


def _by_clothes(context: Context, position: int) -> list[Template]:
    state, people = context.state, people_of(context)
    shirt, hat = state[position]
    others = [state[n] for n in people if n != position]
    colour = COLOURS[shirt]
    names: list[Template] = []
    if all(other[0] != shirt for other in others):
        names += [f"[the|] {colour} shirt", f"the {colour} shirted {P}", f"the {P} whose shirt is {colour}", f"the {colour} shirt {P}"]
        names += [f"the {P} [with|in|wearing] [the {colour}|{article(colour)}|{colour}] shirt"]
        if all(other[1] != shirt for other in others):
            names += 3 * [colour] + 2 * [f"the {colour} [{P}|guy]", f"[the|] {P} in {colour}"]
            names += [f"[mr.|mr|mister] {colour}" if context.speaker.words["he"] == "he" else f"[mrs.|ms.|miss] {colour}"]
            names += [f"[whoever|the {P} who] [is in|wears|is wearing] {colour}", f"the {P} dressed in {colour}"]
            names += [f"{colour} with [the {COLOURS[hat]}|{article(COLOURS[hat])}] hat" if hat != NONE else f"{colour} without a hat"]
    if hat != NONE and all(other[1] != hat for other in others):
        worn = COLOURS[hat]
        names += [
            f"[the|] {worn} hat {P}",
            f"the {P} [with|in|wearing] [the {worn}|{article(worn)}|{worn}] hat",
            f"the {P} whose hat is {worn}",
        ]
        names += [f"[whoever|the {P} who] [wears|has|is wearing] the {worn} hat", f"the {worn} hatted {P}"]
    if state[position] not in others:
        if hat == NONE:
            names += [f"the {colour} {P} [without a hat|with no hat]", f"the hatless {P} in {colour}"]
        else:
            names += [
                f"the {colour} {P} with the {COLOURS[hat]} hat",
                f"the {P} in {colour} with [the {COLOURS[hat]}|{article(COLOURS[hat])}] hat",
            ]
            names += [f"[the|] {colour} shirt [and|with|] {COLOURS[hat]} hat"]
    if others and all((other[1] == NONE) != (hat == NONE) for other in others):
        if hat == NONE:
            names += 2 * [f"the {P} [without a hat|with no hat|who has no hat|not wearing a hat]", f"the [hatless|bareheaded] {P}"]
        else:
            names += 2 * [f"the {P} [with a hat|with the hat|wearing a hat|who has a hat|in the hat]", f"the {P} who is wearing a hat"]
    return names


def _by_rank(context: Context, position: int) -> list[Template]:
    people, ordinal = people_of(context), context.speaker.ordinal
    rank, count = people.index(position), len(people)
    if count == 1:
        return [f"the [only|single|remaining|last remaining] {P}", "the [person|{person}] who is [here|there|on the stage|left]"]
    names: list[Template] = [f"the {ordinal(rank + 1)} {P} from the left", f"the {ordinal(count - rank)} {P} from the right"]
    names += [f"[the|] {ordinal(rank + 1)} [{{person}}|person]", f"[the|] {P} who is {ordinal(rank + 1)} from the left"]
    if rank == 0:
        names += 2 * [f"the {P} furthest to the left", f"the [leftmost|left-most|far left] {P}", "the first [{person}|person|one|]"]
    if rank == count - 1:
        last: list[Template] = [f"the [rightmost|right-most|far right] {P}", marked("the last [{person}|person|]", LAST_ONE)]
        names += 2 * last
        names += [f"the {P} furthest to the right", marked("the last one [in line|in the row|on the right]", LAST_ONE)]
    if count > 2:
        fold = count - rank
        if fold in (2, 3):
            names += 2 * [marked(f"the {ordinal(fold)} [to|] last [{{person}}|person]", LAST_ONE)]
        if rank * 2 + 1 == count:
            names += 2 * [f"the {P} in the [middle|center|centre]", f"the [middle|center|central] {P}"]
    else:
        side = "left" if rank == 0 else "right"
        names += [f"the {P} on the {side}", f"the {side} [{{person}}|person|one]"]
    return names


def _by_place(context: Context, position: int) -> list[Template]:
    number, ordinal = context.speaker.number(position + 1), context.speaker.ordinal(position + 1)
    names: list[Template] = [
        f"the {P} [at|in|on] [position|place|spot] [number|] {number}",
        f"the {P} [in|at|on] the {ordinal} [position|place|spot]",
        f"whoever [is|stands] [at|in] [position|place|spot] {number}",
    ]
    if position in (0, POSITIONS - 1):
        side = "left" if position == 0 else "right"
        names += [f"the {P} [at|on] the [far {side}|{side} end|very {side}|{side} edge]", f"the {P} on the far {side}"]
    return names


def _by_neighbour(context: Context, position: int, rng: Random) -> list[Template]:
    people = people_of(context)
    names: list[Template] = []
    for other in people:
        if abs(other - position) != 1:
            continue
        side, them = ("left" if position < other else "right"), [n for n in (other - 1, other + 1) if n in people]
        y = context.say(rng, "{him}", PRONOUN) if other == focus(context) and rng.random() < 0.5 else describe(context, other, rng)
        names += [context.say(rng, f"the {P} [to the|directly to the|just|immediately|] {side} of {{y}}", y=y)]
        if them == [position]:
            names += [context.say(rng, f"the {P} [next to|beside|standing next to|right next to] {{y}}", y=y)]
    if position - 1 in people and position + 1 in people:
        a, b = (describe(context, n, rng) for n in (position - 1, position + 1))
        names += [context.say(rng, f"the {P} [standing|] between {{a}} and {{b}}", a=a, b=b)]
    return names

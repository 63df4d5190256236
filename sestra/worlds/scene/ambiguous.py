"""What people say in Scene that fits several things: one of them is drawn, so that a network learns to divide its probability."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from sestra.data.grammar import Context, Rule, Turn
from sestra.worlds.scene import deeds
from sestra.worlds.scene.clauses import Clause, affirm, clause
from sestra.worlds.scene.deeds import moving
from sestra.worlds.scene.descriptions import Event, focus, people_of
from sestra.worlds.scene.destinations import Destination, destination, free_places
from sestra.worlds.scene.people import P, name, subject
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS


def which_of_several(context: Context, rng: Random) -> Turn | None:
    """A description that is true of two or more."""
    people, state = people_of(context), context.state
    alike: list[tuple[list[int], str]] = []
    for letter, colour in COLOURS.items():
        shirts, hats = ([n for n in people if state[n][k] == letter] for k in (0, 1))
        alike += 3 * [(shirts, f"[the {P} in the {colour} shirt|the {P} in {colour}|{colour}|the {colour} {P}|mr. {colour}]")]
        alike += 2 * [(hats, f"[the {P} [with|in|wearing] the {colour} hat|the {colour} hat {P}]")]
    alike += [([n for n in people if state[n][1] != NONE], f"[the {P} with [the|a] hat|the {P} wearing a hat]")]
    alike += [([n for n in people if state[n][1] == NONE], f"[the {P} without a hat|the hatless {P}]")]
    if len(people) > 1:
        alike += [
            (
                people,
                "[someone|somebody|one of them|a {person}|one person|one of the people]",
            )
        ]
        if focus(context) is None:
            alike += [(people, "[{he}|that {person}|this {person}|the {person}]")]
    if len(people) > 2 and (he := focus(context)) is not None:
        alike += 2 * [([n for n in people if n != he], "the other [one|{person}|person]")]
    alike = [(those, template) for those, template in alike if len(those) > 1]
    if not alike:
        return None
    those, template = rng.choice(alike)
    who, x = rng.choice(those), context.say(rng, template)
    deed = rng.choice((deeds.leave_as, deeds.move_as, deeds.take_off_as, deeds.put_on_as))(context, rng, who, x)
    return Turn(affirm(context, rng, deed.clause), deed.state, deed.event) if deed else None


def which_place(context: Context, rng: Random) -> Turn | None:
    """Somebody comes or goes to a place that is not said, or that could be either of two."""
    people, free = people_of(context), free_places(context)
    middle = [n for n in (POSITIONS // 2 - 1, POSITIONS // 2) if n in free]
    places: list[tuple[list[int], str]] = [(free, "[|||somewhere|anywhere|at a free spot|on the stage]")]
    places += 2 * [(middle, "in the [middle|center|centre] [of the stage|]")] * (len(middle) == 2)
    for other in people:
        sides = [n for n in (other - 1, other + 1) if n in free]
        places += [(sides, f"[next to|beside|near|close to] {name(context, other, rng).words}")] * (len(sides) == 2)
    targets, at = rng.choice(places)
    if not targets:
        return None
    shirt = rng.choice(list(COLOURS))
    x = deeds.newcomer(context, rng, shirt, NONE)
    said = clause(context, rng, deeds.COME, deeds.ADD, x, at=context.say(rng, at))
    target = rng.choice(targets)
    return Turn(affirm(context, rng, said), context.state_with({target: shirt + NONE}), Event("enter", target))


def which_target(context: Context, rng: Random) -> Turn | None:
    """Somebody is to move, to the middle or nowhere in particular."""
    people, free = people_of(context), free_places(context)
    if not people:
        return None
    who = rng.choice(people)
    middle = [n for n in (POSITIONS // 2 - 1, POSITIONS // 2) if n in free]
    if len(middle) == 2 and who not in middle and rng.random() < 0.5:
        targets, to = middle, "to the [middle|center|centre] [of the [stage|row]|]"
    else:
        targets, to = free, "[||somewhere else|to another place|to a different spot|to a free spot|around]"
    x, words = subject(context, who, rng), context.say(rng, to)
    said = moving(context, rng, x, Destination(0, words, None)) if words.words else clause(context, rng, ["move"], ["move {x}"], x)
    target = rng.choice(targets)
    return Turn(affirm(context, rng, said), deeds.moved(context, who, target), Event("move", target, origin=who))


def which_colour(context: Context, rng: Random) -> Turn | None:
    """A hat or somebody new, in a colour that is not said."""
    people, state = people_of(context), context.state
    colour = rng.choice(list(COLOURS))
    bare = [n for n in people if state[n][1] == NONE]
    if bare and rng.random() < 0.5:
        who = rng.choice(bare)
        said = clause(context, rng, deeds.PUT_ON, deeds.DRESS, subject(context, who, rng), a="[a|a|some|a new]")
        said = Clause(said.subject, said.verb, context.say(rng, said.rest.words))
        return Turn(affirm(context, rng, said), context.state_with({who: state[who][0] + colour}), Event("put on", who))
    where = destination(context, None, rng)
    if where is None or where.at is None:
        return None
    x = context.say(rng, "[a new {person}|a {person}|another person|someone|somebody|a person]")
    said = clause(context, rng, deeds.COME, deeds.ADD, x, at=where.at)
    return Turn(affirm(context, rng, said), context.state_with({where.target: colour + NONE}), Event("enter", where.target))


AMBIGUOUS: Mapping[Rule, float] = {which_of_several: 5, which_place: 2.5, which_target: 1.5, which_colour: 1.5}
"""Words that fit several things, each rule with its weight."""

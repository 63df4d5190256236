"""Several people at once: who they are, and what they all do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from sestra.data.grammar import PRONOUN, Context, Phrase, Template
from sestra.data.vocabulary import CARDINALS
from sestra.worlds.scene.clauses import Clause, clause, objective
from sestra.worlds.scene.deeds import DRESS, PUT_ON, Deed, leaving, moving
from sestra.worlds.scene.descriptions import EMPTY, Event, article, focus, people_of
from sestra.worlds.scene.destinations import Destination, free_places, step_words
from sestra.worlds.scene.people import name
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS

ONE, MANY = False, True
"""Whether the words take a verb in the singular or in the plural."""
EVERYONE: tuple[tuple[str, bool], ...] = (
    ("[everyone|everybody|every person|each person|every one of them|every single person]", ONE),
    ("[all of them|all people|all the people|all|all persons|all of the people|the whole group|the people]", MANY),
)
PEOPLE = "[people|{person}s|ones|persons]"
_MEN = re.compile(r"mans\b")


@dataclass(frozen=True)
class Group:
    """Two or more people and what they are called."""

    members: tuple[int, ...]
    x: Phrase
    plural: bool


def group(context: Context, rng: Random) -> Group | None:
    """Some of the people, by something that is true of them and of nobody else."""
    found = rng.choice((_everyone, _dressed_alike, _dressed_alike, _first_or_last, _all_but, _named, _beside, _they))(context, rng)
    if found is None:
        return None
    members, template, plural = found
    x = context.say(rng, template)
    return Group(tuple(members), Phrase(_MEN.sub("men", x.words), x.phenomena), plural) if members else None


Found = tuple[list[int], Template, bool] | None


def _everyone(context: Context, rng: Random) -> Found:
    people = people_of(context)
    if len(people) == 2 and rng.random() < 0.6:
        return people, "[both people|both of them|both|both persons|the two people|the two of them|both {person}s]", MANY
    return people, *rng.choice(EVERYONE)


def _dressed_alike(context: Context, rng: Random) -> Found:
    """All who wear a hat, or none, or the same colour."""
    people, state = people_of(context), context.state
    kinds: list[tuple[list[int], str, str]] = [
        ([n for n in people if state[n][1] != NONE], "[with|with|wearing|who wears|who has] a hat", "[with|wearing|in] hats"),
        ([n for n in people if state[n][1] == NONE], "[without a hat|with no hat|who has no hat]", "[without|with no] hats"),
    ]
    for letter, colour in COLOURS.items():
        shirts, hats = ([n for n in people if state[n][k] == letter] for k in (0, 1))
        kinds.append((hats, f"[with|wearing|in] {article(colour)} hat", f"[with|wearing|in] {colour} hats"))
        if not set(hats) - set(shirts):
            kinds.append((shirts, f"[in|wearing] {colour}", f"[in|wearing|dressed in] {colour}"))
        kinds.append((shirts, f"[with|wearing|in] {article(colour)} shirt", f"[with|wearing|in] {colour} shirts"))
    kinds = [kind for kind in kinds if len(kind[0]) >= 2]
    if not kinds:
        return None
    members, one, many = rng.choice(kinds)
    if rng.random() < 0.4:
        return members, f"[everyone|everybody|every {{person}}|each person|every person|anyone] {one}", ONE
    count = f"both [the|] {PEOPLE}|the two {PEOPLE}" if len(members) == 2 else f"all {CARDINALS[len(members) - 1]} {PEOPLE}"
    return members, f"[all {PEOPLE}|all the {PEOPLE}|the {PEOPLE}|{PEOPLE}|{count}|{count}] {many}", MANY


def _first_or_last(context: Context, rng: Random) -> Found:
    """Some at one end of the row."""
    people, speaker = people_of(context), context.speaker
    if len(people) < 3:
        return None
    count, left = rng.randint(2, len(people) - 1), rng.random() < 0.5
    number, side = speaker.number(count), "left" if left else "right"
    names = [f"the {'first' if left else 'last'} {number} [{PEOPLE}|]", f"the {number} {side}most [{PEOPLE}|]"]
    names += [f"the {number} {PEOPLE} [on|furthest to] the {side}", f"the {number} {PEOPLE} on the far {side}"]
    return people[:count] if left else people[-count:], rng.choice(names), MANY


def _all_but(context: Context, rng: Random) -> Found:
    """All with one exception."""
    people = people_of(context)
    if len(people) < 3:
        return None
    but = rng.choice(people)
    members = [n for n in people if n != but]
    if but == focus(context) and rng.random() < 0.4:
        return members, context.say(rng, "[everyone|everybody] else", PRONOUN), ONE
    if rng.random() < 0.3:
        first = but == people[0]
        if first or but == people[-1]:
            return members, f"all [people|] [but|except] the {'first' if first else 'last'} [one|person]", MANY
    y = objective(name(context, but, rng))
    some, plural = rng.choice((("[everyone|everybody|every person]", ONE), ("[all|all people|all of them]", MANY)))
    return members, context.say(rng, f"{some} [but|except|except for|besides|other than] {{y}}", y=y), plural


def _named(context: Context, rng: Random) -> Found:
    """Two or three, one after the other."""
    people = people_of(context)
    if len(people) < 2:
        return None
    members = rng.sample(people, min(len(people), rng.choice((2, 2, 2, 3))))
    names = [name(context, n, rng).words for n in members]
    if any(" and " in words for words in names):
        return None
    joined = f"{', '.join(names[:-1])} and {names[-1]}"
    return members, f"{joined}" if len(members) == 3 or rng.random() < 0.8 else f"both {joined}", MANY


def _beside(context: Context, rng: Random) -> Found:
    """All on one side of somebody."""
    people = people_of(context)
    if len(people) < 3:
        return None
    pivot, left = rng.choice(people), rng.random() < 0.5
    members = [n for n in people if n != pivot and (n < pivot) == left]
    if len(members) < 2:
        return None
    side = f"[to the|on the] {'left' if left else 'right'} of {{y}}"
    some, plural = rng.choice((("[everyone|everybody]", ONE), (f"[all|all the|the] {PEOPLE}", MANY)))
    return members, context.say(rng, f"{some} {side}", y=objective(name(context, pivot, rng))), plural


def _they(context: Context, rng: Random) -> Found:
    """The two whom the last instruction was about."""
    pair = sorted(context.event.pair)
    if len(pair) != 2 or any(context.state[n] == EMPTY for n in pair):
        return None
    return pair, context.say(rng, "[they|they|both of them|the two of them|these two|those two]", PRONOUN), MANY


# What they all do.


def leave_together(context: Context, rng: Random) -> Deed | None:
    """All of them go."""
    people = people_of(context)
    if people and rng.random() < 0.1:
        said = clause(context, rng, (), ["[clear|empty] the [stage|scene]", "clear everything", "[remove|delete] all"], Phrase(""))
        return Deed(said, (EMPTY,) * POSITIONS, Event("several"))
    who = group(context, rng)
    if who is None:
        return None
    after = context.state_with(dict.fromkeys(who.members, EMPTY))
    return Deed(leaving(context, rng, who.x, plural=who.plural), after, Event("several left"))


def change_hats_together(context: Context, rng: Random) -> Deed | None:
    """All of them take off their hats, or put on the same."""
    state = context.state
    if rng.random() < 0.3:
        return _remove_hats(context, rng)
    who = group(context, rng)
    if who is None:
        return None
    worn = [state[n][1] != NONE for n in who.members]
    if all(worn):
        hats = ["their hats"] if who.plural else ["{his} hat", "their hat"]
        own = context.say(rng, hats)
        does = ["[take off|remove|lose|drop|doff|get rid of] {hat}", "take {hat} off"]
        told = ["[take|remove] the hats from {x}", "take the hats off [of|] {x}", "[remove|take away|delete] the hats of {x}"]
        said = clause(context, rng, does, told, who.x, plural=who.plural, hat=own)
        return Deed(said, context.state_with({n: state[n][0] + NONE for n in who.members}), _event(who))
    if any(worn):
        return None
    hat, colour = rng.choice(list(COLOURS.items()))
    said = clause(context, rng, PUT_ON, [*DRESS[:3], f"give {colour} hats to {{x}}"], who.x, plural=who.plural, a=article(colour))
    return Deed(said, context.state_with({n: state[n][0] + hat for n in who.members}), _event(who))


def _remove_hats(context: Context, rng: Random) -> Deed | None:
    """Hats without a word about who wears them."""
    state = context.state
    colour = rng.choice([None, *{content[1] for content in state if content[1] != NONE}])
    members = [n for n in people_of(context) if state[n][1] != NONE and colour in (None, state[n][1])]
    if len(members) < 2:
        return None
    kind = "" if colour is None else COLOURS[colour]
    hats = f"[all|all the|all of the|the] {kind} hats" if len(members) > 2 else f"[all|the|both|both the|the two] {kind} hats"
    does, told = ["[disappear|vanish|come off|be removed]"], ["[remove|take away|delete|get rid of|take off] {x}", "take {x} [away|off]"]
    said = clause(context, rng, does, told, context.say(rng, hats), plural=True)
    return Deed(said, context.state_with({n: state[n][0] + NONE for n in members}), Event("several"))


def move_together(context: Context, rng: Random) -> Deed | None:
    """All of them take the same number of steps."""
    who, state = group(context, rng), context.state
    if who is None or not 2 <= len(who.members) <= 4:
        return None
    open_to = {*free_places(context), *who.members}
    offsets = [n for n in (-3, -2, -2, -1, -1, -1, 1, 1, 1, 2, 2, 3) if all(member + n in open_to for member in who.members)]
    if not offsets:
        return None
    offset = rng.choice(offsets)
    after = context.state_with(dict.fromkeys(who.members, EMPTY) | {n + offset: state[n] for n in who.members})
    where = Destination(0, step_words(context, offset, rng), None, offset)
    event = Event("several", pair=frozenset(n + offset for n in who.members) if len(who.members) == 2 else frozenset())
    return Deed(moving(context, rng, who.x, where, plural=who.plural), after, event)


def enter_together(context: Context, rng: Random) -> Deed | None:
    """Two or three alike come at once."""
    free, speaker = free_places(context), context.speaker
    if len(free) < 6:
        return None
    shirt, count = rng.choice(list(COLOURS)), rng.choice((2, 2, 2, 3))
    colour, number = COLOURS[shirt], speaker.number(count)
    if {0, POSITIONS - 1} <= set(free) and count == 2 and rng.random() < 0.4:
        targets, at = [0, POSITIONS - 1], "[at|on] [both ends|either end|both sides|each end|the two ends] [of the stage|]"
    else:
        targets = sorted(rng.sample(free, count))
        numbers = [speaker.number(n + 1) for n in targets]
        at = f"[at|in|on] [positions|places|spots] {', '.join(numbers[:-1])} and {numbers[-1]}"
    x = context.say(
        rng, f"{number} [new|more|] [people in {colour}|{colour} people|people [in|with|wearing] {colour} shirts|{colour} {{person}}s]"
    )
    x = Phrase(_MEN.sub("men", x.words), x.phenomena)
    where = context.say(rng, at)
    does, told = ["[appear|enter|arrive|show up|come in] {at}"], ["[add|put|place|create|insert] {x} {at}"]
    said: Clause = clause(context, rng, does, told, x, plural=True, at=where)
    pair = frozenset(targets) if count == 2 else frozenset()
    return Deed(said, context.state_with(dict.fromkeys(targets, shirt + NONE)), Event("several", pair=pair))


def _event(who: Group) -> Event:
    return Event("several", pair=frozenset(who.members) if len(who.members) == 2 else frozenset())

"""What can be done in Scene: each deed is a clause, the state that it leads to, and what a later turn may need to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from sestra.data.grammar import PRONOUN, Context, Phrase, State, Template
from sestra.worlds.scene.clauses import Clause, clause, hat_of, objective
from sestra.worlds.scene.descriptions import EMPTY, Event, article, focus, people_of
from sestra.worlds.scene.destinations import Destination, destination, vacated
from sestra.worlds.scene.people import name, subject
from sestra.worlds.scene.world import COLOURS, NONE


@dataclass(frozen=True)
class Deed:
    """Something that people say is to be done."""

    clause: Clause
    state: State
    event: Event


Rule = Callable[[Context, Random], Deed | None]

# Words.

LEAVE = (
    *4 * ("[leave|leave|exit|disappear]",),
    "[go|walk] [away|off|home|off the stage|out]",
    "[leave|exit] the [stage|scene]",
    "[depart|vanish|get out|step out|go off stage|step off the stage|get off the stage|be removed|be gone|be taken away|be sent home|quit]",
)
REMOVE = (
    *3 * ("[remove|delete|get rid of|take away|send away|kick out|dismiss|erase|eliminate|throw out|take out|clear away] {x}",),
    "remove {x} [from the [stage|scene]|]",
    "[send|take|kick|throw] {x} [away|off the stage|off]",
    "send {x} home",
    "make {x} [disappear|vanish|go away]",
)
MOVE = ("[move|move|move|go|go|walk|step|run|shift|slide|scoot|relocate|travel|head|proceed] {to}", "move over {to}", "be moved {to}")
MOVE_SOMEBODY = ("[move|move|move|shift|slide|send|bring|relocate|push|scoot|transfer] {x} {to}",)
STAND = ("[stand|be|be placed|take a position] {at}", "go to stand {at}")
PLACE = ("[put|place|set|position|stand] {x} {at}",)
COME = ("[appear|appear|enter|arrive|show up|come in|join|pop up|come on stage|walk in|be added] {at}",)
ADD = ("[add|add|put|place|insert|create|spawn|introduce|draw|make|bring in|set|show] {x} {at}",)
TAKE_OFF = ("[take off|remove|doff|drop|get rid of|throw away|lose] {his} hat", "take {his} hat off")
UNDRESS = (
    *2 * ("[remove|take away|delete|get rid of|discard|take off] {hat}",),
    "[take|pull] the hat off [of|] {x}",
    "[remove|take] the hat from {x}",
    "[take|get] {hat} [off|away]",
)
PUT_ON = ("[put on|get|don|wear|receive|gain|be given|start wearing|pick up] {a} hat", "put {a} hat on")
DRESS = (
    "give {x} {a} hat",
    "give {a} hat to {x}",
    "[put|place|set] {a} hat on {x}",
    "[put|place] {a} hat on top of {x}",
    "[add|hand] {a} hat to {x}",
    "let {x} [wear|have] {a} hat",
)

# Clauses without a state, so that they can also be said of people who are not there.


def leaving(context: Context, rng: Random, x: Phrase, *, plural: bool = False) -> Clause:
    return clause(context, rng, LEAVE, REMOVE, x, plural=plural)


def moving(context: Context, rng: Random, x: Phrase, where: Destination, *, plural: bool = False) -> Clause:
    if where.at is not None and rng.random() < 0.3:
        return clause(context, rng, STAND, 2 * PLACE, x, at=where.at)
    return clause(context, rng, MOVE, MOVE_SOMEBODY, x, plural=plural, to=where.to)


def undressing(context: Context, rng: Random, x: Phrase, hat: Phrase | None = None) -> Clause:
    """``hat``: what else the hat can be called than x's."""
    hat = hat if hat and rng.random() < 0.5 else hat_of(context, rng, x)
    return clause(context, rng, TAKE_OFF, UNDRESS, x, hat=hat)


def dressing(context: Context, rng: Random, x: Phrase, colour: str) -> Clause:
    return clause(context, rng, PUT_ON, DRESS, x, a=article(colour))


# Deeds.


def leave(context: Context, rng: Random) -> Deed | None:
    """Somebody goes."""
    who = someone(context, people_of(context), rng)
    return None if who is None else leave_as(context, rng, who, subject(context, who, rng))


def leave_as(context: Context, rng: Random, who: int, x: Phrase) -> Deed:
    return Deed(leaving(context, rng, x), context.state_with({who: EMPTY}), Event("leave", origin=who))


def move(context: Context, rng: Random) -> Deed | None:
    """Somebody moves."""
    who = someone(context, people_of(context), rng)
    return None if who is None else move_as(context, rng, who, subject(context, who, rng))


def move_as(context: Context, rng: Random, who: int, x: Phrase) -> Deed | None:
    if rng.random() < 0.1 and (where := vacated(context, who, rng)):
        said = clause(context, rng, ["take {his} [place|spot|position]", "replace {him}"], (), x)
    elif where := destination(context, who, rng):
        said = moving(context, rng, x, where)
    else:
        return None
    return Deed(said, moved(context, who, where.target), Event("move", where.target, origin=who, steps=where.steps))


def enter(context: Context, rng: Random) -> Deed | None:
    """Somebody new comes."""
    where = destination(context, None, rng)
    if where is None or where.at is None:
        return None
    shirt = rng.choice(list(COLOURS))
    hat = rng.choice(list(COLOURS)) if rng.random() < 0.3 else NONE
    x = newcomer(context, rng, shirt, hat)
    if x.words.split()[0] in COLOURS.values():  # "blue" alone is somebody new only if he comes by himself
        said = clause(context, rng, COME[:1], (), x, at=where.at)
    else:
        said = clause(context, rng, COME, ADD, x, at=where.at)
    return Deed(said, context.state_with({where.target: shirt + hat}), Event("enter", where.target))


def newcomer(context: Context, rng: Random, shirt: str, hat: str) -> Phrase:
    """Somebody who is not here yet."""
    colour, a, person = COLOURS[shirt], article(COLOURS[shirt]), "[{person}|{person}|person]"
    new = "[a|a|a new]"
    if hat == NONE:
        names = [f"{new} {person} [in|wearing|dressed in] {colour}", f"[someone|somebody] [in|wearing] {colour}"]
        names += [f"{new} {person} [in|with|wearing] {a} shirt [and no hat|without a hat||]", f"{a} [{{person}}|guy|person|one]"]
        names += [f"a hatless {person} in {colour}", f"{a} shirted {person}", f"[someone|somebody] [in|with] {a} shirt"]
        if any(context.state[n] == shirt + hat for n in people_of(context)):
            names += 3 * [f"another {person} in [{colour}|{a} shirt]", f"another {colour} {person}", f"a second {person} in {colour}"]
        if not any(shirt in context.state[n] for n in people_of(context)):
            names += [colour]
    else:
        worn = article(COLOURS[hat])
        names = [f"{new} {person} [in|with|wearing] {a} shirt and {worn} hat", f"{new} {person} in {colour} [with|wearing] {worn} hat"]
        names += [f"{a} {person} [with|wearing|in] {worn} hat", f"[someone|somebody] in {colour} with {worn} hat"]
        names += [f"{new} {person} [in|dressed in] all {colour}"] * (2 * (shirt == hat))
    return context.say(rng, names)


def give(context: Context, rng: Random) -> Deed | None:
    """A hat goes from one person to another."""
    people, state = people_of(context), context.state
    giver = someone(context, [n for n in people if state[n][1] != NONE], rng)
    taker = someone(context, [n for n in people if state[n][1] == NONE], rng)
    if giver is None or taker is None:
        return None
    (shirt, hat), colour = state[giver], COLOURS[state[giver][1]]
    after = context.state_with({giver: shirt + NONE, taker: state[taker][0] + hat})
    pair, kind = frozenset((giver, taker)), rng.choice(("gives", "takes", "told"))
    unique = [f"the {colour} hat"] * (sum(content[1] == hat for content in state) == 1)
    unique += ["the hat"] * (sum(content[1] != NONE for content in state) == 1)
    if kind == "gives":
        x, y = subject(context, giver, rng), other_person(context, taker, giver, rng)
        does = ["[give|hand|pass|lend] {y} {his} [hat|{colour} hat]", "[give|hand|pass|lend|hand over] {his} [hat|{colour} hat] to {y}"]
        does += ["put {his} hat on {y}", "[give|hand] [the hat|the {colour} hat] to {y}"]
        said = clause(context, rng, does, (), x, y=y, colour=colour)
        return Deed(said, after, Event("give", giver, pair, named=(giver, taker)))
    if kind == "takes":
        x, y = subject(context, taker, rng), other_person(context, giver, taker, rng)
        does = [f"[take|get|grab|steal|snatch|borrow|receive] [the hat|the {colour} hat] [from|of] {{y}}"]
        does += ["[take|steal|grab|put on|get|borrow|snatch] {hat}", f"[take|steal|get|grab] [{'|'.join([*unique, '{hat}'])}]"]
        said = clause(context, rng, does, (), x, y=y, hat=hat_of(context, rng, y))
        named = (taker, giver) if y.words in said.rest.words else ()
        return Deed(said, after, Event("give", taker, pair, got=True, named=named))
    x, y = name(context, giver, rng), name(context, taker, rng, giver)
    what = context.say(rng, rng.choice([*unique])) if unique and rng.random() < 0.5 else hat_of(context, rng, x)
    told: list[Template] = ["[give|hand|move|pass|transfer] {hat} [over|] to {y}", "[put|place] {hat} on {y}", "give {y} {hat}"]
    told += [f"[move|pass|transfer] the {colour} hat from {{x}} to {{y}}", "take {hat} and [give it to|put it on] {y}"]
    return Deed(clause(context, rng, (), told, x, y=y, hat=what), after, Event("hand over", pair=pair))


def take_off(context: Context, rng: Random) -> Deed | None:
    """A hat disappears."""
    state = context.state
    worn = [n for n in people_of(context) if state[n][1] != NONE]
    who = someone(context, worn, rng)
    if who is None:
        return None
    hats = [f"the {COLOURS[state[who][1]]} hat"] * (sum(state[n][1] == state[who][1] for n in worn) == 1) + ["the hat"] * (len(worn) == 1)
    return take_off_as(context, rng, who, subject(context, who, rng), Phrase(rng.choice(hats)) if hats else None)


def take_off_as(context: Context, rng: Random, who: int, x: Phrase, hat: Phrase | None = None) -> Deed | None:
    shirt, worn = context.state[who]
    after = context.state_with({who: shirt + NONE})
    return Deed(undressing(context, rng, x, hat), after, Event("take off", who)) if worn != NONE else None


def put_on(context: Context, rng: Random) -> Deed | None:
    """A new hat appears, or changes its colour."""
    who = someone(context, people_of(context), rng)
    return None if who is None else put_on_as(context, rng, who, subject(context, who, rng))


def put_on_as(context: Context, rng: Random, who: int, x: Phrase) -> Deed:
    shirt, worn = context.state[who]
    hat = rng.choice([colour for colour in COLOURS if colour != worn])
    after, colour = context.state_with({who: shirt + hat}), COLOURS[hat]
    if worn == NONE:
        return Deed(dressing(context, rng, x, colour), after, Event("put on", who))
    does = [f"[change|switch] to {article(colour)} hat", f"[replace|exchange|swap] {{his}} hat [with|for] {article(colour)} [hat|one]"]
    told = [f"[change|turn|switch] {{hat}} to {colour}", f"make {{hat}} {colour}", f"replace {{hat}} [with|by] {article(colour)} one"]
    return Deed(clause(context, rng, does, told, x, hat=hat_of(context, rng, x)), after, Event("change", who))


def trade(context: Context, rng: Random) -> Deed | None:
    """Two people exchange their places or their hats."""
    people, state = people_of(context), context.state
    if len(people) < 2:
        return None
    a, b = rng.sample(people, 2)
    places = rng.random() < 0.6
    if places:
        after, what = context.state_with({a: state[b], b: state[a]}), "[places|spots|positions]"
    elif NONE in (state[a][1], state[b][1]):
        return None
    else:
        after, what = context.state_with({a: state[a][0] + state[b][1], b: state[b][0] + state[a][1]}), "hats"
    x, y = name(context, a, rng), name(context, b, rng, a)
    swap = "[swap|switch|trade|exchange]"
    pair = context.say(rng, "{x} and {y}", x=x, y=y)
    if context.event.pair == {a, b} or len(people) == 2:
        pair = rng.choice([pair, context.say(rng, "[they|they|the two of them|both of them|the two]", PRONOUN)])
    named = (b, a) if places else (a, b)
    event = Event("trade", pair=frozenset((a, b)), named=() if PRONOUN in pair.phenomena else named)
    kind = rng.choice(("pair", "pair", "with", "told"))
    if kind == "pair":
        said = clause(context, rng, [f"{swap} {what}", f"{swap} {what} with each other"], (), pair, plural=True)
    elif kind == "with":
        said = clause(context, rng, [f"{swap} {what} with {{y}}"], (), x, y=y)
        event = Event("trade", pair=frozenset((a, b)), named=named)
    else:
        told = [f"{swap} the {what} of {{x}}", f"{swap} {what} between {{x}}"]
        if places:
            told += 3 * [f"{swap} {{x}}"] + [f"{swap} {x.words} with {objective(y).words}", "interchange {x}"]
        else:
            hats = [f"the {COLOURS[state[n][1]]} hat" for n in (a, b)]
            if all(sum(state[n][1] == state[m][1] for n in people) == 1 for m in (a, b)):
                told += [f"{swap} {hats[0]} [and|with] {hats[1]}"]
            told += [f"{swap} {hat_of(context, rng, x).words} with {hat_of(context, rng, y).words}"]
        said = clause(context, rng, (), told, pair)
    return Deed(said, after, event)


def someone(context: Context, people: list[int], rng: Random) -> int | None:
    """One of them, often the one just mentioned."""
    he = focus(context)
    if not people:
        return None
    return he if he in people and rng.random() < 0.35 else rng.choice(people)


def other_person(context: Context, position: int, subject: int, rng: Random) -> Phrase:
    """Somebody else than the subject, as an object."""
    if position == focus(context) and rng.random() < 0.5:
        return context.say(rng, "{him}", PRONOUN)
    return name(context, position, rng, subject)


def moved(context: Context, who: int, target: int) -> State:
    return context.state_with({who: EMPTY, target: context.state[who]})


DEEDS: dict[Rule, float] = {leave: 1.5, move: 3, enter: 2, give: 3, take_off: 1, put_on: 1, trade: 1.5}
"""All of them, each with its weight."""


def any_deed(context: Context, rng: Random) -> Deed | None:
    return rng.choices(list(DEEDS), list(DEEDS.values()))[0](context, rng)

"""Instructions in Scene: people who come, go, move and pass their hats around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from sestra.data.grammar import ELLIPSIS, PRONOUN, PUT_BACK, SAME_AGAIN, Context, Phrase, Template, Turn, draw_speaker, marked
from sestra.worlds.scene.ambiguous import AMBIGUOUS
from sestra.worlds.scene.descriptions import EMPTY, Event, article, describe, focus, people_of, place, refer, refer_object
from sestra.worlds.scene.requests import FILLERS, REQUESTS
from sestra.worlds.scene.unfollowable import UNFOLLOWABLE
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS, distance

__all__ = ("AMBIGUOUS", "FILLERS", "REQUESTS", "RULES", "UNFOLLOWABLE", "start")

LONGEST_TRADE = 4
"""Edits in a trade of places, so that it stays within the paper's horizon of five actions."""
BACK: Mapping[tuple[str, bool], list[Template]] = {
    ("move", False): [
        marked("{he} [moves|goes|returns|walks] [back|back to where {he} was|to {his} [old|previous] place]", PRONOUN),
        marked("then back again", ELLIPSIS),
    ],
    ("give", True): [marked("{he} gives [it|the hat] back", PRONOUN)],
    ("give", False): [marked("{he} takes [it|the hat] back", PRONOUN)],
    ("leave", False): [marked("{he} [comes back|returns|comes back to the same place]", PRONOUN)],
    ("take off", False): [marked("{he} puts [it|the hat] back on", PRONOUN)],
    ("put on", False): [marked("{he} takes it off again", PRONOUN)],
    ("trade", False): [marked("they [switch|trade|change] back", PRONOUN)],
}
"""How an event is done the other way round, by its kind and by whether "he" got the hat."""


def start(rng: Random) -> Context:
    row = [EMPTY] * POSITIONS
    for position in rng.sample(range(POSITIONS), 2):
        row[position] = rng.choice("".join(COLOURS)) + rng.choice("".join(COLOURS))
    nouns = ("person", "person", "person", "man", "man", "guy", "woman")
    enters = ("appears", "enters", "shows up", "arrives", "comes in")
    leaves = ("leaves", "disappears", "exits", "goes away", "walks off", "leaves the stage", "exits the scene")
    speaker = draw_speaker(
        rng,
        chatty=0.22,
        person=nouns,
        wearing=("in", "in", "with", "wearing"),
        enters=enters,
        leaves=leaves,
        step=("step", "space", "spot", "place"),
    )
    pronouns = {"he": "she", "him": "her", "his": "her"} if speaker.words["person"] == "woman" else {"he": "he", "him": "him", "his": "his"}
    return Context((tuple(row),), replace(speaker, words={**speaker.words, **pronouns}), nothing=Event("nothing"))


# The rules.


def enter(context: Context, rng: Random) -> Turn | None:
    """Somebody new comes in, mostly without a hat."""
    free = [n for n in range(POSITIONS) if context.state[n] == EMPTY]
    beside = [n for n in free if any(m in people_of(context) for m in (n - 1, n + 1))]
    if not free or len(free) < 4:
        return None
    target = rng.choice(rng.choice([free, beside or free, beside or free, [n for n in free if n in (0, POSITIONS - 1)] or free]))
    shirt = rng.choice(list(COLOURS))
    hat = rng.choice(list(COLOURS)) if rng.random() < 0.1 else NONE
    where, _steps = place(context, target, None, rng)
    dress = f"{{wearing}} {article(COLOURS[shirt])} shirt" + (f" and {article(COLOURS[hat])} hat" if hat != NONE else "[||| and no hat]")
    one = (
        "another"
        if any(context.state[n] == shirt + hat for n in people_of(context)) and rng.random() < 0.6
        else rng.choice(("a", "a", "a", "a new"))
    )
    templates: list[Template] = [f"{one} {{person}} {dress} {{enters}} {{where}}"]
    if hat == NONE:
        templates += [f"{one} {{person}} in {COLOURS[shirt]} {{enters}} {{where}}"]
    if context.event.kind == "enter":
        templates += [marked(f"then {'another' if one == 'another' else 'one'} {dress} {{where}}", ELLIPSIS)]
    return Turn(context.say(rng, templates, where=where), context.state_with({target: shirt + hat}), Event("enter", target))


def leave(context: Context, rng: Random) -> Turn | None:
    """Somebody goes."""
    people = people_of(context)
    if not people:
        return None
    who = _someone(context, people, rng)
    phrase = context.say(rng, "{x} {leaves}", x=refer(context, who, rng))
    return Turn(phrase, context.state_with({who: EMPTY}), Event("leave", origin=who))


def move(context: Context, rng: Random) -> Turn | None:
    """Somebody goes to an end, some steps, or beside somebody."""
    people = people_of(context)
    if not people:
        return None
    who = _someone(context, people, rng)
    targets = [0, 0, POSITIONS - 1, POSITIONS - 1, who - 1, who - 1, who + 1, who + 1, who - 2, who + 2, who - 3, who + 3]
    targets += [side for other in people if other != who for side in (other - 1, other + 1)]
    targets = [target for target in targets if 0 <= target < POSITIONS and target not in people]
    if not targets:
        return None
    target = rng.choice(targets)
    where, steps = place(context, target, who, rng)
    templates: list[Template] = ["{x} [moves|moves|moves|goes|walks|relocates] {where}"]
    if who == focus(context) and context.event.kind == "move":
        templates += [marked("then {where}", ELLIPSIS)]
    phrase = context.say(rng, templates, x=refer(context, who, rng), where=where)
    return Turn(phrase, _moved(context, who, target), Event("move", target, origin=who, steps=steps))


def hats(context: Context, rng: Random) -> Turn | None:
    """A hat is given, taken, swapped, put on or taken off."""
    people, state = people_of(context), context.state
    worn, bare = [n for n in people if state[n][1] != NONE], [n for n in people if state[n][1] == NONE]
    who = _someone(context, people, rng) if people else None
    kind = rng.choices(("give", "swap", "take off", "put on"), (6, 2, 1, 1))[0]
    if kind == "give" and worn and bare:
        return _give(context, _someone(context, worn, rng), _someone(context, bare, rng), rng)
    if kind == "swap" and len({state[n][1] for n in worn}) > 1:
        a, b = rng.sample(worn, 2)
        after = context.state_with({a: state[a][0] + state[b][1], b: state[b][0] + state[a][1]})
        pair = _both(context, a, b, rng)
        return Turn(
            context.say(rng, "{pair} [swap|switch|trade|exchange] hats", pair=pair),
            after,
            Event("trade", pair=frozenset((a, b))),
        )
    if kind == "take off" and who in worn:
        phrase = context.say(rng, "{x} takes [off {his} hat|{his} hat off]", x=refer(context, who, rng))
        return Turn(phrase, context.state_with({who: state[who][0] + NONE}), Event(kind, who))
    if kind == "put on" and who in bare:
        hat = rng.choice(list(COLOURS))
        phrase = context.say(rng, f"{{x}} puts [on {article(COLOURS[hat])} hat|{article(COLOURS[hat])} hat on]", x=refer(context, who, rng))
        return Turn(phrase, context.state_with({who: state[who][0] + hat}), Event(kind, who))
    return None


def _give(context: Context, giver: int, taker: int, rng: Random) -> Turn:
    (shirt, hat), state = context.state[giver], context.state
    taken = rng.random() < 0.5
    if taken:
        x, y = refer(context, taker, rng), refer_object(context, giver, taker, rng)
        templates = [f"{{x}} [takes|gets] the [{COLOURS[hat]}|] hat from {{y}}"]
        if sum(content[1] == hat for content in state) == 1:
            templates += [f"{{x}} takes the {COLOURS[hat]} hat"]
        if sum(content[1] != NONE for content in state) == 1:
            templates += ["{x} takes the hat"]
    else:
        x, y = refer(context, giver, rng), refer_object(context, taker, giver, rng)
        templates = [
            f"{{x}} [gives|hands] [{{his}}|the] [{COLOURS[hat]}|] hat to {{y}}",
            f"{{x}} gives {{y}} [{{his}}|the] [{COLOURS[hat]}|] hat",
        ]
    after = context.state_with({giver: shirt + NONE, taker: state[taker][0] + hat})
    event = Event("give", taker if taken else giver, frozenset((giver, taker)), got=taken)
    return Turn(context.say(rng, templates, x=x, y=y), after, event)


def trade(context: Context, rng: Random) -> Turn | None:
    """Two people change places."""
    people, state = people_of(context), context.state
    swaps = {(a, b): context.state_with({a: state[b], b: state[a]}) for a in people for b in people if a < b}
    short = [pair for pair, after in swaps.items() if 0 < sum(map(distance, state, after)) <= LONGEST_TRADE]
    if not short:
        return None
    a, b = rng.choice(short)
    phrase = context.say(rng, "{pair} [swap|switch|trade|exchange] [places|spots|positions]", pair=_both(context, a, b, rng))
    return Turn(phrase, swaps[a, b], Event("trade", pair=frozenset((a, b))))


def again(context: Context, rng: Random) -> Turn | None:
    """The last action once more, by the same person or by another."""
    event, state, people = context.event, context.state, people_of(context)
    if event.kind == "trade":
        return Turn(context.say(rng, "they [do it|do that|trade|switch] again", SAME_AGAIN, PRONOUN), context.states[-2], event)
    if event.kind == "enter" and event.who is not None:
        free = [n for n in range(POSITIONS) if state[n] == EMPTY]
        if len(free) < 4:
            return None
        target = rng.choice(free)
        where, _steps = place(context, target, None, rng)
        templates: list[Template] = [
            "an identical {person} {enters} {where}",
            marked("another one just like {him} {enters} {where}", PRONOUN),
        ]
        return Turn(
            context.say(rng, templates, SAME_AGAIN, where=where),
            context.state_with({target: state[event.who]}),
            Event("enter", target),
        )

    def after(who: int) -> tuple[str, ...] | None:
        target = who + event.steps
        if event.kind == "leave":
            return context.state_with({who: EMPTY})
        if event.kind == "take off" and state[who][1] != NONE:
            return context.state_with({who: state[who][0] + NONE})
        return _moved(context, who, target) if event.steps and 0 <= target < POSITIONS and target not in people else None

    results = {who: result for who in people if (result := after(who))}
    if not results:
        return None
    who = _someone(context, list(results), rng)
    where_now = {"leave": None, "take off": who, "move": who + event.steps}[event.kind]
    done = replace(event, who=where_now, origin=who)
    if who == event.who:
        templates = [marked("{he} does [it|that|this] again", PRONOUN), "and again", marked("{he} does the same again", PRONOUN)]
    else:
        templates = ["{x} does the same [thing|]", "so does {x}", marked("then {x} [too|as well]", ELLIPSIS)]
    return Turn(context.say(rng, templates, SAME_AGAIN, x=refer(context, who, rng)), results[who], done)


def back(context: Context, rng: Random) -> Turn | None:
    """What was just done is done the other way round."""
    event = context.event
    templates = BACK.get((event.kind, event.got))
    if templates is None:
        return None
    reverse = {
        "move": replace(event, who=event.origin, origin=event.who, steps=0),
        "give": replace(event, got=not event.got),
        "leave": Event("return", event.origin),
        "take off": Event("put on", event.who),
        "put on": Event("take off", event.who),
    }
    return Turn(context.say(rng, templates, PUT_BACK), context.states[-2], reverse.get(event.kind, event))


def _someone(context: Context, people: list[int], rng: Random) -> int:
    """One of them, often the one just mentioned."""
    he = focus(context)
    return he if he in people and rng.random() < 0.5 else rng.choice(people)


def _both(context: Context, a: int, b: int, rng: Random) -> Phrase:
    """Two people as a subject."""
    if context.event.pair == {a, b} or len(people_of(context)) == 2:
        return context.say(rng, "[they|they|the two of them]", PRONOUN)
    return context.say(rng, "{x} and {y}", x=describe(context, a, rng), y=describe(context, b, rng))


def _moved(context: Context, who: int, target: int) -> tuple[str, ...]:
    return context.state_with({who: EMPTY, target: context.state[who]})


RULES = {move: 0.4, enter: 0.24, leave: 0.14, hats: 0.26, trade: 0.04, again: 0.06, back: 0.06}

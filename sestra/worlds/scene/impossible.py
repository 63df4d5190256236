"""Deeds that the state rules out, and statements of what is already so."""

from __future__ import annotations

from random import Random

from sestra.data.grammar import Context, Phrase, Template, Turn
from sestra.worlds.scene import deeds, groups
from sestra.worlds.scene.clauses import affirm, clause
from sestra.worlds.scene.deeds import dressing, leaving, moving, undressing
from sestra.worlds.scene.descriptions import people_of
from sestra.worlds.scene.destinations import Destination, step_words
from sestra.worlds.scene.people import name, subject
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS


def impossible(context: Context, rng: Random) -> Turn | None:
    """A deed that cannot be done: no hat to give, nobody to leave, a place that is taken, the end of the row, nothing to undo."""
    people = people_of(context)
    kinds = (_no_hat, _no_hat, _taken, _taken, _off_the_edge) if people else (_nobody,)
    phrase = rng.choice((*kinds, _no_past) if not context.turns else kinds)(context, rng)
    return phrase and Turn(phrase, context.state, context.event)


def _no_hat(context: Context, rng: Random) -> Phrase | None:
    """A hat that is not worn is to be given, taken or swapped, or one that is worn to be put on."""
    people, state = people_of(context), context.state
    who = rng.choice(people)
    if state[who][1] != NONE:
        return affirm(context, rng, dressing(context, rng, subject(context, who, rng), COLOURS[state[who][1]]))
    x = subject(context, who, rng)
    others = [n for n in people if n != who]
    kind = rng.randrange(3) if others else 0
    if kind == 0:
        return affirm(context, rng, undressing(context, rng, x))
    other = rng.choice(others)
    y = name(context, other, rng, who)
    if kind == 1:
        does = ["[give|hand|pass] {y} {his} hat", "[give|hand|pass] {his} hat to {y}", "put {his} hat on {y}"]
        return affirm(context, rng, clause(context, rng, does, (), x, y=y))
    if state[other][1] != NONE:
        return None
    return affirm(context, rng, clause(context, rng, ["[swap|switch|trade|exchange] hats with {y}", "take the hat from {y}"], (), x, y=y))


def _taken(context: Context, rng: Random) -> Phrase | None:
    """Somebody is to go where somebody is."""
    people, speaker = people_of(context), context.speaker
    place = rng.choice(people)
    number = context.say(
        rng, [f"[position|place|spot] {speaker.number(place + 1)}", f"the {speaker.ordinal(place + 1)} [position|spot|place]"]
    )
    where = Destination(place, context.say(rng, "to {n}", n=number), context.say(rng, "[at|in|on] {n}", n=number))
    if place in (0, POSITIONS - 1):
        side = "left" if place == 0 else "right"
        words = context.say(rng, [f"the [far {side}|{side} end|{side} edge]"])
        where = Destination(place, context.say(rng, "to {n}", n=words), context.say(rng, "[at|on] {n}", n=words))
    if rng.random() < 0.5 and where.at is not None:
        x = deeds.newcomer(context, rng, rng.choice(list(COLOURS)), NONE)
        return affirm(context, rng, clause(context, rng, deeds.COME, deeds.ADD, x, at=where.at))
    return affirm(context, rng, moving(context, rng, subject(context, rng.choice(people), rng), where))


def _off_the_edge(context: Context, rng: Random) -> Phrase | None:
    """Somebody at the end is to go on."""
    edge = rng.choice((0, POSITIONS - 1))
    if edge not in people_of(context):
        return None
    offset = rng.randint(1, 3) * (-1 if edge == 0 else 1)
    return affirm(context, rng, moving(context, rng, subject(context, edge, rng), Destination(0, step_words(context, offset, rng), None)))


def _nobody(context: Context, rng: Random) -> Phrase:
    """Everybody is to leave an empty stage."""
    some, plural = rng.choice(groups.EVERYONE)
    x = context.say(rng, rng.choice([some, "{he}"]))
    return affirm(context, rng, leaving(context, rng, x, plural=plural and x.words != context.speaker.words["he"]))


def _no_past(context: Context, rng: Random) -> Phrase:
    """Something is to be undone or repeated, and nothing has happened."""
    templates: list[Template] = [
        "[undo|undo that|revert|undo the last step|undo the last two steps|take that back|reverse that|undo everything|start over|reset]",
        "[again|once more|repeat that|do it again|do that again|repeat step [one|two|1|2]|repeat the first instruction|one more time]",
        "[bring {him} back|{he} comes back|bring back the one you just removed|the person who just left comes back]",
        "[undo|repeat] step [one|two|three|1|2|3]",
    ]
    return context.say(rng, templates)


def already_so(context: Context, rng: Random) -> Turn | None:
    """What is to be seen is said."""
    people, state = people_of(context), context.state
    number = {0: "no", 1: "one"}.get(len(people)) or context.speaker.number(len(people))
    noun = "person" if len(people) == 1 else "people"
    facts: list[Template] = [
        f"there {'is' if len(people) == 1 else 'are'} {number} {noun} [on the stage|here|in the scene|]",
        f"i [see|count] {number} {noun}",
    ]
    if people and all(state[n][1] == NONE for n in people):
        facts += ["[nobody|no one] [wears|has] a hat"]
    if people and all(state[n][1] != NONE for n in people):
        facts += ["[everyone|everybody] [wears|has|is wearing] a hat"]
    if people:
        who = rng.choice(people)
        x, (shirt, hat) = name(context, who, rng), state[who]
        colour, place = COLOURS[shirt], context.speaker.number(who + 1)
        worn = "no hat" if hat == NONE else f"a {COLOURS[hat]} hat".replace("a o", "an o")
        seen = [f"{{x}} [has|is wearing|wears] {worn} [already|]", f"{{x}} is [already|] [at|in|on] [position|place|spot] {place}"]
        seen += [f"{{x}} is [wearing {colour}|in {colour}] [already|]", "{x} is [here|there|on the stage|still here|still there]"]
        facts += [context.say(rng, seen, x=x) for _ in range(4)]
    return Turn(context.say(rng, facts), context.state, context.event)

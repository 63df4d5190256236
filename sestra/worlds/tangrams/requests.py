"""What people ask for beyond SCONE, and the filler words around it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from random import Random

from sestra.data.grammar import Context, Rule, Turn
from sestra.worlds.tangrams import rearranging
from sestra.worlds.tangrams.deeds import clear, keep_only, move_by, move_to, remove_one, remove_several, swap_pairs, swap_two
from sestra.worlds.tangrams.descriptions import Event
from sestra.worlds.tangrams.references import destination, noun, number
from sestra.worlds.tangrams.repetition import REPETITION
from sestra.worlds.tangrams.restoring import RESTORING
from sestra.worlds.tangrams.verbs import VERBS

FILLERS = (
    *4 * ("please {x}", "{x} please"),
    *2 * ("{x}, please", "ok, {x}", "okay {x}", "now {x}", "{x} now", "so, {x}", "just {x}", "{x}!", "{x}."),
    *("alright, {x}", "all right, {x}", "well, {x}", "hey, {x}", "hi, {x}", "hmm, {x}", "um, {x}", "uh {x}", "great, {x}", "good, {x}"),
    *(
        "{x}, thanks",
        "{x} thank you",
        "{x}, thank you",
        "{x} for me",
        "{x} if you can",
        "{x}, would you",
        "{x} ok?",
        "{x} if you don't mind",
    ),
    *("next, please {x}", "now please {x}", "and now {x}", "then please {x}", "finally, {x}", "robot, {x}", "hello, {x}", "yes, {x}"),
    *(
        "my next instruction: {x}",
        "here is what to do: {x}",
        "what i want is this: {x}",
        "{x} right now",
        "sure, {x}",
        "could you please {x}",
    ),
)
POLITE = (
    *3 * ("[could|can|would|will] you [please|] {x}[?|]",),
    "[could|can] you {x} for me[?|]",
    "[i want|i need|i would like|i'd like|i ask] you to {x}",
    "[you should|you can|you may|you have to|you must|you need to] {x} [now|]",
    "[go ahead and|kindly|try to|be so kind and|let's|let us|make sure to|remember to|feel free to] {x}",
    "[i think|i guess|maybe] you should {x}",
    "[your next task is to|the next thing is to|now it is time to|it is time to|what you do next is] {x}",
    "[would you mind|do you mind] {gerund}[?|]",
)
"""What a command becomes when it is asked for politely."""

# The whole row.


def reverse(context: Context, rng: Random) -> Turn | None:
    """The row, or three or more figures at one end of it, in the other order."""
    (row,), things = context.state, noun(context, rng) + "s"
    if len(row) < 2:
        return None
    if len(row) > 3 and rng.random() < 0.3:
        count, end = rng.randint(3, len(row) - 1), rng.choice(("first", "last"))
        x = f"the {end} {number(context, count, rng)} [{things}|{things}|ones]"
        templates = [
            f"[reverse|invert|flip] the order of {x}",
            f"[reverse|mirror] {x}",
            f"put {x} in [reverse|the opposite|reversed] order",
        ]
        goal = row[:count][::-1] + row[count:] if end == "first" else row[:-count] + row[-count:][::-1]
        return Turn(context.say(rng, templates), (goal,), Event("reverse", several=True))
    whole = "the [row|row|whole row|entire row|line|order|sequence]"
    templates = [
        *3 * [f"[reverse|flip|invert|mirror] {whole}", f"reverse [the|all the|all] {things}"],
        f"[reverse|flip|invert|turn around] the order of [the {things}|all [the|] {things}|the row|the whole row|everything]",
        f"[put|arrange] [the {things}|everything|them all|all [the|] {things}] in [reverse|the reverse|the opposite|reversed] order",
        "turn the [whole|] [row|line|order] [around|round|back to front|the other way round]",
        "[reverse|flip] [everything|the whole thing]",
        "the [row|order|whole row] [is|should be|gets|must be] [reversed|flipped|inverted]",
        f"i want the {things} in [reverse|the opposite] order",
        "make the row run the other way",
        "read the row from right to left and put it in that order",
    ]
    return Turn(context.say(rng, templates), (row[::-1],), Event("reverse", several=True))


def rotate(context: Context, rng: Random) -> Turn | None:
    """All figures move by one place, and the one at the end goes to the other end."""
    (row,), things = context.state, noun(context, rng) + "s"
    if len(row) < 3:
        return None
    side = rng.choice(("left", "right"))
    leaver, end = ("first", "[end|back|right end]") if side == "left" else ("last", "[front|start|beginning|left end]")
    every = f"[everything|all [the|] {things}|every {things[:-1]}|each {things[:-1]}|the whole row|the entire row|all of them]"
    far = "[one place|one {spot}|one step|by one|by one place|a place|1 {spot}]"
    wrapping = f"[, the {leaver} one goes to the {end}|, the {leaver} one wraps around to the {end}| and put the {leaver} one at the {end}"
    wrapping += f"|, with the {leaver} one going to the {end}| so that the {leaver} one comes to the {end}]"
    templates = (
        f"[move|shift|push|slide] {every} {far} to the {side}{wrapping}",
        f"[move|shift|push|slide] {every} {far} {side}{wrapping}",
        f"[rotate|cycle] [the row|the {things}|the whole row|everything|all [the|] {things}] {far} to the {side}",
        f"[rotate|cycle] [the row|the {things}|the whole row|everything] {side} {far}",
        f"[rotate|cycle] the row {far} to the {side}{wrapping}",
    )
    goal = row[1:] + row[0] if side == "left" else row[-1] + row[:-1]
    return Turn(context.say(rng, templates), (goal,), Event("rotate", several=True))


# Two deeds in one sentence.


def two_deeds(context: Context, rng: Random) -> Turn | None:
    """One thing and then another; what the second says holds after the first."""
    first = rng.choice((remove_one, remove_one, swap_two, move_to, move_by))(context, rng)
    if first is None or first.state == context.state:
        return None
    meanwhile = context.then(first)
    second = _put_elsewhere(meanwhile, rng) if first.event.kind == "remove" and rng.random() < 0.3 else None
    second = second or rng.choice((remove_one, swap_two, move_to, move_by, reverse))(meanwhile, rng)
    if second is None or second.state in (context.state, first.state) or {"step", "just", "newcomer"} & {*second.instruction.words.split()}:
        return None
    join = "[{x} and then {y}|{x}, then {y}|{x}, and then {y}|first {x}, then {y}|{x}. then {y}|{x}, after that {y}|{x} and afterwards {y}]"
    phrase = context.say(rng, join, x=first.instruction, y=second.instruction)
    return Turn(phrase, second.state, Event("two deeds", several=True))


def _put_elsewhere(context: Context, rng: Random) -> Turn:
    """The figure that was removed in the same sentence comes in elsewhere."""
    (row,), figure = context.state, context.event.shape
    index = rng.randint(0, len(row))
    phrase = context.say(rng, "[put|insert|place|add] it [back|back in|in again|] {where}", where=destination(context, row, index, rng))
    return Turn(phrase, (rearranging.inserted(row, figure, index),), Event("put back", (), figure))


def politely(rule: Rule) -> Rule:
    """The rule, whose commands are sometimes asked for politely."""

    @wraps(rule)
    def polite(context: Context, rng: Random) -> Turn | None:
        turn = rule(context, rng)
        verb, _, rest = turn.instruction.words.partition(" ") if turn else ("", "", "")
        if turn is None or verb not in VERBS or rng.random() > 0.15:
            return turn
        phrase = context.say(rng, POLITE, *turn.instruction.phenomena, x=turn.instruction.words, gerund=f"{VERBS[verb][0]} {rest}")
        return Turn(phrase, turn.state, turn.event)

    return polite


COMMANDS: Mapping[Rule, float] = {
    remove_one: 1.2,
    remove_several: 1.4,
    keep_only: 1,
    clear: 0.6,
    swap_two: 1.4,
    swap_pairs: 0.9,
    move_to: 1.8,
    move_by: 1.4,
    reverse: 0.7,
    rotate: 0.75,
    two_deeds: 1.2,
    **RESTORING,
    **REPETITION,
}

REQUESTS: Mapping[Rule, float] = {politely(rule): weight for rule, weight in COMMANDS.items()}

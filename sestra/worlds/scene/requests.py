"""What people ask for in Scene beyond SCONE's sentences, and how they surround it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from sestra.data.grammar import PRONOUN, Context, Rule, Turn
from sestra.worlds.scene import deeds, groups, repetition
from sestra.worlds.scene.clauses import affirm
from sestra.worlds.scene.deeds import Deed
from sestra.worlds.scene.descriptions import EMPTY, Event
from sestra.worlds.scene.people import MOVER, NEWCOMER
from sestra.worlds.scene.world import distance

MOST_EDITS = 16
"""The longest turn, in edits."""
FILLERS = (
    *("please {x}", "{x} please", "{x}, please", "{x} , thanks", "{x} thank you", "ok, {x}", "okay, {x}", "ok {x}", "alright, {x}"),
    *(
        "so {x}",
        "so, {x}",
        "well, {x}",
        "um, {x}",
        "uh {x}",
        "hmm, {x}",
        "hey, {x}",
        "hi, {x}",
        "hello, {x}",
        "hey agent, {x}",
        "great, {x}",
    ),
    *("good, {x}", "nice, {x}", "just {x}", "also {x}", "yes, {x}", "yeah, {x}", "now then, {x}", "right, {x}"),
    *(
        "actually, {x}",
        "i think {x}",
        "let's see, {x}",
        "listen, {x}",
        "{x} now",
        "{x} if you don't mind",
        "{x} , ok?",
        "{x} , would you",
        "{x} !",
    ),
    *("{x}.", "{x}!", "as a next step, {x}", "for the next step, {x}", "kindly {x}", "here we go: {x}", "cool, {x}", "fine, {x}"),
    *("{x} right away", "{x} this time", "thanks. {x}", "perfect, {x}", "what i want is this: {x}", "{x} for me"),
)
"""Politeness and filler words that fit around anything."""


def requested(deed: deeds.Rule) -> Rule:
    """The rule that asks for this deed in any way of asking."""

    def rule(context: Context, rng: Random) -> Turn | None:
        done = deed(context, rng)
        return None if done is None else Turn(affirm(context, rng, done.clause), done.state, done.event)

    return _named(rule, deed)


def within_reach(rule: Rule) -> Rule:
    """The rule where it takes no more edits than ``MOST_EDITS``."""

    def bounded(context: Context, rng: Random) -> Turn | None:
        turn = rule(context, rng)
        return turn if turn and sum(map(distance, context.state, turn.state)) <= MOST_EDITS else None

    return _named(bounded, rule)


def _named(rule: Rule, like: Callable[..., object]) -> Rule:
    rule.__name__, rule.__doc__ = like.__name__, like.__doc__
    return rule


def referring(context: Context, rng: Random) -> Deed | None:
    """Somebody is named by what he did: the newcomer, the one who moved, the former, the latter."""
    event, state = context.event, context.state
    names: list[tuple[int, tuple[str, ...]]] = []
    enters = [(index, turn.event.who) for index, turn in enumerate(context.turns) if turn.event.kind == "enter"]
    if len(enters) == 1 and repetition.untouched(context, enters[0][0], [enters[0][1]]):
        names += [(enters[0][1], NEWCOMER)]
    if event.kind == "move" and event.who is not None:
        names += [(event.who, MOVER)]
    if len(event.named) == 2:
        names += [(event.named[0], ("the former",)), (event.named[1], ("the latter",))]
        names += [(event.named[0], ("the first of them",)), (event.named[1], ("the second of them",))]
    if event.origin is not None and event.kind == "move" and event.who is not None:
        names += [(event.who, ("[that|the same|this] [{person}|person|one|guy]",))]
    names = [(who, templates) for who, templates in names if state[who] != EMPTY]
    if not names:
        return None
    who, templates = rng.choice(names)
    x = context.say(rng, templates, PRONOUN)
    return deeds.move_as(context, rng, who, x) if rng.random() < 0.6 else deeds.leave_as(context, rng, who, x)


JOINED = ("{a} and then {b}", "{a} , then {b}", "{a} and {b}", "{a} , and then {b}", "{a} . then {b}", "{a} , after that {b}")


def two_at_once(context: Context, rng: Random) -> Turn | None:
    """Two deeds in one sentence."""
    single = [requested(deed) for deed in deeds.DEEDS]
    first = rng.choice(single)(context, rng)
    if first is None or first.state == context.state or len(first.instruction.words.split()) > LONGEST_HALF:
        return None
    second = rng.choice(single)(context.then(first), rng)
    if second is None or second.state in (first.state, context.state) or len(second.instruction.words.split()) > LONGEST_HALF:
        return None
    if "?" in first.instruction.words or second.instruction.words.startswith(("can ", "could ", "would ", "will ", "how ", "what ")):
        return None
    event = Event("two at once", second.event.who, second.event.pair)  # nothing of it can be repeated or taken back by itself
    return Turn(context.say(rng, JOINED, a=first.instruction, b=second.instruction), second.state, event)


LONGEST_HALF = 14
"""The most words of one of two deeds in a sentence."""

_WEIGHTS: Mapping[Rule, float] = {
    **{requested(deed): 3 * weight for deed, weight in deeds.DEEDS.items()},
    **dict.fromkeys(map(requested, (groups.leave_together, groups.change_hats_together, groups.move_together)), 7.0),
    requested(groups.enter_together): 2.5,
    requested(referring): 13.0,
    two_at_once: 9.0,
    # What needs a history seldom applies, so it is tried often.
    repetition.once_more: 115.0,
    repetition.several_times: 2.5,
    repetition.same_with: 32.0,
    repetition.repeat_step: 45.0,
    repetition.another: 100.0,
    repetition.undo: 6.5,
    repetition.undo_step: 5.5,
    repetition.back: 6.0,
    repetition.bring_back: 55.0,
}
REQUESTS: Mapping[Rule, float] = {within_reach(rule): weight for rule, weight in _WEIGHTS.items()}
"""What people say that can be followed, each with its weight."""

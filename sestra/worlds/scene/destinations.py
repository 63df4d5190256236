"""Where people are to go or to appear, in more words than SCONE's: ends, numbered places, steps, beside somebody, where somebody was."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sestra.data.grammar import PRONOUN, Context, Phrase, Template
from sestra.worlds.scene.descriptions import EMPTY, focus, people_of
from sestra.worlds.scene.people import name
from sestra.worlds.scene.world import POSITIONS


@dataclass(frozen=True)
class Destination:
    """A free place, in words that fit after "go", and in words that fit after "stand"."""

    target: int
    to: Phrase
    at: Phrase | None
    """None for steps: one cannot stand three steps to the left."""
    steps: int = 0


def free_places(context: Context) -> list[int]:
    return [n for n, content in enumerate(context.state) if content == EMPTY]


def destination(context: Context, mover: int | None, rng: Random) -> Destination | None:
    """Somewhere to go for the mover, or to appear for somebody new (None)."""
    kinds = [end, end, numbered, beside, beside, between, vacated]
    if mover is not None:
        kinds += [steps, steps, steps]
    return rng.choice(kinds)(context, mover, rng)


def end(context: Context, _mover: int | None, rng: Random) -> Destination | None:
    """One of the two ends of the row."""
    target = rng.choice((0, POSITIONS - 1))
    if context.state[target] != EMPTY:
        return None
    side = "left" if target == 0 else "right"
    name = f"the [far {side}|{side} end|very {side}|{side} edge|{side}most [spot|position|place]|far {side} [side|end]|extreme {side}]"
    edge = "[beginning|start]" if target == 0 else "end"
    to: list[Template] = [*5 * [f"to {name}"], f"all the way [to the|] {side}", f"as far {side} as possible"]
    to += [f"{side} until the end", f"to the {edge} of the [row|line]", f"to the end on the {side}"]
    at: list[Template] = [*5 * [f"[at|on] {name}"], f"at the {edge} of the [row|line]"]
    return Destination(target, context.say(rng, to), context.say(rng, at))


def numbered(context: Context, _mover: int | None, rng: Random) -> Destination | None:
    """A place by its number, from either end."""
    free = free_places(context)
    if not free:
        return None
    target, speaker = rng.choice(free), context.speaker
    name = rng.choice(
        [
            *3 * [f"[position|place|spot] [number|||] {speaker.number(target + 1)}"],
            *2 * [f"the {speaker.ordinal(target + 1)} [position|place|spot|space] [from the left||]"],
            f"the {speaker.ordinal(POSITIONS - target)} [position|place|spot|space] from the right",
        ]
    )
    words = context.say(rng, name).words
    return Destination(target, context.say(rng, f"[to|to|into] {words}"), context.say(rng, f"[at|in|on] {words}"))


def steps(context: Context, mover: int | None, rng: Random) -> Destination | None:
    """A number of places to the left or right."""
    offsets = [n for n in range(-9, 10) for _ in range(max(1, 6 - abs(n))) if n and mover is not None and mover + n in free_places(context)]
    if mover is None or not offsets:
        return None
    offset = rng.choice(offsets)
    return Destination(mover + offset, step_words(context, offset, rng), None, offset)


def step_words(context: Context, offset: int, rng: Random) -> Phrase:
    """So many places to one side."""
    number, side = context.speaker.number(abs(offset)), "left" if offset < 0 else "right"
    if abs(offset) == 1:
        amount = f"[one|{number}|a] [{{step}}|{{step}}|position]"
        short = ["to the {side}", "[slightly|a bit|a little] [to the|] {side}", "one [over|] to the {side}", "{side}"]
    else:
        amount = f"[{number}|{number}|{abs(offset)}] [{{step}}s|{{step}}s|positions]"
        short = [f"{number} [to the|] {{side}}", f"[to the|] {{side}} by {number}", f"{{side}} {number}"]
    long = [f"{amount} [to the|to the|over to the|] {{side}}", f"{amount} [to the|] {{side}}", f"[to the|] {{side}} [by|] {amount}"]
    long += [f"by {amount} to the {{side}}", f"{amount} [towards|toward] the {{side}} [end|side|]"]
    return context.say(rng, rng.choice([long, long, short]), side=side)


def beside(context: Context, mover: int | None, rng: Random) -> Destination | None:
    """The place on one side of somebody; "next to" is the nearer side, or the only one that is free."""
    free, others = free_places(context), [n for n in people_of(context) if n != mover]
    pairs = [(other, target) for other in others for target in (other - 1, other + 1) if target in free]
    if not pairs:
        return None
    other, target = rng.choice(pairs)
    side, opposite = ("left" if target < other else "right"), 2 * other - target
    if other == focus(context) and other != mover and rng.random() < 0.6:
        y = context.say(rng, "{him}", PRONOUN)
    else:
        y = name(context, other, rng, mover if mover is not None else focus(context))
    of = f"{side} of {{y}}"
    ways: list[Template] = [*3 * [f"[to|to|on|directly to|immediately to|just to] the {of}"], f"[directly|just|immediately|] {of}"]
    ways += [f"[next to|beside] {{y}} on the {side} [side|]", f"on the {side} side of {{y}}"]
    near = opposite not in free or (mover is not None and (mover < other) == (target < other))
    if near and (mover is None or abs(mover - other) != 1):
        ways += 3 * ["[next to|beside|right next to|adjacent to|directly next to] {y}"]
    if mover == opposite:
        ways += ["to the other side of {y}"]
    words = context.say(rng, ways, y=y)
    return Destination(target, words, words)


def between(context: Context, mover: int | None, rng: Random) -> Destination | None:
    """The one place between two people."""
    others = [n for n in people_of(context) if n != mover]
    gaps = [n for n in free_places(context) if n - 1 in others and n + 1 in others]
    if not gaps:
        return None
    target = rng.choice(gaps)
    a, b = (name(context, n, rng) for n in rng.sample((target - 1, target + 1), 2))
    words = context.say(rng, "[in between|between|right between] {a} and {b}", a=a, b=b)
    return Destination(target, words, words)


def vacated(context: Context, mover: int | None, rng: Random) -> Destination | None:
    """Where somebody was who has just moved or left."""
    event = context.event
    if (
        event.kind not in ("leave", "move")
        or event.origin is None
        or context.state[event.origin] != EMPTY
        or event.who == mover is not None
    ):
        return None
    ways = ["where {he} [was|stood|used to be] [before|]", "to {his} [old|former|previous] [place|spot|position]"]
    ways += ["to the [spot|place|position] [that|] {he} [just|] left"]
    to = context.say(rng, ways, PRONOUN)
    at = context.say(rng, ["where {he} [was|stood|used to be] [before|]", "in {his} [old|former|] [place|spot|position]"], PRONOUN)
    return Destination(event.origin, to, at)

"""What the people of Scene and their places can be called: each phrase is true of one alone."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sestra.data.grammar import LAST_ONE, OTHER_ONE, PRONOUN, Context, Phrase, Template, marked
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS

EMPTY = NONE + NONE


@dataclass(frozen=True)
class Event:
    """What was done, as far as "he", "they", "again" and "back" need it."""

    kind: str
    who: int | None = None
    """Where the person is whom "he" means from now on."""
    pair: frozenset[int] = frozenset()
    """Where the two are whom "they" means from now on."""
    origin: int | None = None
    """Where the person was who moved or left."""
    steps: int = 0
    """How far to the right, if the speaker said it in steps."""
    got: bool = False
    """Whether "he" got the hat, rather than gave it."""
    named: tuple[int, ...] = ()
    """Where the people are who were named, in the order of their names: "the former" and "the latter"."""


def focus(context: Context) -> int | None:
    """Where the person is whom "he" means."""
    who: int | None = context.event.who
    return who


def refer(context: Context, position: int, rng: Random) -> Phrase:
    """The subject of an instruction: a pronoun where there is one, mostly; else a description."""
    he = focus(context)
    if position == he and rng.random() < 0.7:
        return context.say(rng, "{he}", PRONOUN)
    if he is not None and abs(position - he) == 1 and rng.random() < 0.1:
        return context.say(rng, f"the {{person}} [to|on] {{his}} {'left' if position < he else 'right'}", PRONOUN)
    return describe(context, position, rng, he)


def refer_object(context: Context, position: int, subject: int | None, rng: Random) -> Phrase:
    """Somebody else than the subject."""
    if position == focus(context) and rng.random() < 0.6:
        return context.say(rng, "{him}", PRONOUN)
    return describe(context, position, rng, subject if subject is not None else focus(context))


def describe(context: Context, position: int, rng: Random, other_than: int | None = None) -> Phrase:
    """A description that is true of this person alone; ``other_than`` is whom "the other" is told apart from."""
    state = context.state
    (shirt, hat), people = state[position], people_of(context)
    names: list[Template] = []
    colour = COLOURS[shirt]
    if sum(state[n][0] == shirt for n in people) == 1:
        names += 2 * [f"the {{person}} {{wearing}} the {colour} shirt"]
        if all(state[n][1] != shirt for n in people):
            names += [f"the {{person}} in {colour}", f"the {colour} {{person}}", f"the one in {colour}"]
    if hat != NONE and sum(state[n][1] == hat for n in people) == 1:
        names += 2 * [f"the {{person}} {{wearing}} the {COLOURS[hat]} hat"]
    if sum(state[n] == state[position] for n in people) == 1:
        headgear = "[and|with] no hat" if hat == NONE else f"and [the|] {COLOURS[hat]} hat"
        names += 2 * [f"the {{person}} {{wearing}} the {colour} shirt {headgear}"]
        names += [f"the {{person}} in all {colour}"] * (shirt == hat)
    if sum((state[n][1] == NONE) == (hat == NONE) for n in people) == 1 < len(people):
        names += ["the [hatless {person}|{person} without a hat]" if hat == NONE else "the {person} with the hat"]
    return context.say(rng, names + _by_place(context, position, people, other_than))


def _by_place(context: Context, position: int, people: list[int], other_than: int | None) -> list[Template]:
    rank = people.index(position)
    if len(people) == 1:
        return ["the [only {person}|{person}|{person} on the stage]"]
    names: list[Template] = []
    if len(people) == 2:
        names += [f"the {{person}} on the {'left' if rank == 0 else 'right'}"]
        if other_than in people and other_than != position:
            names += 3 * [marked("the other [{person}|one]", OTHER_ONE)]
    else:
        names += [f"the {context.speaker.ordinal(rank + 1)} {{person}} from the left"]
    if rank == 0:
        names += ["the leftmost {person}"]
    if rank == len(people) - 1:
        names += ["the rightmost {person}", marked("the last {person} [on the right|in the row]", LAST_ONE)]
    if len(people) == 3 and rank == 1:
        names += ["the {person} in the middle"]
    return names


def place(context: Context, target: int, mover: int | None, rng: Random) -> tuple[Phrase, int]:
    """Where the mover goes (or somebody new, if None), and the signed number of steps, if it is said in steps."""
    template, steps = rng.choice(_places(context, target, mover, rng))
    return context.say(rng, template), steps


def _places(context: Context, target: int, mover: int | None, rng: Random) -> list[tuple[Template, int]]:
    new = mover is None
    others = [n for n in people_of(context) if n != mover]
    ways: list[tuple[Template, int]] = []
    if target in (0, POSITIONS - 1):
        side = "left" if target == 0 else "right"
        end = (
            f"[on the far {side}|at the {side} end|on the {side} end|at the {side} edge]"
            if new
            else f"[to the far {side}|to the {side} end|to the {side} edge|all the way {side}]"
        )
        ways += 4 * [(end, 0)]
    else:
        ways += [(f"{'in' if new else 'to'} the {context.speaker.ordinal(target + 1)} [position|spot] [from the left|]", 0)]
    if mover is not None and abs(target - mover) <= 3:
        count, side = abs(target - mover), "left" if target < mover else "right"
        amount = f"{context.speaker.number(count)} {{step}}{'s' if count > 1 else ''}"
        amount = f"[{amount}|{amount}|a {{step}}]" if count == 1 else amount
        ways += 4 * [(f"{amount} [to the|to the|] {side}", target - mover)]
    for other in others:
        if abs(target - other) != 1:
            continue
        side = "left" if target < other else "right"
        x = refer_object(context, other, mover, rng)
        beside = [context.say(rng, f"[to the|to the direct|to the immediate|directly to the|just to the] {side} of {{x}}", x=x)] * 3
        if new and other == focus(context):
            beside += [context.say(rng, f"[to|on] {{his}} {side}", PRONOUN)] * 2
        opposite = 2 * other - target
        if mover == opposite:
            beside += [context.say(rng, "to the other side of {x}", x=x)] * 2
        elif opposite in others or not 0 <= opposite < POSITIONS:  # only one side is free
            beside += [context.say(rng, "next to {x}", x=x)]
        ways += [(phrase, 0) for phrase in beside]
    if target - 1 in others and target + 1 in others:
        x, y = (describe(context, other, rng) for other in (target - 1, target + 1))
        ways += 4 * [(context.say(rng, "[in |]between {x} and {y}", x=x, y=y), 0)]
    return ways


def people_of(context: Context) -> list[int]:
    return [n for n, content in enumerate(context.state) if content != EMPTY]


def article(colour: str) -> str:
    return f"{'an' if colour[0] == 'o' else 'a'} {colour}"

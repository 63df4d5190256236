"""Removing, swapping and moving figures, one or several at once, in more words than SCONE has."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from sestra.data.grammar import Context, Phrase, Turn
from sestra.worlds.tangrams import rearranging
from sestra.worlds.tangrams.descriptions import Deed, Event, Place
from sestra.worlds.tangrams.references import destination, group, name, noun, number, refer

# Removing.

TAKE = (
    "[{take}|{take}|{take}|remove|remove|remove|delete|delete|erase|take away|take out|get rid of|eliminate|discard|drop|"
    "throw away|throw out|toss|dump|pull out]"
)
REMOVE = (
    *4 * (f"{TAKE} {{x}}",),
    "[take|throw] {x} [away|out|out of the row]",
    "[remove|delete|take|pull] {x} from the [row|line]",
    "make {x} [disappear|vanish|go away]",
    "let {x} [disappear|vanish|go|leave]",
    "i want {x} [gone|removed|deleted|out|to disappear|to be removed]",
    "[have|get] {x} removed",
    "{x} [should|must|has to|can|needs to] [go|disappear|be removed|be deleted|leave]",
)
REMOVED = ("{x} [disappears|vanishes|leaves|goes away|is removed|is deleted|is taken away|gets removed|gets deleted|is eliminated]",)
REMOVED_SEVERAL = ("{x} [disappear|vanish|leave|go away|are removed|are deleted|are taken away|get removed|should go|must go|have to go]",)
REMOVE_SEVERAL = tuple(template for template in REMOVE if "has to" not in template)


def remove_one(context: Context, rng: Random) -> Turn | None:
    """A figure goes, even the last one."""
    (row,) = context.state
    if not row:
        return None
    index = rng.randrange(len(row))
    x, places = refer(context, index, rng)
    phrase = context.say(rng, (*REMOVE, *REMOVED), x=x)
    return Turn(phrase, (rearranging.without(row, {index}),), Event("remove", places, row[index]))


def remove_several(context: Context, rng: Random) -> Turn | None:
    """Two or more figures go, but not all."""
    named = group(context, rng)
    if named is None:
        return None
    x, indices = named
    phrase = context.say(rng, (*REMOVE_SEVERAL, *REMOVED_SEVERAL), x=x)
    return _removed_several(context, phrase, indices)


def _removed_several(context: Context, phrase: Phrase, indices: tuple[int, ...]) -> Turn:
    (row,) = context.state
    return Turn(phrase, (rearranging.without(row, indices),), Event("remove several", several=True))


def keep_only(context: Context, rng: Random) -> Turn | None:
    """All figures go but one or a few."""
    (row,), things = context.state, noun(context, rng) + "s"
    if len(row) < 2:
        return None
    named = group(context, rng) if rng.random() < 0.4 else None
    index = rng.randrange(len(row))
    x, kept = named or (refer(context, index, rng)[0], (index,))
    every = f"[everything|everything|all|all [the|] {things}|all of the {things}|every {things[:-1]}|each {things[:-1]}]"
    but = "[but|except|except for|apart from|other than|besides]"
    rest = f"[the rest|everything else|all the others|the others|all other {things}|the other {things}]"
    templates = (
        *4 * (f"{TAKE} {every} {but} {{x}}",),
        "[keep|leave|retain] only {x}",
        "only [keep|leave] {x}",
        "just [keep|leave] {x}",
        f"[keep|leave] {{x}} and {TAKE} {rest}",
        f"[keep|leave] {{x}}, {TAKE} {rest}",
        f"[everything|all [the|] {things}] {but} {{x}} [should|must|can] [go|be removed|disappear|be deleted]",
        f"{{x}} [should|must|can] stay, {TAKE} {rest}",
        "only {x} [should|must|may] [stay|remain|be left]",
    )
    gone = tuple(index for index in range(len(row)) if index not in kept)
    return _removed_several(context, context.say(rng, templates, x=x), gone)


def clear(context: Context, rng: Random) -> Turn | None:
    """All figures go."""
    (row,), things = context.state, noun(context, rng) + "s"
    if not row:
        return None
    templates = [
        "[clear|empty|wipe|clear out|empty out|clean out] the [row|row|whole row|entire row|line]",
        *3
        * [
            f"{TAKE} [everything|all [the|] {things}|all of the {things}|every {things[:-1]}|every single {things[:-1]}|each {things[:-1]}]"
        ],
        f"all [the|of the|] {things} [disappear|vanish|leave|go away|are removed|should go|have to go|must go]",
        f"every {things[:-1]} [disappears|leaves|goes away|is removed|should go]",
        "make the row empty",
        "[i want|give me] an empty row",
        f"make all [the|] {things} [disappear|vanish|go away]",
        f"no {things[:-1]} should [be left|remain|stay]",
    ]
    if len(row) == 2:
        templates += 6 * [f"{TAKE} both [{things}|of them|]", f"both {things} [leave|disappear|go away|should go|are removed]"]
    if len(row) > 2:
        templates += [f"{TAKE} [all {number(context, len(row), rng)} {things}|all of them|them all]"]
    return _removed_several(context, context.say(rng, templates), tuple(range(len(row))))


# Swapping.

SWAP = (
    *4 * ("[swap|switch|exchange|interchange|trade|{swap}|{swap}] {x} [and|with] {y}",),
    "[swap|switch|exchange|trade] [the {spot}s of|the places of|positions of] {x} and {y}",
    "[swap|switch|exchange|change|trade] {x} and {y} [around|round|over|]",
    "{x} and {y} [swap|switch|[swap|switch|trade|exchange|change] [places|positions]]",
    "{x} [swaps|switches|trades|exchanges|changes] places with {y}",
    "let {x} [and {y} [swap|trade|change|switch] places|[swap|trade|change|switch] places with {y}]",
    "[make|have] {x} and {y} [swap|trade|switch|change] places",
    "put {x} where {y} is and {y} where {x} is",
    "[i want|i would like] {x} and {y} to [swap|trade|change|switch] places",
    "{x} and {y} [are|should be|must be|get] [swapped|switched|exchanged|interchanged]",
    "{x} should [swap|trade|switch] places with {y}",
)
SWAP_GROUP = (
    *3 * ("[swap|switch|exchange|interchange|{swap}|flip] {x}",),
    "[swap|switch|exchange] the [positions|places] of {x}",
    "{x} [swap|trade|switch|exchange|change] [places|positions]",
    "let {x} [swap|trade|change] places",
    "[make|have] {x} [swap|switch|trade] places",
    "{x} [are|should be|get] [swapped|switched|exchanged]",
)


def swap_two(context: Context, rng: Random) -> Turn | None:
    """Two figures change places."""
    (row,) = context.state
    size, things = len(row), noun(context, rng) + "s"
    if size < 2:
        return None
    first, second = rng.sample(range(size), 2)
    way = rng.random()
    if way < 0.25:
        pairs = [
            ((0, size - 1), f"[the outer two {things}|the two outer {things}|the [two|] {things} [at|on] [both ends|the ends|either end]]")
        ]
        pairs += [
            ((0, 1), f"the [first two|two leftmost|leftmost two] [{things}|]"),
            ((size - 2, size - 1), f"the [last two|two rightmost] {things}"),
        ]
        pairs += [((0, size - 1), f"[the first and [the|] last {things}|the [two|] ends|both ends]")] if size > 2 else []
        if size == 4:
            pairs += 2 * [
                ((1, 2), f"the [two middle|middle two|inner two|two inner] [{things}|]"),
                ((1, 2), f"the two [{things}|] in the middle"),
            ]
        if size == 2:
            pairs = [((0, 1), f"[the two {things}|both {things}|the two of them|the two]")]
        (first, second), words = rng.choice(pairs)
        return _swapped(context, context.say(rng, SWAP_GROUP, x=context.say(rng, words)), first, second)
    x, at = refer(context, first, rng)
    beside = [(side, index) for side, index in (("left", first - 1), ("right", first + 1)) if 0 <= index < size]
    if way < 0.5 and (x.words == "it" or not {"it", "its"} & {*x.words.split()}):
        side, second = rng.choice(beside)
        ways = [
            f"its {side} [neighbor|neighbour]",
            f"the [one|{things[:-1]}] [to|on] its {side}",
            f"the [one|{things[:-1]}] to the {side} of it",
        ]
        ways += ["[its neighbor|its neighbour|the one next to it|the one beside it]"] if len(beside) == 1 else []
        return _swapped(context, context.say(rng, (*SWAP[:4], SWAP[7]), x=x, y=context.say(rng, ways)), first, second)
    y, other = refer(context, second, rng)
    if x.words == y.words or ("it" in y.words.split() and "it" not in x.words.split() and y.words != "it") or "its" in x.words.split():
        return None
    return _swapped(context, context.say(rng, SWAP, x=x, y=y), first, second, *((*at, *other) if at and other else ()))


def _swapped(context: Context, phrase: Phrase, first: int, second: int, *places: Place) -> Turn:
    (row,) = context.state
    return Turn(phrase, (rearranging.swapped(row, first, second),), Event("swap", places, figures=row[first] + row[second]))


def swap_pairs(context: Context, rng: Random) -> Turn | None:
    """Four figures change places, two and two."""
    (row,) = context.state
    size, things = len(row), noun(context, rng) + "s"
    if size < 4:
        return None
    ends = f"the first two [{things}|] and the last two [{things}|]|the last two [{things}|] and the first two [{things}|]"
    outer = f"the outer two and the inner two [{things}|]|the outer two [{things}|] and the middle two [{things}|]"
    swap = "[swap|switch|exchange|{swap}]"
    if rng.random() < 0.5:
        pairs = [(0, 1), (size - 2, size - 1)]
        joined = f"{swap} the first two [{things}|] [and|and then|, then] {swap} the last two [{things}|]"
        templates = [joined, f"{swap} [{ends}]", f"{swap} both the first two and the last two {things}"]
        if size == 4:
            pairs, templates = rng.choice(
                [(pairs, templates), ([(0, 3), (1, 2)], [f"{swap} [{outer}]", f"{swap} the outer two and {swap} the inner two"])]
            )
    else:
        a, b, c, d = rng.sample(range(size), 4)
        pairs = [(a, b), (c, d)]
        w, x, y, z = (name(context, index, rng) for index in (a, b, c, d))
        templates = [
            f"{swap} {w} with {x} and {y} with {z}",
            f"{swap} {w} and {x}, and {swap} {y} and {z}",
            f"{swap} {w} with {x}, {y} with {z}",
        ]
    for first, second in pairs:
        row = rearranging.swapped(row, first, second)
    return Turn(context.say(rng, templates), (row,), Event("swap pairs", several=True))


# Moving.

MOVE = (
    *5 * ("[move|move|move|put|place|bring|send|push|shift|slide|transfer] {x} {where}",),
    "let {x} [go|move|come] {where}",
    "i want {x} [to go|to be moved|to move] {where}",
    "{x} [goes|moves|is moved|should go|should move|should be moved|has to go|must go|is put|gets moved] {where}",
    "[take|pick|grab] {x} and [put|place|move] it {where}",
)


def move_to(context: Context, rng: Random) -> Turn | None:
    """A figure moves to another place of the row; the others close up."""
    (row,) = context.state
    if len(row) < 2:
        return None
    index = rng.randrange(len(row))
    to = rng.choice([n for n in (0, len(row) - 1, *range(len(row))) if n != index])
    x, places = refer(context, index, rng)
    thing = noun(context, rng)
    templates = list(MOVE)
    if to in (0, len(row) - 1):
        which = "first" if not to else "last"
        templates += [
            f"make {{x}} the [{which}|{which}|new {which}|{'leftmost' if not to else 'rightmost'}] [{thing}|one]",
            f"put {{x}} {which}",
        ]
        templates += [f"{{x}} [becomes|should become|should be|must be] the {which} [{thing}|one]"]
    rest = rearranging.without(row, {index})
    phrase = context.say(rng, templates, x=x, where=destination(context, rest, to, rng))
    deed: Deed | None = {0: rearranging.to_front_deed, len(row) - 1: rearranging.to_end_deed}.get(to)
    ends = [" front", " start", " beginning", " first", "far left", " end", " last", "far right"]
    repeatable = deed is not None and any(end in phrase.words.replace(x.words, "") for end in ends)
    return Turn(
        phrase,
        (rearranging.moved(row, index, to),),
        Event("move", places if repeatable else (), figures=row[index], deed=deed if repeatable else None),
    )


def move_by(context: Context, rng: Random) -> Turn | None:
    """A figure moves some places to the left or to the right."""
    (row,) = context.state
    if len(row) < 2:
        return None
    index = rng.randrange(len(row))
    to = rng.choice([n for n in range(len(row)) if n != index])
    count, side = abs(to - index), "left" if to < index else "right"
    x, _ = refer(context, index, rng)
    amount = number(context, count, rng)
    one = rng.choice(("place", "position", "spot", "step", "space", "slot"))
    far = f"[{amount} {one}s|{amount} {one}s|by {amount} {one}s|by {amount}]"
    if count == 1:
        far = f"[{amount} {one}|{amount} {one}|a {one}|a single {one}|by one|by one {one}|one {one} over]"
    where = f"{far} [to the {side}|to the {side}|to the {side}|to the {side}|{side}|{side}ward|towards the {side}|further {side}]"
    templates = (
        *4 * (f"[move|move|shift|push|slide|nudge|bring] {{x}} {where}",),
        f"{{x}} [moves|goes|shifts|is moved|should move|has to move|must go] {where}",
        f"let {{x}} [move|go] {where}",
        f"i want {{x}} to [move|go] {where}",
    )

    def deed(row: str, indices: Sequence[int]) -> str | None:
        at = indices[0] + to - index
        return rearranging.moved(row, indices[0], at) if len(indices) == 1 and 0 <= at < len(row) else None

    return Turn(context.say(rng, templates, x=x), (rearranging.moved(row, index, to),), Event("move", figures=row[index], deed=deed))

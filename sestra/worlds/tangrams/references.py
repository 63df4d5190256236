"""More of what people call a figure, several figures or a place in the row than SCONE does."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from sestra.data.grammar import LAST_ONE, OTHER_ONE, PRONOUN, STEP, Context, Phrase, Template, marked
from sestra.worlds.tangrams.descriptions import Place

Named = tuple[Template, tuple[Place, ...]]
"""A name, and the place that it says, if it says one that another row has as well."""
NOUNS = ("figure", "figure", "shape", "piece", "object", "item", "tangram", "picture", "image", "symbol", "thing", "block", "element")


def noun(context: Context, rng: Random) -> str:
    """What a figure is called, mostly as this speaker does."""
    word = context.speaker.words["figure"]
    return rng.choice(NOUNS) if word == "one" or rng.random() < 0.25 else word


def ordinal(context: Context, n: int, rng: Random) -> str:
    """ "third" or "3rd", mostly as this speaker writes."""
    return numerals(context, rng)[0][n - 1]


def number(context: Context, n: int, rng: Random) -> str:
    """ "three" or "3", mostly as this speaker writes."""
    return numerals(context, rng)[1][n - 1]


def an(thing: str) -> str:
    """The noun with its indefinite article."""
    return f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}"


def numerals(context: Context, rng: Random) -> tuple[Sequence[str], Sequence[str]]:
    """Ordinals and cardinals, either both in words or both in digits."""
    return _DIGITS if context.speaker.digits != (rng.random() < 0.2) else _WORDS


_WORDS = (
    ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
)
_DIGITS = (("1st", "2nd", "3rd", *(f"{n}th" for n in range(4, 11))), tuple(map(str, range(1, 11))))


def nth_step(context: Context, step: int, rng: Random) -> str:
    """ "step 2", "the second step"."""
    what = "step|step|step|instruction|action|command|move"
    names = [f"step {number(context, step, rng)}", f"the {ordinal(context, step, rng)} [{what}]"]
    return rng.choice((*names, names[0]))


# One figure.


def refer(context: Context, index: int, rng: Random) -> tuple[Phrase, tuple[Place, ...]]:
    """What the figure at that index is called, and the place that this says."""
    kind = rng.random()
    names = [(name, ()) for name in _by_history(context, index, rng)] if kind < 0.3 else []
    if not names and kind > 0.8:
        names = [(name, ()) for name in _byname(context, index, rng)]
    template, places = rng.choice(names or by_place(context, index, rng))
    return context.say(rng, template), places


def name(context: Context, index: int, rng: Random) -> str:
    """The figure at that index by its place in the row."""
    return context.say(rng, rng.choice(by_place(context, index, rng))[0]).words


def by_place(context: Context, index: int, rng: Random) -> list[Named]:
    """The names of the figure at that index by its place in the row."""
    (row,) = context.state
    size, thing = len(row), noun(context, rng)
    nth, digit = ordinal(context, index + 1, rng), number(context, index + 1, rng)
    left, right = (Place("left", index + 1),), (Place("right", size - index),)
    names: list[Named] = []
    names += 7 * [(f"the {nth} [{thing}|{thing}|one]", left)]
    names += [(f"[{thing}|{thing}|{thing} number|number|{thing} no.|{thing} #] {digit}", left)]
    names += [(f"the {thing} [in|at] [the {nth} {{spot}}|{{spot}} {digit}|{{spot}} number {digit}]", left)]
    names += [(f"the {nth} {thing} in the [row|line]", left), (f"the {nth}", left)]
    names += [(f"the [{nth} {thing}|{nth} one|{thing} {nth}|{nth}] [from|counting from] the left", left)]
    if size > 1:
        last = ordinal(context, size - index, rng)
        names += [(f"the [{last} {thing}|{last} one|{thing} {last}|{last}] [from|counting from] the right", right)]
        names += [(f"the {last} {thing} from the end", right)] if index < size - 1 else []
    if 0 < index == size - 2:
        counted = f"second to last|second-to-last|second last|2nd last|2nd to last|next to last|penultimate|{last} from last"
        names += 3 * [(marked(f"the [[{counted}] [{thing}|{thing}|one]|last {thing} but one]", LAST_ONE), right)]
    elif 0 < index < size - 2:
        names += 2 * [(marked(f"the [{last} to last|{last}-to-last|{last} last|{last} from last] [{thing}|one]", LAST_ONE), right)]
    if index == 0:
        names += 2 * [(f"the [leftmost|left-most|very first|far left|front] {thing}", left)]
        names += [(f"the [{thing}|one] [on the far left|at the [front|start|beginning|left end|head of the row]|on the left end]", left)]
    if index == size - 1 and size > 1:
        names += 4 * [(marked(f"the [last|[last|very last|final] [{thing}|{thing}|one]]", LAST_ONE), right)]
        names += [(f"the [rightmost|right-most|far right] {thing}", right)]
        names += [(f"the [{thing}|one] [on the far right|at the [end|very end|right end|end of the row]|on the right end]", right)]
    if Place("middle").index(row) == index:
        middle = (Place("middle"),)
        names += 4 * [(f"the [middle|center|centre|central|middle] [{thing}|{thing}|one]", middle)]
        names += [(f"the [{thing}|one] in the [middle|center|centre|very middle]", middle)]
    if size == 2:
        names += 3 * [(f"the [{side} [{thing}|one]|[{thing}|one] on the {side}]", ()) for side in (("left", "right")[index],)]
    if size == 1:
        names += 8 * [(f"the [only|remaining|last remaining|one remaining] {thing}", ()), (f"the only {thing} left", ())]
    return names


def _byname(context: Context, index: int, rng: Random) -> list[Template]:
    """The names of the figure at that index by what stands beside it."""
    size, thing = len(context.state[0]), noun(context, rng)
    names: list[Template] = []
    for beside, side, order in (
        (index + 1, "left", "[before|just before|right before|preceding]"),
        (index - 1, "right", "[after|following]"),
    ):
        if not 0 <= beside < size:
            continue
        other = name(context, beside, rng)
        names += 2 * [f"the [{thing}|one] [to the {side} of|{side} of|on the {side} of|just {side} of|directly to the {side} of] {other}"]
        names += [f"the [{thing}|one] {order} {other}", f"the {side} [neighbor|neighbour] of {other}"]
        if beside in (0, size - 1):
            names += [f"the [{thing}|one] [next to|beside|right next to|adjacent to] {other}"]
    if 0 < index < size - 1:
        a, b = (name(context, at, rng) for at in (index - 1, index + 1))
        names += [f"the [{thing}|one] [between|in between] {a} and {b}"]
    return names


def it(context: Context) -> str:
    """The figure in the row that the last turn was about, if it was about one."""
    event = context.event
    figure = event.shape or (event.figures if len(event.figures) == 1 else "")
    return figure if figure in context.state[0] else ""


def _by_history(context: Context, index: int, rng: Random) -> list[Template]:
    """The names of the figure at that index by what was done."""
    (row,), event, thing = context.state, context.event, noun(context, rng)
    names: list[Template] = []
    you = "[you|we|i]"
    verbs = {"put back": "[added|put back|brought back|inserted|returned|placed]", "move": "[moved|shifted]"}
    figure = it(context)
    if figure and row[index] == figure:
        names += 4 * [marked(f"[it|it|it|that {thing}|this {thing}|that one|the same {thing}]", PRONOUN)]
        if event.kind in verbs:
            done = verbs[event.kind]
            names += 2 * [f"the {thing} [{you} just {done}|that was just {done}|{you} {done} just now|{you} [have|] just {done}]"]
        if event.kind == "put back":
            names += [
                f"the [newly added|new|newest|just added] {thing}",
                f"the [newcomer|{thing} that [just came back|has just come back]]",
            ]
    if figure and len(row) == 2 and row[index] != figure:
        names += 3 * [marked(f"the other [{thing}|one]", OTHER_ONE)]
    if figure:
        beside = index - row.index(figure)
        if beside in (-1, 1):
            side, order = ("left", "before") if beside == -1 else ("right", "after")
            names += [marked(f"the [{thing}|one] [to the {side} of it|to its {side}|on its {side}|{order} it]", PRONOUN)]
            names += [marked(f"its {side} [neighbor|neighbour]", PRONOUN)]
    if event.kind == "swap" and len(event.figures) == 2 and row[index] in event.figures:
        names += [marked("the former" if row[index] == event.figures[0] else "the latter", PRONOUN)]
    if event.kind == "remove" and not event.several and context.states[-2][0].index(event.shape) == index:
        names += [f"the [{thing}|one] [that is|] now in its [place|old place|position]", f"the {thing} that [took|has taken] its place"]
    for kind, done in verbs.items():
        steps = [n for n, turn in enumerate(context.turns, start=1) if turn.event.kind == kind and not turn.event.several]
        for step in steps:
            turn = context.turns[step - 1]
            if (turn.event.shape or turn.event.figures) == row[index]:
                nth = f"[in|at] [step {number(context, step, rng)}|the {ordinal(context, step, rng)} step]"
                names += [marked(f"the {thing} [{you} {done}|{done}|that was {done}] {nth}", STEP)]
    return names


# Several figures.


def group(context: Context, rng: Random) -> tuple[Phrase, tuple[int, ...]] | None:
    """Two or more figures of the row but not all, by one plural name."""
    (row,) = context.state
    size, things = len(row), noun(context, rng) + "s"
    if size < 3:
        return None
    names: list[tuple[Template, Sequence[int]]] = []
    for count in range(2, size):
        amount = number(context, count, rng)
        first, last = range(count), range(size - count, size)
        names += 2 * [(f"the [first {amount}|{amount} leftmost|{amount} left-most] [{things}|{things}|]", first)]
        names += 2 * [(marked(f"the [last {amount} [{things}|{things}|]|{amount} rightmost {things}]", LAST_ONE), last)]
        names += [(f"the {amount} {things} [on the left|at the [front|start|beginning]]", first)]
        names += [(f"the {amount} {things} [on the right|at the end]", last)]
    ends = (0, size - 1)
    names += 2 * [(f"the [outer two|two outer|two outermost|outermost] {things}", ends)]
    names += [(f"the [two|] [{things}|ones] [at|on] [both ends|the ends|either end]", ends), (f"the first and [the|] last {things}", ends)]
    if size > 3:
        inner, amount = range(1, size - 1), number(context, size - 2, rng)
        names += 2 * [(f"the [{amount} inner|inner {amount}|middle {amount}|{amount} middle|inner] {things}", inner)]
        names += [(f"[everything|all [the|] {things}|the {things}] between the first and the last [one|]", inner)]
    for count in (2, 2, 2, 3) if size > 3 else (2, 2, 2):
        some = sorted(rng.sample(range(size), count))
        nths, digits = ([words[n] for n in some] for words in numerals(context, rng))
        names += 2 * [(f"the {enumeration(nths, 'and')} {things}", some), (f"the {enumeration(nths, 'and the')} {things}", some)]
        names += [(f"{things} {enumeration(digits, 'and')}", some), (f"the {things} [in|at] {{spot}}s {enumeration(digits, 'and')}", some)]
        called = [name(context, n, rng) for n in some]
        names += [(enumeration(called, "and"), some)] if len(set(called)) == count else []
    at = rng.randrange(size)
    other = name(context, at, rng)
    every = f"[everything|all [the|] {things}|the {things}|all of the {things}]"
    if at > 1:
        names += [(f"{every} [to the left of|left of|before] {other}", range(at))]
    if at < size - 2:
        names += [(f"{every} [to the right of|right of|after] {other}", range(at + 1, size))]
    template, indices = rng.choice(names)
    return context.say(rng, template), tuple(indices)


def enumeration(words: Sequence[str], conjunction: str) -> str:
    """ "the first, the second and the third"."""
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


# Places.


def destination(context: Context, rest: str, to: int, rng: Random) -> Phrase:
    """Where a figure goes that is to stand at index ``to`` when it has joined the others, ``rest``."""
    (row,) = context.state
    size, thing = len(rest), noun(context, rng)
    nth, digit = ordinal(context, to + 1, rng), number(context, to + 1, rng)
    names: list[Template] = [f"[to|into|in] [the {nth} {{spot}}|{{spot}} {digit}|{{spot}} number {digit}]"]
    if to == 0:
        names += 5 * ["[to|to|at] the [front|beginning|start]"]
        names += 2 * ["[to|at] the [very front|far left|left end|head of the row|front of the row]"]
        names += ["[in front|all the way to the left|[in front of|before] [all|] the others|in first [place|position]]"]
    if to == size:
        names += 5 * ["[to|to|at] the end"]
        names += 2 * ["[to|at] the [very end|far right|right end|end of the row|back]"]
        names += ["[all the way to the right|[behind|after] all the others|in last [place|position]|to the last {spot}]"]
    if 0 < to < size and size % 2 == 0 and to == size // 2:
        names += 3 * ["[to|in|into] the [middle|middle|center|centre|middle of the row]"]
    for beside, words in (
        (to, "[to the left of|left of|before|just before|right before]"),
        (to - 1, "[to the right of|right of|after|behind]"),
    ):
        if 0 <= beside < size:
            names += [f"{words} {name(context, row.index(rest[beside]), rng)}"]
    if 0 < to < size and abs(row.index(rest[to]) - row.index(rest[to - 1])) == 1:
        a, b = (name(context, row.index(rest[at]), rng) for at in (to - 1, to))
        names += 2 * [f"[between|in between] {a} and {b}"]
        if row.index(rest[to]) == 1 or row.index(rest[to]) == len(row) - 1 > 1:
            names += [f"between the {'first' if row.index(rest[to]) == 1 else 'last'} two {thing}s"]
    return context.say(rng, names)

"""Figures that were removed come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from sestra.data.grammar import LAST_ONE, PRONOUN, PUT_BACK, STEP, Context, Phrase, Rule, Template, Turn, marked
from sestra.worlds.tangrams import rearranging
from sestra.worlds.tangrams.descriptions import Event, absent
from sestra.worlds.tangrams.references import an, destination, noun, nth_step, number, ordinal, refer
from sestra.worlds.tangrams.world import SHAPES

YOU = "[you|you|we|i]"
TOOK = "[removed|deleted|took out|took away|got rid of|erased]"
TAKEN = "[removed|deleted|taken out|taken away|erased|thrown out]"


BACK = (
    *3 * ("[bring|put|add|get|take|move] {x} back [in|]",),
    "[bring|put|add] back {x}",
    "[restore|return|reinsert|re-insert|re-add|readd|reinstate|recover] {x}",
    "[add|insert] {x} again",
    "{x} [comes back|returns|reappears|is added back|is put back|should come back|should return|must come back]",
    "let {x} [come back|return|reappear]",
    "i want {x} [back|to come back|to return]",
    "make {x} [reappear|come back]",
)
BACK_TO = (
    *3 * ("[bring|put|add] {x} back {where}",),
    *2 * ("[put|insert|add|place|restore|return|reinsert|re-add] {x} {where}",),
    "{x} [comes back|returns|is added|is inserted|should come back|is put back] {where}",
    "let {x} [come back|return] {where}",
    "i want {x} back {where}",
    "[bring|put|add] back {x} {where}",
)


def names_of_absent(context: Context, figure: str, rng: Random) -> list[Template]:
    """What a figure is called that is out of the row."""
    gone, thing, last = absent(context), noun(context, rng), context.event
    step, _ = gone[figure]
    names: list[Template] = []
    together = [other for other, (taken, _) in gone.items() if taken == step]
    removals = [
        shape for before, after in zip(context.states, context.states[1:], strict=False) for shape in before[0] if shape not in after[0]
    ]
    if together == [figure] and context.turns[step - 1].event.kind != "undo":
        at = nth_step(context, step, rng)
        names += [marked(f"the {thing} [{TAKEN}|that was {TAKEN}|{YOU} {TOOK}|that {YOU} {TOOK}] [in|at|during] {at}", STEP)]
        names += [marked(f"the {thing} from {at}", STEP)]
        if removals[-1] == figure and len(gone) > 1:
            names += 2 * [marked(f"the {thing} [{YOU} {TOOK}|that was {TAKEN}|{TAKEN}] last", LAST_ONE)]
            names += [marked(f"the last {thing} [{YOU} {TOOK}|that was {TAKEN}]", LAST_ONE)]
        if removals[0] == figure and len(gone) > 1:
            names += 4 * [f"the [{thing}|one] [{YOU} {TOOK}|that was {TAKEN}|{TAKEN}] first"]
            names += [f"the first [{thing}|one] [{YOU} {TOOK}|that was {TAKEN}]"]
        if last.kind == "remove" and last.shape == figure:
            names += 6 * [marked(f"[it|it|it|that {thing}|that one|the same {thing}]", PRONOUN)]
            names += 3 * [
                f"the [{thing}|one] [{YOU} [have|] just {TOOK}|that was just {TAKEN}|{YOU} {TOOK} just now|that just [left|disappeared]]"
            ]
    if len(gone) == 1:
        names += 2 * [f"the [missing|removed|deleted|absent|lost|vanished] [{thing}|{thing}|one]"]
        names += [f"the {thing} [{YOU} {TOOK}|that was {TAKEN}|that is [missing|gone]|that [disappeared|left]]"]
    if figure in context.states[0][0]:
        at_first = context.states[0][0].index(figure)
        names += [
            f"the [{thing}|one] that was {ordinal(context, at_first + 1, rng)} [originally|at the start|at the beginning|in the beginning]"
        ]
    return names


def _fitting(templates: Sequence[str], x: Phrase) -> list[str]:
    """The templates that go with a name: nobody says "bring back it"."""
    return [template for template in templates if x.words not in ("it", "them") or "back {x}" not in template]


def bring_back(context: Context, rng: Random) -> Turn | None:
    """A figure that was removed comes back: to its old place, or to where the words say."""
    (row,), gone = context.state, absent(context)
    if not gone:
        return None
    figure = rng.choice([*gone, list(gone)[-1]])
    names = names_of_absent(context, figure, rng)
    if not names:
        return None
    x = context.say(rng, names)
    step, old = gone[figure]
    before = context.states[step - 1][0]
    same = len(row) == len(before) - 1 and rearranging.is_part(row, before)  # nothing else has changed: its old place is clear
    if same and rng.random() < 0.5:
        old_place = (
            "[|||where it was|to where it was|to its old {spot}|in its original {spot}|to the same {spot}|where it [came from|used to be]]"
        )
        return _inserted(
            context, context.say(rng, [f"{template} {old_place}" for template in _fitting(BACK, x)], PUT_BACK, x=x), figure, old
        )
    index = rng.choice((0, len(row), rng.randint(0, len(row))))
    where = destination(context, row, index, rng)
    return _inserted(context, context.say(rng, _fitting(BACK_TO, x), PUT_BACK, x=x, where=where), figure, index)


def _inserted(context: Context, phrase: Phrase, figure: str, index: int) -> Turn:
    (row,) = context.state
    return Turn(phrase, (rearranging.inserted(row, figure, index),), Event("put back", (), figure))


def bring_all_back(context: Context, rng: Random) -> Turn | None:
    """All that was removed comes back, where the others still stand as they did."""
    (row,), gone, things = context.state, absent(context), noun(context, rng) + "s"
    if len(gone) < 2:
        return None
    before = context.states[min(step for step, _ in gone.values()) - 1][0]
    if {*before} - {*row} != {*gone} or not rearranging.is_part(row, before):
        return None
    latest = {step for step, _ in gone.values()} == {len(context.turns)}
    amount = "both" if len(gone) == 2 else f"all {number(context, len(gone), rng)}"
    x: list[Template] = [
        f"[everything|everything|all [the|] {things}|every {things[:-1]}] [that was {TAKEN}|{YOU} {TOOK}|that is missing]",
        f"all [the|] [missing|removed|deleted] {things}",
        f"the [missing|removed|deleted] {things}",
        f"{amount} [missing|removed|deleted] {things}",
        f"{amount} [of the|of the|] {things} [that were {TAKEN}|{YOU} {TOOK}]",
        f"the {things} [that were {TAKEN}|{YOU} {TOOK}]",
    ]
    if latest:
        x += 5 * [marked(f"[them|them|all of them|{amount} of them|those {things}|them all]", PRONOUN)]
    where = "[||||where [they were|they came from]|to their [old|original] {spot}s|in [their old|the same] {spot}s]"
    templates = [
        f"[bring|put|add] {{x}} back [in|] {where}",
        f"[restore|return|reinsert|re-add] {{x}} {where}",
        "[bring|put|add] back {x}",
        "i want {x} back",
        f"let {{x}} come back {where}",
    ]
    called = context.say(rng, x)
    return Turn(context.say(rng, _fitting(templates, called), PUT_BACK, x=called), (before,), Event("put several back", several=True))


def replace_one(context: Context, rng: Random) -> Turn | None:
    """A figure of the row is replaced by one that was removed."""
    (row,), gone = context.state, absent(context)
    if not gone or not row:
        return None
    figure, index = rng.choice(list(gone)), rng.randrange(len(row))
    names, x = names_of_absent(context, figure, rng), refer(context, index, rng)[0]
    y = context.say(rng, names) if names else x
    if not names or {"it", "its"} & {*x.words.split()}:
        return None
    templates = (
        *3 * ("[replace|substitute] {x} [with|by] {y}",),
        "[swap|exchange] {x} for {y}",
        "[put|insert|add] {y} in place of {x}",
        "{x} is replaced [by|with] {y}",
        "{y} replaces {x}",
        "{y} takes the place of {x}",
        "use {y} instead of {x}",
    )
    goal = rearranging.inserted(rearranging.without(row, {index}), figure, index)
    return Turn(context.say(rng, templates, PUT_BACK, x=x, y=y), (goal,), Event("replace", several=True))


def add_missing(context: Context, rng: Random) -> Turn | None:
    """The one figure that is not in the row comes in, whether or not it was ever seen there."""
    (row,), thing = context.state, noun(context, rng)
    if len(row) != len(SHAPES) - 1:
        return None
    (figure,) = {*SHAPES} - {*row}
    index = rng.choice((0, len(row), rng.randint(0, len(row))))
    x = f"[{an(thing)}|[another|a new|one more|the missing|the missing|the fifth|a fifth|the absent] {thing}]"
    templates = ["[add|insert|put|place] {x} {where}", "i want {x} {where}", "{x} [appears|comes in|is added|is inserted] {where}"]
    x_words, where = context.say(rng, x), destination(context, row, index, rng)
    return _inserted(context, context.say(rng, templates, x=x_words, where=where), figure, index)


RESTORING: Mapping[Rule, float] = {bring_back: 4, bring_all_back: 5, replace_one: 2.8, add_missing: 3.2}

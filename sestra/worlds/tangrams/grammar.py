"""Instructions in Tangrams: figures have no names, so they are named by place, by step, or by what was just done."""

from __future__ import annotations

from random import Random

from sestra.data.grammar import (
    ELLIPSIS,
    LAST_ONE,
    PRONOUN,
    PUT_BACK,
    SAME_AGAIN,
    STEP,
    Context,
    Phrase,
    Template,
    Turn,
    draw_speaker,
    marked,
)
from sestra.worlds.tangrams.descriptions import Event, Place, absent, describe
from sestra.worlds.tangrams.world import SHAPES


def start(rng: Random) -> Context:
    figure = ("figure", "figure", "figure", "object", "object", "item", "image", "shape", "picture", "piece", "symbol", "thing", "one")
    take = ("remove", "remove", "delete", "delete", "take away", "get rid of", "take out", "erase")
    swap = ("swap", "swap", "swap", "switch", "switch", "exchange", "flip")
    back = ("add {x} back", "add {x} back", "put {x} back", "bring {x} back", "bring back {x}", "add back {x}", "replace {x}", "return {x}")
    speaker = draw_speaker(
        rng, chatty=0.05, figure=figure, take=take, swap=swap, back=back, spot=("position", "place", "spot", "slot", "space")
    )
    return Context((("".join(rng.sample(SHAPES, len(SHAPES))),),), speaker, nothing=Event("nothing"))


# The rules.


def remove(context: Context, rng: Random) -> Turn | None:
    """A figure goes; one always stays."""
    (row,) = context.state
    if len(row) < 2:
        return None
    it = context.event.shape
    if it in row and it and rng.random() < 0.25:
        index = row.index(it)
        ways = [(marked("{take} it again", PRONOUN, SAME_AGAIN), index)]
        if index > 0:
            ways += [(marked("{take} the one [to the left of it|to its left]", PRONOUN), index - 1)]
        if index < len(row) - 1:
            ways += [(marked("{take} the one [to the right of it|to its right]", PRONOUN), index + 1)]
        template, index = rng.choice(ways)
        return _removed(context, context.say(rng, template), index)
    index = rng.randrange(len(row))
    x, place = describe(context, index, rng)
    return _removed(context, context.say(rng, "{take} {x}", x=x), index, place)


def _removed(context: Context, phrase: Phrase, index: int, *places: Place) -> Turn:
    (row,) = context.state
    return Turn(phrase, (row[:index] + row[index + 1 :],), Event("remove", places, row[index]))


def swap(context: Context, rng: Random) -> Turn | None:
    """Two figures change places."""
    (row,) = context.state
    if len(row) < 2:
        return None
    first, second = rng.sample(range(len(row)), 2)
    it = context.event.shape
    if it and it in row and rng.random() < 0.3:
        second = rng.choice([index for index in range(len(row)) if row[index] != it])
        x, _place = describe(context, second, rng)
        return _swapped(context, context.say(rng, "{swap} it with {x}", PRONOUN, x=x), row.index(it), second)
    phrase, places = _pair(context, first, second, rng)
    return _swapped(context, context.say(rng, "{swap} {pair}", pair=phrase), first, second, *places)


def _pair(context: Context, first: int, second: int, rng: Random) -> tuple[Phrase, tuple[Place, Place]]:
    """Two figures in one breath."""
    row, speaker = context.state[0], context.speaker
    (x, place), (y, other) = describe(context, first, rng), describe(context, second, rng)
    left = Place("left", first + 1), Place("left", second + 1)
    nouns = "[figures|ones|]" if speaker.words["figure"] == "one" else "{figure}s"
    ways: list[tuple[Template, tuple[Place, Place]]] = [("{x} [and|with|and|with] {y}", (place, other))]
    ways += 2 * [(f"the {speaker.ordinal(first + 1)} and {speaker.ordinal(second + 1)} {nouns}", left)]
    if {first, second} == {0, len(row) - 1}:
        ways += [(marked(f"the first and last {nouns}", LAST_ONE), (Place("left", 1), Place("right", 1)))]
    if {first, second} == {0, 1}:
        ways += [(f"the first two {nouns}", left)]
    if {first, second} == {len(row) - 2, len(row) - 1} and len(row) > 2:
        ways += [(marked(f"the last two {nouns}", LAST_ONE), (Place("right", 2), Place("right", 1)))]
    template, places = rng.choice(ways)
    return context.say(rng, template, x=x, y=y), places


def _swapped(context: Context, phrase: Phrase, first: int, second: int, *places: Place) -> Turn:
    figures = list(context.state[0])
    figures[first], figures[second] = figures[second], figures[first]
    return Turn(phrase, ("".join(figures),), Event("swap", places))


def put_back(context: Context, rng: Random) -> Turn | None:
    """A figure that was removed comes back, to its old place or to another."""
    (row,) = context.state
    missing = absent(context)
    gone = {shape: taken for shape, taken in missing.items() if not context.turns[taken[0] - 1].event.several}
    if not gone:
        return None
    last = context.event
    shape = last.shape if last.kind == "remove" and rng.random() < 0.7 else rng.choice(list(gone))
    step, old = gone[shape]
    done = f"[removed|deleted|taken out] [in|in|at] step {context.speaker.number(step) if step <= 10 else step}"
    names: list[Template] = [marked(f"the {{figure}} {done}", STEP)]
    if last.kind == "remove" and last.shape == shape:
        names += 8 * [marked("[it|it|it|it|that {figure}]", PRONOUN)]
    if len(missing) == 1:
        names += ["the [missing|removed|deleted] {figure}", "the {figure} [we|you] [removed|deleted|took out]"]
    elif shape == list(missing)[-1]:
        names += [marked("the [last {figure} removed|{figure} removed last|last removed {figure}]", LAST_ONE)]
    index = old if old <= len(row) and rng.random() < 0.5 else rng.randint(0, len(row))
    where: list[str] = [f"[in|into|to] the {context.speaker.ordinal(index + 1)} {{spot}}"]
    if index == old:
        where += 4 * [""] + ["[in|to] its [old|original] {spot}", "where it was"]
    elif index == 0:
        where += ["[at|to] the [front|beginning]"]
    elif index == len(row):
        where += ["[at|to] the end"]
    x = context.say(rng, names)
    phrase = context.say(rng, f"{context.speaker.words['back']} {rng.choice(where)}", PUT_BACK, x=x)
    if index == old and rng.random() < 0.15:
        phrase = context.say(rng, f"undo step {step}", PUT_BACK, STEP)
    return Turn(phrase, (row[:index] + shape + row[index:],), Event("put back", (), shape))


def undo(context: Context, rng: Random) -> Turn | None:
    """The last step is taken back."""
    last, step = context.event, len(context.turns)
    templates: list[Template] = ["[undo|undo|reverse] [the last step|the previous step|that|it]", "undo", marked(f"undo step {step}", STEP)]
    if last.kind == "swap":
        templates += 3 * [marked("{swap} them back", PRONOUN), marked("{swap} them again", PRONOUN, SAME_AGAIN)]
    elif last.kind not in ("remove", "put back"):
        return None
    return Turn(context.say(rng, templates, PUT_BACK), context.states[-2], Event("undo"))


def again(context: Context, rng: Random) -> Turn | None:
    """An earlier step once more, at the same places, or with other figures."""
    (row,) = context.state
    repeatable = [step for step, turn in enumerate(context.turns, start=1) if turn.event.places and not turn.event.deed]
    if not repeatable or len(row) < 2:
        return None
    latest = len(context.turns)
    step = latest if latest in repeatable and rng.random() < 0.5 else rng.choice(repeatable)
    event: Event = context.turns[step - 1].event
    named: list[Template] = [marked(f"repeat step {step}", STEP), marked(f"do step {step} again", STEP)]
    if rng.random() < 0.5:  # at the same places
        if step == latest:
            named += 2 * ["[do it again|repeat|repeat [that|the last step|the previous step]|again|do that again]"]
        indices = [place.index(row) for place in event.places]
        return _repeated(context, context.say(rng, named, SAME_AGAIN), indices, event.places)
    named = [marked(f"repeat step {step} [with|for] {{x}}", STEP)]
    if step == latest:
        named = [
            "do the same [with|to|for] {x}",
            "repeat [that|] with {x}",
            "same [with|for] {x}",
            *2 * [marked("[now|then] {x}", ELLIPSIS)],
        ]
    if event.kind == "remove":
        index = rng.randrange(len(row))
        x, place = describe(context, index, rng)
        return _repeated(context, context.say(rng, named, SAME_AGAIN, x=x), [index], (place,))
    first, second = rng.sample(range(len(row)), 2)
    x, places = _pair(context, first, second, rng)
    return _repeated(context, context.say(rng, named, SAME_AGAIN, x=x), [first, second], places)


def _repeated(context: Context, phrase: Phrase, indices: list[int | None], places: tuple[Place, ...]) -> Turn | None:
    found = [index for index in indices if index is not None]
    if len(set(found)) < len(places):  # a place that this row does not have, or two that have become one
        return None
    if len(places) == 1:
        return _removed(context, phrase, found[0], *places)
    return _swapped(context, phrase, found[0], found[1], *places)


RULES = {remove: 0.32, swap: 0.34, put_back: 0.28, undo: 0.04, again: 0.16}

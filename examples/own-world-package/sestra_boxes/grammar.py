"""Instructions about the boxes: put, take, move, swap, repaint, "do the same", "put it back"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from sestra.data.grammar import LAST_ONE, PRONOUN, PUT_BACK, SAME_AGAIN, Context, Phrase, Rule, Template, Turn, draw_speaker, expand, marked
from sestra_boxes import COLOURS, EMPTY, PLACES


@dataclass(frozen=True)
class Event:
    """What a turn did, and the place of the box that "it" means afterwards."""

    kind: str
    place: int | None = None


def start(rng: Random) -> Context:
    state = tuple(rng.choice((EMPTY, *COLOURS)) for _ in range(PLACES))
    return Context((state,), draw_speaker(rng, chatty=0.1, box=("box", "box", "crate"), place=("place", "spot", "position")))


def describe(context: Context, place: int, rng: Random) -> Phrase:
    """A phrase that is true of the box on this place alone."""
    state, ordinal = context.state, context.speaker.ordinal
    if context.event and context.event.place == place and rng.random() < 0.6:
        return expand(rng, context.speaker, "it", PRONOUN)
    names: list[Template] = [f"the {{box}} on the {ordinal(place + 1)} {{place}}"]
    if state.count(state[place]) == 1:
        names += 3 * [f"the {COLOURS[state[place]]} [{{box}}|one]"]
    if not any(state[n] != EMPTY for n in range(place + 1, PLACES)):
        names += [marked("the last {box}", LAST_ONE), "the rightmost {box}"]
    return expand(rng, context.speaker, names)


def where(context: Context, place: int, rng: Random) -> Phrase:
    ends = {0: ["the [far left|left end]"], PLACES - 1: ["the [far right|right end]"]}
    return expand(rng, context.speaker, [f"the {context.speaker.ordinal(place + 1)} {{place}}", *ends.get(place, [])])


def put(context: Context, rng: Random) -> Turn | None:
    free = [n for n in range(PLACES) if context.state[n] == EMPTY]
    if not free:
        return None
    place, colour = rng.choice(free), rng.choice(list(COLOURS))
    phrase = expand(rng, context.speaker, f"[put|place|set] a {COLOURS[colour]} {{box}} on {{where}}", where=where(context, place, rng))
    return Turn(phrase, _with(context, {place: colour}), Event("put", place))


def take(context: Context, rng: Random) -> Turn | None:
    place = _any_box(context, rng)
    if place is None:
        return None
    phrase = expand(rng, context.speaker, ["[remove|take away] {x}", "take {x} [off the shelf|down]"], x=describe(context, place, rng))
    return Turn(phrase, _with(context, {place: EMPTY}), Event("take"))


def move(context: Context, rng: Random) -> Turn | None:
    place, free = _any_box(context, rng), [n for n in range(PLACES) if context.state[n] == EMPTY]
    if place is None or not free:
        return None
    target = rng.choice(free)
    x, y = describe(context, place, rng), where(context, target, rng)
    phrase = expand(rng, context.speaker, ["move {x} to {where}", "put {x} on {where}"], x=x, where=y)
    return Turn(phrase, _with(context, {place: EMPTY, target: context.state[place]}), Event("move", target))


def swap(context: Context, rng: Random) -> Turn | None:
    boxes = [n for n in range(PLACES) if context.state[n] != EMPTY]
    if len(boxes) < 2:
        return None
    a, b = rng.sample(boxes, 2)
    phrase = expand(rng, context.speaker, "[swap|switch] {x} [and|with] {y}", x=describe(context, a, rng), y=describe(context, b, rng))
    return Turn(phrase, _with(context, {a: context.state[b], b: context.state[a]}), Event("swap"))


def repaint(context: Context, rng: Random) -> Turn | None:
    place = _any_box(context, rng)
    if place is None:
        return None
    colour = rng.choice(list(COLOURS))
    phrase = expand(
        rng, context.speaker, [f"paint {{x}} {COLOURS[colour]}", f"{{x}} turns {COLOURS[colour]}"], x=describe(context, place, rng)
    )
    return Turn(phrase, _with(context, {place: colour}), Event("paint", place))


def take_too(context: Context, rng: Random) -> Turn | None:
    place = _any_box(context, rng)
    if place is None or context.event != Event("take"):
        return None
    phrase = expand(rng, context.speaker, ["do the same with {x}", "[then|now] {x} too"], SAME_AGAIN, x=describe(context, place, rng))
    return Turn(phrase, _with(context, {place: EMPTY}), Event("take"))


def put_back(context: Context, rng: Random) -> Turn | None:
    if context.event != Event("take"):
        return None
    return Turn(expand(rng, context.speaker, ["put it back", "undo that"], PUT_BACK, PRONOUN), context.states[-2], Event("back"))


def _any_box(context: Context, rng: Random) -> int | None:
    boxes = [n for n in range(PLACES) if context.state[n] != EMPTY]
    return rng.choice(boxes) if boxes else None


def _with(context: Context, changes: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(changes.get(place, content) for place, content in enumerate(context.state))


RULES: Mapping[Rule, float] = {put: 0.25, take: 0.2, move: 0.2, swap: 0.1, repaint: 0.1, take_too: 0.1, put_back: 0.05}

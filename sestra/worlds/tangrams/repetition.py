"""Undoing and repeating what was done before."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from sestra.data.grammar import ELLIPSIS, PRONOUN, PUT_BACK, SAME_AGAIN, STEP, Context, Phrase, Rule, Template, Turn, marked
from sestra.worlds.tangrams import rearranging
from sestra.worlds.tangrams.descriptions import Event, Place
from sestra.worlds.tangrams.references import noun, nth_step, number, refer

# Undoing.

LAST = "the [last|previous|latest|most recent] [step|step|action|instruction|move|change|command|thing you did]"


def undo_last(context: Context, rng: Random) -> Turn | None:
    """The last step is taken back."""
    if not context.turns or context.event.kind == "undo":
        return None
    templates: list[Template] = [
        *3 * [f"[undo|undo|revert|reverse|cancel|take back|roll back|reset] [that|that|{LAST}|{LAST}]"],
        "[undo|undo this|undo it|revert|revert it|take it back|take that back|step back]",
        "go back [one step|a step|by one step|to the previous [state|row]|to how it was [before|before that]]",
        "[put|set|change] [everything|it all|things] back [to how it was before|the way it was before]",
        "[make it|i want it|everything] [like|as|the way] it was before",
        "[oops|no|wait|sorry|on second thought|that was wrong], [undo|undo that|undo it|take that back|go back]",
        "restore the previous [row|state]",
        "[reverse|undo] what you [just did|did last|have just done]",
        "as it was before",
    ]
    if len(context.turns) > 1:
        templates += [marked(f"undo {nth_step(context, len(context.turns), rng)}", STEP)]
    if context.event.kind in ("move", "swap"):
        them, was = ("it", "it was") if context.event.kind == "move" else ("them", "they were")
        templates += 5 * [marked(f"[move|put|bring] {them} back [|to where {was}|where {was}]", PRONOUN)]
    if context.event.kind == "move":
        templates += 2 * [marked("it [moves|goes|comes] back [|to its [old|original] {spot}]", PRONOUN)]
    if context.event.kind == "swap":
        templates += 2 * [
            marked("they [swap|switch|trade|change] [places again|back]", PRONOUN),
            marked("swap those two [back|again]", PRONOUN),
        ]
    return Turn(context.say(rng, templates, PUT_BACK), context.states[-2], Event("undo"))


def undo_more(context: Context, rng: Random) -> Turn | None:
    """Two or more steps are taken back, or all of them."""
    done = len(context.turns)
    if not done:
        return None
    count = rng.randint(1, done)
    changes = "[steps|steps|actions|changes|moves|instructions|commands]"
    templates: list[Template] = []
    if count > 1 and all(turn.event.kind != "undo" for turn in context.turns[-count:]):
        amount = number(context, count, rng)
        templates += 4 * [f"[undo|undo|revert|reverse|take back|cancel|roll back] the [last|last|previous] {amount} {changes}"]
        templates += [f"go back {amount} steps", f"[undo|revert] the {amount} {changes} before this"]
        if count == 2:
            templates += [f"undo both {changes}"] if done == 2 else ["undo the last step and the one before [it|that]"]
    if count == done:
        templates += 2 * ["undo [everything|all steps|all [the|my|] changes|all of it|it all]", "[reset|reset everything|reset the row]"]
        templates += ["[go|get|take me] back to the [start|beginning|original row|starting row|first row|initial state|start state]"]
        templates += ["[restore|bring back] the [original|initial|first|starting] [row|state|arrangement]"]
        templates += [
            "[make|i want] everything as it was [at the start|at the beginning|originally]",
            "start [over|from the beginning|from scratch]",
        ]
        templates += ["[return|revert] to the [original|initial] [row|state]"]
    elif count:
        step = done - count
        templates += [
            marked(f"[undo everything after|go back to [the state|the row|how it was] after] {nth_step(context, step, rng)}", STEP)
        ]
        templates += [marked(f"go back to [the state|the row|how it was] before {nth_step(context, step + 1, rng)}", STEP)]
    if not templates:
        return None
    return Turn(context.say(rng, templates, PUT_BACK), context.states[-1 - count], Event("undo", several=True))


def undo_step(context: Context, rng: Random) -> Turn | None:
    """An earlier swap or move is taken back, where what came after has not touched its figures or their places."""
    (row,) = context.state
    clear = []
    for step, turn in enumerate(context.turns[:-1], start=1):
        (before,), (after,) = context.states[step - 1], context.states[step]
        touched = [index for index, figure in enumerate(after) if before[index : index + 1] != figure]
        if turn.event.kind == "swap" and len(row) >= max(touched, default=9) + 1 and all(row[at] == after[at] for at in touched):
            clear.append((step, rearranging.swapped(row, *touched)))
    if not clear:
        return None
    step, goal = rng.choice(clear)
    at = nth_step(context, step, rng)
    templates = [
        f"[undo|undo|undo|revert|reverse|cancel|take back] {at}",
        f"[undo|reverse] what you did in {at}",
        f"undo the [swap|switch] [from|in|of] {at}",
    ]
    return Turn(context.say(rng, templates, PUT_BACK, STEP), (goal,), Event("undo", several=True))


def redo(context: Context, rng: Random) -> Turn | None:
    """What was just undone is done after all."""
    if context.event.kind != "undo":
        return None
    templates = (
        "redo [it|that|this|]",
        "[undo the undo|undo your undo]",
        "[no|actually|wait|sorry], [redo it|do it after all|do it anyway|redo that]",
        "redo [what you [just undid|undid]|the [step|steps|change] you [just undid|undid]]",
    )
    return Turn(context.say(rng, templates, SAME_AGAIN), context.states[-2], Event("redo", several=True))


# Repeating.

DEEDS = {"remove": rearranging.remove_deed, "swap": rearranging.swap_deed}


def repeat_same(context: Context, rng: Random) -> Turn | None:
    """An earlier step once more at the same places."""
    (row,), latest = context.state, len(context.turns)
    steps = [step for step, turn in enumerate(context.turns, start=1) if turn.event.places]
    if not steps:
        return None
    step = rng.choice([*steps, steps[-1]])
    event: Event = context.turns[step - 1].event
    at = nth_step(context, step, rng)
    times = rng.choice((1, 1, 1, 2)) if event.kind == "remove" and event.places[0].count else 1
    templates: list[Template] = [
        marked(f"[repeat|redo|do|execute] {at} again", STEP),
        marked(f"repeat {at}", STEP),
        marked(f"[do|repeat] what you did in {at} [again|]", STEP),
        marked(f"[do the same|same] as in {at}", STEP),
        marked(f"{at} [again|once more|one more time]", STEP),
    ]
    if step == latest:
        templates = [
            *3 * ["[do|repeat] [that|it|the same|the same thing|this] [again|once more|one more time|once again]"],
            "[again|once more|one more time|once again|same again|and again|repeat|another time]",
            "repeat [that|it|this|the last step|the last instruction|the previous action|what you just did]",
            "do [exactly|] the same [thing|] [again|once more]",
        ]
    if times == 2:
        more = "[twice|two times|2 times]"
        templates = [marked(f"repeat {at} {more}", STEP)]
        if step == latest:
            templates = [
                f"[repeat|do] [that|it|this] {more} [more|again]",
                f"repeat [that|it|the last step] {more}",
                "[two more times|twice more]",
            ]
    goal: str | None = row
    for _ in range(times):
        goal = _done(event, goal or "", [place.index(goal or "") for place in event.places])
    if goal is None:
        return None
    figures = [place.index(row) for place in event.places]
    shape = row[figures[0]] if event.kind == "remove" and times == 1 and figures[0] is not None else ""
    return Turn(context.say(rng, templates, SAME_AGAIN), (goal,), _repeated(event, event.places, shape, times > 1))


def _done(event: Event, row: str, indices: list[int | None]) -> str | None:
    """The deed of an event, done at other places of another row."""
    deed, found = event.deed or DEEDS.get(event.kind), [index for index in indices if index is not None]
    if deed is None or len(found) < len(indices) or len({*found}) < len(found):
        return None
    return deed(row, found)


def _repeated(event: Event, places: tuple[Place, ...], shape: str, several: bool = False) -> Event:
    kind = "remove several" if several else event.kind
    return Event(kind, () if several else places, shape, deed=event.deed, several=several)


def repeat_with(context: Context, rng: Random) -> Turn | None:
    """An earlier step with another figure, or with two others."""
    (row,), latest = context.state, len(context.turns)
    steps = [n for n, turn in enumerate(context.turns, start=1) if not turn.event.several and (turn.event.deed or turn.event.kind in DEEDS)]
    if not steps or not row:
        return None
    step = rng.choice([*steps, steps[-1]])
    event: Event = context.turns[step - 1].event
    count = 2 if event.kind == "swap" else 1
    if len(row) < count:
        return None
    indices = rng.sample(range(len(row)), count)
    called = [refer(context, index, rng) for index in indices]
    words = [phrase.words for phrase, _ in called]
    if len({*words}) < count or any({"it", "its", "that", "this", "same"} & {*word.split()} for word in words):
        return None
    places = tuple(place for _, said in called for place in said)
    x = Phrase(" and ".join(words))
    at = nth_step(context, step, rng)
    to = "[with|with|for|to|on]"
    templates: list[Template] = [
        marked(f"[repeat|repeat|do] {at} [with|for|with] {{x}}", STEP),
        marked(f"[repeat|do] {at} again [|,] but [with|for] {{x}}", STEP),
        marked(f"do what you did in {at} {to} {{x}} [too|as well|]", STEP),
        marked(f"[do the same|same] as in {at} {to} {{x}}", STEP),
    ]
    if step == latest:
        templates = [
            *3 * [f"do [the same|the same thing|that|it|this] {to} {{x}} [too|as well|also|]"],
            "[the same|same|same thing|same again|again] [with|for|but with|but for] {x}",
            "repeat [that|it|this|the last step|] [with|for|but with|using] {x}",
            "[now|and now|then] [do the same|do that|the same] [with|to|for] {x}",
            marked("{x} [too|as well|also]", ELLIPSIS),
            marked("[and|and now|now|and also] {x}", ELLIPSIS),
        ]
    goal = _done(event, row, list(indices))
    if goal is None:
        return None
    shape = row[indices[0]] if event.kind == "remove" else ""
    return Turn(context.say(rng, templates, SAME_AGAIN, x=x), (goal,), _repeated(event, places if len(places) == count else (), shape))


def remove_both(context: Context, rng: Random) -> Turn | None:
    """The two figures that have just been swapped go."""
    (row,), things = context.state, noun(context, rng) + "s"
    if context.event.kind != "swap":
        return None
    x = f"[them|both of them|both|these two|those two {things}|the {things} [you|we|i] just [swapped|switched]|the swapped {things}]"
    templates = ("{take} {x}", "[remove|delete|take out|get rid of|erase|discard] {x}")
    indices = {index for index, figure in enumerate(row) if figure != context.states[-2][0][index]}
    return Turn(
        context.say(rng, templates, PRONOUN, x=context.say(rng, x)),
        (rearranging.without(row, indices),),
        Event("remove several", several=True),
    )


REPETITION: Mapping[Rule, float] = {
    undo_last: 1.2,
    undo_more: 1.6,
    undo_step: 60,
    redo: 30,
    repeat_same: 2.8,
    repeat_with: 2.4,
    remove_both: 5,
}

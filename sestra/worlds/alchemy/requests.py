"""What people ask for in Alchemy beyond SCONE: several beakers, parts of them, exchanges, repetition and reversal in many words."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from sestra.data.grammar import PUT_BACK, SAME_AGAIN, STEP, Context, Phrase, Rule, State, Template, Turn
from sestra.worlds.alchemy import grammar as scone
from sestra.worlds.alchemy.descriptions import NOTHING, Event, units
from sestra.worlds.alchemy.names import groups, name, pair
from sestra.worlds.alchemy.world import BEAKERS, CAPACITY, COLOURS

MAX_EDITS = 16
"""The most actions that an instruction may take."""
EMPTY = (
    "[empty|drain|clear|clean] [out|]|[throw|dump|pour|toss|tip] [out|away]|[get rid of|remove|discard|eliminate|delete|spill]"
    "|dispose of|throw out the contents of|take everything out of|remove everything from|remove all the {chemical} from"
)
EMPTY_IT = f"[{EMPTY}]"
TAKE = "[remove|take|drain|pour out|throw out|discard|dump|get rid of|take away|subtract|spill]"
MOVE = "[pour|transfer|move|put|add|shift|tip]"
UNTO = "[into|in|to|on top of]"
FILLERS = (
    "please {x}",
    "{x} please",
    "{x} , please",
    "could you {x}",
    "could you please {x}",
    "can you {x}",
    "can you please {x} for me",
    "would you {x}",
    "would you mind to {x}",
    "i want you to {x}",
    "i would like you to {x}",
    "i'd like you to {x}",
    "ok , {x}",
    "okay now {x}",
    "alright {x}",
    "now {x}",
    "so {x}",
    "go ahead and {x}",
    "let's {x}",
    "just {x}",
    "hey , {x}",
    "kindly {x}",
    "you need to {x}",
    "you should {x}",
    "next , {x}",
    "um {x}",
    "well , {x}",
    "{x} now",
    "{x} for me",
    "{x} thanks",
    "{x} !",
    "{x} .",
    "it is time to {x}",
    "now please {x}",
    "then {x}",
    "after that {x}",
    "quickly {x}",
    "carefully {x}",
    "try to {x}",
)


def edits(before: State, after: State) -> int:
    """How many units go and come."""
    common = [
        next((n for n, (a, b) in enumerate(zip(x, y, strict=False)) if a != b), min(len(x), len(y))) for x, y in _beakers(before, after)
    ]
    return sum(len(x) + len(y) - 2 * shared for (x, y), shared in zip(_beakers(before, after), common, strict=True))


def _beakers(before: State, after: State) -> list[tuple[str, str]]:
    return list(zip(before, after, strict=True))


def _within(turn: Turn | None, context: Context) -> Turn | None:
    return turn if turn and edits(context.state, turn.state) <= MAX_EDITS else None


def empty_several(context: Context, rng: Random) -> Turn | None:
    """Several beakers are emptied."""
    full = [n for n in range(BEAKERS) if context.state[n]]
    if len(full) < 2:
        return None
    if rng.random() < 0.3:
        beakers = tuple(rng.sample(full, 2))
        what = pair(context, (beakers[0], beakers[1]), rng)
    else:
        several, names = rng.choice(groups(context))
        beakers, what = tuple(several), context.say(rng, names)
    after = context.state_with(dict.fromkeys(beakers, ""))
    return _within(Turn(context.say(rng, f"{EMPTY_IT} {{x}}", x=what), after, NOTHING), context)


def drain_several(context: Context, rng: Random) -> Turn | None:
    """The same amount goes from each of several beakers."""
    some = [group for group in groups(context) if all(context.state[n] for n in group[0])]
    if not some:
        return None
    beakers, names = rng.choice(some)
    amount = rng.randint(1, min(3, *(len(context.state[n]) for n in beakers)))
    templates = [f"{TAKE} {units(context, amount)} from [each of|] {{x}}", f"{TAKE} {units(context, amount)} [of|out of] {{x}}"]
    after = context.state_with({n: context.state[n][:-amount] for n in beakers})
    return _within(Turn(context.say(rng, templates, x=context.say(rng, names)), after, NOTHING), context)


def leave(context: Context, rng: Random) -> Turn | None:
    """So much is left in a beaker."""
    beakers = [n for n in range(BEAKERS) if len(context.state[n]) > 1]
    if not beakers:
        return None
    beaker = rng.choice(beakers)
    size = len(context.state[beaker])
    left = rng.randint(1, size - 1)
    some = units(context, left)
    verb = "is" if left == 1 else "are"
    templates = [
        f"leave [only|just|] {some} in {{x}}",
        f"[drain|empty|pour out] {{x}} until [only|] {some} [{verb} left|remain{'s' if left == 1 else ''}]",
        f"{TAKE} all but {some} [from|of] {{x}}",
        f"[reduce|bring] {{x}} [down|] to {some}",
        f"keep only {some} in {{x}}",
        f"{TAKE} everything except {some} from {{x}}",
    ]
    if 2 * left == size:
        templates += 2 * ["[drain|remove|pour out|throw out|empty] [half|half of] {x}", "[halve|cut in half] {x}", "leave half of {x}"]
    phrase = context.say(rng, templates, x=name(context, beaker, rng))
    return Turn(phrase, context.state_with({beaker: context.state[beaker][:left]}), Event("drain", beaker, repeatable=False))


def drain(context: Context, rng: Random) -> Turn | None:
    """Some or all of a beaker goes, in other words than SCONE's."""
    full = [n for n in range(BEAKERS) if context.state[n]]
    if not full:
        return None
    beaker = rng.choice(full)
    size = len(context.state[beaker])
    amount = rng.choice((size, rng.randint(1, size)))
    x = name(context, beaker, rng)
    if amount == size and rng.random() < 0.6:
        templates: list[Template] = [
            f"{EMPTY_IT} {{x}}",
            "{x} [is|gets|should be] [emptied|drained|poured out|cleared]",
            "make {x} empty",
            "[lose|trash|chuck] {x}",
            "{x} [goes|is gone]",
            "[i want|make] {x} [to be|] [gone|empty]",
            "take {x} away",
        ]
        return Turn(context.say(rng, templates, x=x), context.state_with({beaker: ""}), Event("drain", beaker))
    some = units(context, amount)
    templates = [
        f"{TAKE} {some} [from|of|out of] {{x}}",
        f"{TAKE} {context.speaker.number(amount)} from {{x}}",
        f"[from|in] {{x}} , {TAKE} {some}",
        f"{{x}} [loses|drops by] {some}",
        f"[reduce|lower] {{x}} by {some}",
        f"{some} of {{x}} [goes away|is removed|are removed|should go]",
        f"{TAKE} the top {some if amount > 1 else context.speaker.words['unit']} [of|from|in] {{x}}",
    ]
    return Turn(
        context.say(rng, templates, x=x), context.state_with({beaker: context.state[beaker][:-amount]}), Event("drain", beaker, amount)
    )


def pour(context: Context, rng: Random) -> Turn | None:
    """Some or all of a beaker goes into another, the top unit first, as far as there is room."""
    state = context.state
    pairs = [(a, b) for a in range(BEAKERS) for b in range(BEAKERS) if a != b and state[a] and len(state[b]) < CAPACITY]
    if not pairs:
        return None
    mixed = [pair for pair in pairs if len(set(state[pair[0]])) > 1]
    source, target = rng.choice(mixed if mixed and rng.random() < 0.4 else pairs)
    size, room = len(state[source]), CAPACITY - len(state[target])
    amount = size if size <= room and rng.random() < 0.5 else rng.randint(1, min(size, room))
    x, y = name(context, source, rng), name(context, target, rng)
    some = units(context, amount)
    if amount == size:
        templates = [
            f"{MOVE} {{x}} {UNTO} {{y}}",
            f"{MOVE} [all of|everything from|the contents of|whatever is in|what is in] {{x}} {UNTO} {{y}}",
            "empty {x} into {y}",
            "{x} [goes|is poured|gets poured] into {y}",
            "[combine|join] {x} with {y} by pouring it in",
            "fill {y} with [the contents of|what is in] {x}",
            "to {y} add {x}",
            "dump {x} into {y}",
        ]
    else:
        templates = [
            f"{MOVE} {some} [of|from] {{x}} {UNTO} {{y}}",
            f"[take|get] {some} [from|of|out of] {{x}} and [pour|put] [it|them] {UNTO} {{y}}",
            f"add {some} [of|from] {{x}} to {{y}}",
            f"{MOVE} {context.speaker.number(amount)} from {{x}} to {{y}}",
        ]
        templates += ["[pour|transfer|move] half of {x} into {y}"] * (2 * (2 * amount == size))
    after = context.state_with({source: state[source][:-amount], target: state[target] + state[source][::-1][:amount]})
    event = Event("pour", target, None if amount == size else amount, repeatable=amount == size)
    return Turn(context.say(rng, templates, x=x, y=y), after, event)


def exchange(context: Context, rng: Random) -> Turn | None:
    """Two beakers exchange what is in them."""
    a, b = rng.sample(range(BEAKERS), 2)
    state = context.state
    if not state[a] and not state[b]:
        return None
    templates = [
        "[swap|switch|exchange|trade] [the contents of|] {pair}",
        "[swap|switch|exchange] {x} [with|and|for] {y}",
        "[swap|exchange] what is in {x} with what is in {y}",
        "{pair} [swap|switch|trade|exchange] [contents|{chemical}s|places]",
    ]
    phrase = context.say(rng, templates, pair=pair(context, (a, b), rng), x=name(context, a, rng), y=name(context, b, rng))
    return _within(Turn(phrase, context.state_with({a: state[b], b: state[a]}), NOTHING), context)


def add(context: Context, rng: Random) -> Turn | None:
    """Fresh units are added."""
    state = context.state
    fitting = [n for n in range(BEAKERS) if len(state[n]) < CAPACITY]
    if not fitting:
        return None
    beaker = rng.choice(fitting)
    amount, letter = rng.randint(1, CAPACITY - len(state[beaker])), rng.choice(scone.START_COLOURS)
    some, colour, x = units(context, amount), COLOURS[letter], name(context, beaker, rng)
    templates = [
        f"[add|put|pour] {some} of {colour} [{{chemical}}|] [to|in|into] {{x}}",
        f"[add|put] {context.speaker.number(amount)} {colour} {context.speaker.words['unit']}{'s' * (amount > 1)} [to|in|into] {{x}}",
    ]
    if amount == CAPACITY:
        templates += [f"fill {{x}} [up|] with {colour}", f"fill {{x}} to the [top|brim] with {colour}"]
    if len(set(state[beaker])) == 1:
        same = state[beaker][0]
        if 2 * len(state[beaker]) <= CAPACITY and rng.random() < 0.2:
            phrase = context.say(rng, "[double|double the amount [in|of]|double what is in] {x}", x=x)
            return Turn(phrase, context.state_with({beaker: state[beaker] * 2}), Event("add", beaker, repeatable=False))
        if rng.random() < 0.4:
            letter = same
            templates = [f"add {some} [more|] of the same [color|{{chemical}}] to {{x}}", f"add {some} [more|] of {COLOURS[same]} to {{x}}"]
            templates += ["[fill|top] {x} up [with the same color|]", "fill {x} to the [top|brim]"] * (
                amount + len(state[beaker]) == CAPACITY
            )
    return Turn(
        context.say(rng, templates, x=x),
        context.state_with({beaker: state[beaker] + letter * amount}),
        Event("add", beaker, repeatable=False),
    )


def mix(context: Context, rng: Random) -> Turn | None:
    """Beakers of several colours turn brown."""
    mixed = [n for n in range(BEAKERS) if len(set(context.state[n])) > 1]
    if not mixed:
        return None
    stir = "[mix|stir|blend|shake|swirl|agitate|mix up|combine]"
    if len(mixed) > 1 and rng.random() < 0.4:
        both = "[both|both of|the two]" if len(mixed) == 2 else "[all|all of|every one of]"
        templates = [f"{stir} {both} the [mixed {{beaker}}s|mixtures|{{beaker}}s with [two|several|different] colors]"]
        after = context.state_with({n: scone.BROWN * len(context.state[n]) for n in mixed})
        return _within(Turn(context.say(rng, templates), after, NOTHING), context)
    beaker = rng.choice(mixed)
    templates = [
        f"{stir} [|the contents of|what is in|the {{chemical}}s in|everything in] {{x}} [|together|well|thoroughly]",
        "[make|turn] {x} brown [by [mixing|stirring] it|]",
        "{x} [turns|becomes|is now|should be|should turn] brown",
        f"{stir} {{x}} until [it is|it turns|it's|it becomes] brown",
        "give {x} a [stir|shake|good mix]",
    ]
    phrase = context.say(rng, templates, x=name(context, beaker, rng))
    return Turn(phrase, context.state_with({beaker: scone.BROWN * len(context.state[beaker])}), Event("mix", beaker))


# What depends on earlier turns.


def _once_more(context: Context, event: Event, beaker: int) -> State | None:
    """The state after what the event did is done to this beaker."""
    content = context.state[beaker]
    if event.kind == "drain" and event.repeatable:
        amount = len(content) if event.amount is None else event.amount
        return context.state_with({beaker: content[: len(content) - amount]}) if 0 < amount <= len(content) else None
    if event.kind == "mix" and len(set(content)) > 1:
        return context.state_with({beaker: scone.BROWN * len(content)})
    if event.kind == "pour" and event.repeatable and event.beaker not in (None, beaker):
        into = context.state[event.beaker]
        fits = content and len(content + into) <= CAPACITY
        return context.state_with({beaker: "", event.beaker: into + content[::-1]}) if fits else None
    return None


def repeat(context: Context, rng: Random) -> Turn | None:
    """An earlier action once more, with the same amount: on the same beaker or on another."""
    if not context.turns:
        return None
    step = len(context.turns) if rng.random() < 0.5 else rng.randint(1, len(context.turns))
    event = context.turns[step - 1].event
    same = event.beaker is not None and event.kind == "drain" and event.amount is not None and rng.random() < 0.4
    choices = [event.beaker] if same else [n for n in range(BEAKERS) if n != event.beaker]
    results = {n: after for n in choices if n is not None and (after := _once_more(context, event, n))}
    if not results:
        return None
    beaker = rng.choice(list(results))
    which = _step(context, step)
    latest = step == len(context.turns)
    do = "[repeat|redo|do|do once more|repeat again]" if same else "[repeat|redo|do|apply]"
    if same:
        templates: list[Template] = [f"{do} {which.words} [again|once more|one more time|]"]
        if latest:
            templates = [
                "[again|once more|one more time|and again|repeat|repeat that|do [it|that] [again|once more|one more time]|same again]"
            ]
    else:
        templates = [f"{do} {which.words} [with|for|on|to] {{x}}", f"do the same as [in|] {which.words} [with|for|to] {{x}}"]
        if latest:
            templates = [
                "[do the same|same|the same|do that|repeat|repeat that|repeat this] [thing|] [with|for|to|on] {x} [too|as well|]",
                "{x} [too|as well|also]",
                "now {x}",
                "[and|also] {x} [too|as well|]",
                "[same thing|ditto] [for|with] {x}",
            ]
    marks = {SAME_AGAIN} if latest else {SAME_AGAIN, STEP}
    phrase = context.say(rng, templates, *marks, x=name(context, beaker, rng))
    done = event if event.kind == "pour" else replace(event, beaker=beaker)
    return Turn(phrase, results[beaker], done)


def twice(context: Context, rng: Random) -> Turn | None:
    """The last amount goes two or three times more."""
    event, times = context.event, rng.choice((2, 2, 3))
    if event.kind != "drain" or not event.amount or len(context.state[event.beaker]) < times * event.amount:
        return None
    count = "twice" if times == 2 and rng.random() < 0.7 else f"{context.speaker.number(times)} [more|] times"
    phrase = context.say(rng, f"[do that|do it|repeat that|repeat] {count} [more|]", SAME_AGAIN)
    return Turn(
        phrase, context.state_with({event.beaker: context.state[event.beaker][: -times * event.amount]}), replace(event, repeatable=False)
    )


def _step(context: Context, step: int) -> Phrase:
    """An earlier instruction by its number."""
    templates = [
        f"step {context.speaker.number(step)}",
        f"the {context.speaker.ordinal(step)} [step|instruction|action|command|one]",
        f"[instruction|action|command] {context.speaker.number(step)}",
        f"step [number|#] {step}",
    ]
    if step == len(context.turns):
        templates += ["the [last|previous] [step|instruction|action]"]
    return context.say(rng=Random(step + len(context.states[-1][0])), templates=templates)


def undo(context: Context, rng: Random) -> Turn | None:
    """The last step or steps are taken back, or an earlier one that later steps did not touch."""
    if not context.turns:
        return None
    steps = len(context.turns)
    kind = rng.choice(("last", "last", "last", "two", "step"))
    if kind == "two" and steps >= 2:
        count = rng.randint(2, steps)
        templates = [f"[undo|take back|revert] the last {context.speaker.number(count)} [steps|actions|instructions|moves]"]
        templates += ["[undo everything|start over|go back to the [start|beginning]|reset [everything|]|undo all [steps|of it]]"] * (
            count == steps
        )
        return _within(Turn(context.say(rng, templates, PUT_BACK), context.states[-1 - count], NOTHING), context)
    if kind == "step":
        step = rng.randint(1, steps)
        before, after = context.states[step - 1], context.states[step]
        touched = [n for n in range(BEAKERS) if before[n] != after[n]]
        if any(context.state[n] != after[n] for n in touched):
            return None
        words = _step(context, step)
        phrase = context.say(rng, "[undo|reverse|revert|take back|cancel] {x}", PUT_BACK, STEP, x=words)
        return _within(Turn(phrase, context.state_with({n: before[n] for n in touched}), NOTHING), context)
    templates = [
        "[undo|undo [that|it|this]|revert|reverse that|take that back|go back|go back one step|cancel that]",
        "put [it|everything] back",
        "[make it|put it back] [as|like|the way|how] it was [before|]",
        "undo [the last|what you just did|your last] [step|action|]",
        "[restore|bring back] [it|what was there|the previous state]",
        "[refill|fill] it [back up|again] as [it was|] before",
    ]
    if context.event.kind not in ("drain",):
        templates = templates[:2] + templates[3:4]
    return _within(Turn(context.say(rng, templates, PUT_BACK), context.states[-2], NOTHING), context)


def two_actions(context: Context, rng: Random) -> Turn | None:
    """Two instructions in one sentence; the second is understood after the first is done."""
    first = rng.choice((drain, pour, mix, scone.drain, scone.pour))(context, rng)
    if first is None:
        return None
    second = rng.choice((drain, pour, mix, scone.mix, scone.drain))(context.then(first), rng)
    if second is None or second.state in (first.state, context.state):
        return None
    x, y = first.instruction, second.instruction
    phrase = context.say(rng, ["{x} [and then|and|, then|, and then|then|. then] {y}"], x=x, y=y)
    return _within(Turn(phrase, second.state, replace(second.event, repeatable=False)), context)


REQUESTS: dict[Rule, float] = {
    empty_several: 1.2,
    drain_several: 0.6,
    leave: 0.5,
    drain: 1.6,
    pour: 2.2,
    exchange: 0.6,
    add: 0.5,
    mix: 0.9,
    repeat: 1.6,
    twice: 0.2,
    undo: 0.8,
    two_actions: 0.6,
}

"""Instructions in Alchemy: draining, pouring and mixing; pouring and mixing more often than in SCONE's train, which mostly drains.

A pour ends with at most three units in the beaker, as in SCONE, so that mixing them stays within the paper's horizon of seven actions.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from sestra.data.grammar import ELLIPSIS, PRONOUN, PUT_BACK, SAME_AGAIN, Context, State, Template, Turn, draw_speaker, marked
from sestra.worlds.alchemy.descriptions import NOTHING, Event, colours, describe, focus, refer, units
from sestra.worlds.alchemy.world import BEAKERS, CAPACITY, COLOURS

BROWN = "b"
START_COLOURS = "gopry"
FULLEST_POUR = 3
THROW = "[throw out|throw away|pour out|drain|dump|remove|discard|empty out|get rid of|tip out|toss]"
SHARES = {
    (1, 2): "half|1/2",
    (2, 4): "half|1/2",
    (1, 3): "a third|1/3",
    (2, 3): "two thirds|2/3",
    (1, 4): "a quarter|1/4",
    (3, 4): "three quarters|3/4",
}


def start(rng: Random) -> Context:
    beakers: list[str] = []
    while sum(map(bool, beakers)) < 3:
        beakers = [rng.choice(START_COLOURS) * rng.randint(0, CAPACITY) for _ in range(BEAKERS)]
    beaker, chemical = ("beaker", "beaker", "beaker", "flask", "jar", "container"), ("chemical", "chemical", "liquid", "fluid", "substance")
    speaker = draw_speaker(rng, chatty=0.1, beaker=beaker, chemical=chemical, unit=("unit", "unit", "part", "portion"))
    return Context((tuple(beakers),), speaker, nothing=NOTHING)


def drain(context: Context, rng: Random) -> Turn | None:
    """Some or all of a beaker goes."""
    full = [n for n in range(BEAKERS) if context.state[n]]
    if not full:
        return None
    it, last = focus(context), context.event
    beaker = it if it in full and rng.random() < 0.3 else rng.choice(full)
    size = len(context.state[beaker])
    amount = size if rng.random() < 0.3 else rng.randint(1, size)
    whole = amount == size and rng.random() < 0.9
    event = Event("drain", beaker, None if whole else amount)
    once_more = beaker == it and last.kind == "drain" and rng.random() < 0.5
    gap = beaker != it and last.kind == "drain" and rng.random() < 0.15
    some = units(context, amount) if amount > 1 or rng.random() < 0.9 else f"a [single|] {context.speaker.words['unit']}"
    share = SHARES.get((amount, size)) if rng.random() < 0.2 else None
    templates: list[Template]
    if whole and once_more:
        templates = [
            marked("[then |]" + THROW + " [the rest|what is left|the remaining {chemical}]", ELLIPSIS),
            marked("finish it off", PRONOUN),
        ]
    elif whole and gap and last.amount is None and last.repeatable:
        templates = [marked("then {x} [|too|as well]", ELLIPSIS), marked("and [also|] {x}", ELLIPSIS)]
    elif whole:
        templates = [THROW + " {x}", THROW + " [all of|everything in|the contents of] {x}", "[empty|drain|clear] {x}"]
    elif once_more:
        templates = [
            marked(f"[then |]{THROW} {context.speaker.number(amount)} more", ELLIPSIS),
            marked(f"then {units(context, amount)} more", ELLIPSIS),
        ]
        if amount == 1:
            templates.append(marked(f"[then |]{THROW} another {{unit}}", ELLIPSIS))
    elif gap:
        templates = [marked(f"[then|and] {some} [of|from] {{x}}", ELLIPSIS)]
    elif share:
        templates = [f"{THROW} [{share}] of {{x}}"]
        event = replace(event, repeatable=False)
    elif size - amount == 1 and rng.random() < 0.1:
        templates = [f"{THROW} all but one {{unit}} [of|from] {{x}}", "[drain|empty] {x} until one {unit} [is left|remains]"]
        event = replace(event, repeatable=False)
    else:
        templates = [f"{THROW} {some} [of|from] {{x}}", f"[take|drain] {some} out of {{x}}"]
    phrase = context.say(rng, templates, x=refer(context, beaker, rng))
    return Turn(phrase, context.state_with({beaker: context.state[beaker][: size - amount]}), event)


def drain_top(context: Context, rng: Random) -> Turn | None:
    """What lies on top goes, of a beaker with two colours."""
    layered = [n for n, content in enumerate(context.state) if len(set(content)) == 2]
    if not layered:
        return None
    beaker = rng.choice(layered)
    content = context.state[beaker]
    rest = content.rstrip(content[-1])
    above, below = COLOURS[content[-1]], COLOURS[rest[-1]]
    templates = (
        f"{THROW} the {above} [{{chemical}}|part|] [from|in] {{x}}",
        f"[take|drain] the {above} [{{chemical}}|] out of {{x}}",
        f"{THROW} everything but the {below} [{{chemical}}|] [from|in] {{x}}",
    )
    phrase = context.say(rng, templates, x=refer(context, beaker, rng))
    return Turn(phrase, context.state_with({beaker: rest}), Event("drain", beaker, repeatable=False))


def pour(context: Context, rng: Random) -> Turn | None:
    """All of one beaker goes into another, the top unit first."""
    state, it = context.state, focus(context)
    pairs = [
        (a, b)
        for a in range(BEAKERS)
        for b in range(BEAKERS)
        if a != b and state[a] and state[b] and len(state[a] + state[b]) <= FULLEST_POUR
    ]
    if not pairs:
        return None
    about_it = [pair for pair in pairs if it in pair]
    source, target = rng.choice(about_it if about_it and rng.random() < 0.4 else pairs)
    templates = (
        "[pour|pour|empty|transfer] {x} into {y}",
        "add {x} to {y}",
        "pour [all of|the contents of] {x} into {y}",
        "[pour|put] {x} in {y}",
    )
    phrase = context.say(rng, templates, x=refer(context, source, rng), y=refer(context, target, rng))
    return Turn(phrase, _poured(context, source, target), Event("pour", target))


def _poured(context: Context, source: int, target: int) -> State:
    return context.state_with({source: "", target: context.state[target] + context.state[source][::-1]})


def mix(context: Context, rng: Random) -> Turn | None:
    """A beaker of several colours turns brown."""
    mixed = [n for n in range(BEAKERS) if len(set(context.state[n])) > 1]
    if not mixed:
        return None
    beaker = rng.choice(mixed)
    content = context.state[beaker]
    templates: list[Template] = [
        "[mix|stir|mix up|shake|blend] {x}",
        "{x} [turns|becomes|changes to|is now] brown",
        "mix [the contents of|the {chemical}s in] {x}",
    ]
    if beaker == focus(context):
        templates += [marked("[mix them [together|up|]|they turn brown|it turns brown|[stir|mix] it until it turns brown]", PRONOUN)]
    if sum(set(other) >= set(content) for other in context.state) == 1:
        templates += [f"mix the {colours(content)} {{chemical}}s [together|to make brown|to form a brown mixture|]"]
    phrase = context.say(rng, templates, x=refer(context, beaker, rng))
    return Turn(phrase, context.state_with({beaker: BROWN * len(content)}), Event("mix", beaker))


def again(context: Context, rng: Random) -> Turn | None:
    """The last action once more, on the same beaker or on another."""
    state, it, event = context.state, focus(context), context.event
    if it is None or not event.repeatable:
        return None
    if event.kind == "drain" and event.amount and len(state[it]) >= event.amount and rng.random() < 0.5:
        phrase = context.say(rng, "[do [it|that] again|repeat [|that|the last step]|[|and |same ]again]", SAME_AGAIN)
        return Turn(phrase, context.state_with({it: state[it][: -event.amount]}), event)

    def after(beaker: int) -> State | None:
        content = state[beaker]
        if event.kind == "pour":
            return _poured(context, beaker, it) if content and len(content + state[it]) <= FULLEST_POUR else None
        if event.kind == "mix":
            return context.state_with({beaker: BROWN * len(content)}) if len(set(content)) > 1 else None
        amount = event.amount or len(content)
        return context.state_with({beaker: content[: len(content) - amount]}) if 1 <= amount <= len(content) else None

    results = {beaker: result for beaker in range(BEAKERS) if beaker != it and (result := after(beaker))}
    if not results:
        return None
    beaker = rng.choice(list(results))
    templates = ("do the same [with|for|to] {x}", "[repeat|repeat that|do that] [with|for] {x}", "[the |]same [with|for] {x}")
    phrase = context.say(rng, templates, SAME_AGAIN, x=describe(context, beaker, rng))
    return Turn(phrase, results[beaker], event if event.kind == "pour" else replace(event, beaker=beaker))


def put_back(context: Context, rng: Random) -> Turn | None:
    """What was just drained or poured goes back to where it was."""
    event = context.event
    if event.kind not in ("drain", "pour"):
        return None
    templates: list[Template] = ["undo [that|it|the last step]"]
    if event.kind == "drain":
        templates += ["put back what you [drained|removed]", marked("put [it|that] back [in|]", PRONOUN)]
    else:
        templates += [marked("pour it back where it came from", PRONOUN)]
    return Turn(context.say(rng, templates, PUT_BACK), context.states[-2], NOTHING)


def add(context: Context, rng: Random) -> Turn | None:
    """Fresh units of one colour go into an empty beaker, or onto the same colour."""
    fitting = [n for n, content in enumerate(context.state) if len(content) < FULLEST_POUR and len(set(content)) < 2]
    if not fitting:
        return None
    beaker = rng.choice(fitting)
    content = context.state[beaker]
    letter = content[0] if content else rng.choice(START_COLOURS)
    amount = rng.randint(1, FULLEST_POUR - len(content))
    phrase = context.say(rng, f"add {units(context, amount)} of {COLOURS[letter]} [{{chemical}}|] to {{x}}", x=refer(context, beaker, rng))
    return Turn(phrase, context.state_with({beaker: content + letter * amount}), Event("add", beaker, repeatable=False))


RULES = {drain: 0.2, drain_top: 0.03, pour: 0.8, mix: 1.0, again: 0.15, put_back: 0.03, add: 0.02}

"""What Alchemy's beakers and their contents can be called: each phrase is true of one beaker alone."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sestra.data.grammar import LAST_ONE, OTHER_ONE, PRONOUN, Context, Phrase, Template, marked
from sestra.worlds.alchemy.world import BEAKERS, COLOURS


@dataclass(frozen=True)
class Event:
    """What was done, as far as "it" and "again" need it."""

    kind: str
    beaker: int | None
    """What "it" is from now on."""
    amount: int | None = None
    """The units that the speaker named; None for a whole beaker."""
    repeatable: bool = True
    """Whether "the same" is clear: not after "half of it"."""


NOTHING = Event("nothing", None, repeatable=False)


def focus(context: Context) -> int | None:
    """The beaker that "it" means."""
    beaker: int | None = context.event.beaker
    return beaker


def refer(context: Context, beaker: int, rng: Random) -> Phrase:
    """A pronoun where there is one, mostly; else a description."""
    if beaker == focus(context) and rng.random() < 0.6:
        return context.say(rng, "[it|it|it|that {beaker}|this {beaker}|that one|the same {beaker}]", PRONOUN)
    return describe(context, beaker, rng)


def describe(context: Context, beaker: int, rng: Random) -> Phrase:
    """A description that is true of this beaker alone."""
    content = context.state[beaker]
    names = _by_place(context, beaker)
    if content and rng.random() < 0.75:
        names = (_by_colour(context, beaker) if len(set(content)) == 1 else _by_mixture(context, beaker)) or names
    rare = rng.random()  # about as often as in SCONE
    if rare < 0.02:
        names = _by_neighbour(context, beaker) or names
    elif rare < 0.05:
        names = _from_the_ends(context, beaker)
    return context.say(rng, names)


def _by_place(context: Context, beaker: int) -> list[Template]:
    names: list[Template] = [
        f"the {context.speaker.ordinal(beaker + 1)} [{{beaker}}|{{beaker}}|one]",
        f"{{beaker}} {context.speaker.number(beaker + 1)}",
    ]
    if beaker == BEAKERS - 1:
        names += [marked("the [last {beaker}|last one]", LAST_ONE), marked("the [rightmost|right most] {beaker}")]
    if beaker == BEAKERS - 2:
        names.append("the [second to last|second last|next to last|last but one] {beaker}")
    if beaker == 0:
        names.append("the [leftmost|left most] [{beaker}|one]")
    if beaker == BEAKERS // 2:
        names.append("the [middle {beaker}|{beaker} in the middle|center {beaker}]")
    empty = [n for n, content in enumerate(context.state) if not content]
    if beaker in empty:
        names.append(
            "the empty {beaker}" if len(empty) == 1 else f"the {context.speaker.ordinal(empty.index(beaker) + 1)} empty {{beaker}}"
        )
    return names


def _by_colour(context: Context, beaker: int) -> list[Template]:
    state, letter = context.state, context.state[beaker][0]
    alike = [n for n in range(BEAKERS) if letter in state[n]]
    if any(set(state[n]) != {letter} for n in alike):  # "the green one" might be a mixture with green in it
        return []
    colour, rank = COLOURS[letter], alike.index(beaker) + 1
    noun = f"{colour} [{{beaker}}|{{chemical}}|one]"
    if len(alike) == 1:
        return [f"the {noun}", f"the {colour}", f"the {{beaker}} [with|of|containing] [the|] {colour} {{chemical}}"]
    names: list[Template] = [f"the {context.speaker.ordinal(rank)} {noun}"]
    if rank == 1:
        names.append(f"the [leftmost|left most|far left] {noun}")
    if rank == len(alike):
        names += [marked(f"the last {noun}", LAST_ONE), f"the [rightmost|right most|far right] {noun}"]
    if len(alike) == 3 and rank == 2:
        names.append(f"the middle {noun}")
    if len(alike) == 2:
        names.append(f"the {noun} on the {'left' if rank == 1 else 'right'}")
    if len(alike) == 2 and focus(context) in alike and focus(context) != beaker:
        names += 2 * [marked(f"the other {noun}", OTHER_ONE)]
    sizes = [len(state[n]) for n in alike]
    if sizes.count(len(state[beaker])) == 1:
        names.append(f"the {colour} {{beaker}} with {units(context, len(state[beaker]))}")
        if len(state[beaker]) == max(sizes):
            names.append(f"the [{'larger|bigger|fuller' if len(alike) == 2 else 'largest|fullest'}] {noun}")
        if len(state[beaker]) == min(sizes):
            names.append(f"the [{'smaller' if len(alike) == 2 else 'smallest'}] {noun}")
    return names


def _from_the_ends(context: Context, beaker: int) -> list[Template]:
    """Counted from the left or from the right, if it is not the one at that end."""
    sides = (("left", beaker + 1), ("right", BEAKERS - beaker))
    ranked = [(side, context.speaker.ordinal(rank)) for side, rank in sides if rank > 1]
    return [f"the [{ordinal} {{beaker}}|{{beaker}} {ordinal}] from the {side}" for side, ordinal in ranked]


def _by_mixture(context: Context, beaker: int) -> list[Template]:
    state = context.state
    names: list[Template] = []
    if sum(len(set(content)) > 1 for content in state) == 1:
        names.append("the [mixed {beaker}|mixture|{beaker} with the mixture]")
    if sum(set(content) >= set(state[beaker]) for content in state) == 1:
        names.append(f"the [{colours(state[beaker])} {{beaker}}|{{beaker}} with {colours(state[beaker])}]")
    return names


def _by_neighbour(context: Context, beaker: int) -> list[Template]:
    names: list[Template] = []
    for neighbour, side in ((beaker + 1, "left"), (beaker - 1, "right")):
        if 0 <= neighbour < BEAKERS and len(set(context.state[neighbour])) == 1:
            letter = context.state[neighbour][0]
            if sum(letter in content for content in context.state) == 1:
                names.append(f"the {{beaker}} [just|directly|right|immediately] to the {side} of the {COLOURS[letter]} one")
        if neighbour == focus(context):
            names += 2 * [marked(f"the [{{beaker}}|one] [just|directly|] to the {side} of [it|that one|that {{beaker}}]", PRONOUN)]
    return names


def colours(content: str) -> str:
    return " and ".join(COLOURS[letter] for letter in dict.fromkeys(content))


def units(context: Context, n: int) -> str:
    return f"{context.speaker.number(n)} {context.speaker.words['unit']}{'s' if n > 1 else ''}"

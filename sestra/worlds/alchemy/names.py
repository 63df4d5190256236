"""More of what people call beakers than SCONE's speakers do: each phrase is true of one beaker, or of one set of beakers, alone."""

from __future__ import annotations

from random import Random

from sestra.data.grammar import Context, Phrase, Template
from sestra.worlds.alchemy.descriptions import colours, focus, refer, units
from sestra.worlds.alchemy.world import BEAKERS, COLOURS

Group = tuple[list[int], list[Template]]
"""Beakers that can be spoken of together, and what they are called."""


def name(context: Context, beaker: int, rng: Random) -> Phrase:
    """As SCONE's speakers name it, or in other words."""
    more = [*_by_number(context, beaker), *_by_content(context, beaker), *_by_history(context, beaker), *_by_neighbours(context, beaker)]
    return refer(context, beaker, rng) if rng.random() < 0.5 else context.say(rng, more)


def _by_number(context: Context, beaker: int) -> list[Template]:
    number, last = context.speaker.number(beaker + 1), BEAKERS - beaker
    names: list[Template] = [
        f"{{beaker}} [number|no.|#|] {number}",
        f"[number|the {{beaker}} at position|the {{beaker}} in position|the {{beaker}} in spot] {number}",
        f"the {context.speaker.ordinal(beaker + 1)} [{{beaker}}|one|] [|from the left]",
    ]
    if last > 1:
        names += [f"the {context.speaker.ordinal(last)} [{{beaker}}|one|] from the [right|end]"]
    if last in (2, 3):
        names += [f"the {context.speaker.ordinal(last)} [to|from the|] last {{beaker}}"]
    if beaker in (0, BEAKERS - 1):
        side = "left" if beaker == 0 else "right"
        names += [f"the {{beaker}} [on|at] the [far {side}|{side} end|{side}]", f"the [{side}most|{side} most|far {side}] [{{beaker}}|one]"]
    return names


def _by_content(context: Context, beaker: int) -> list[Template]:
    state, content = context.state, context.state[beaker]
    names: list[Template] = []
    full = [n for n in range(BEAKERS) if state[n]]
    if not content:
        return ["the [only|] empty [{beaker}|one]"] if len(full) == BEAKERS - 1 else []
    sizes = [len(state[n]) for n in full]
    if sizes.count(len(content)) == 1:
        names += [f"the [{{beaker}}|one] [with|that has|holding|containing] {units(context, len(content))} [in it|]"]
        if len(content) == max(sizes):
            names += ["the [fullest|largest|biggest] [{beaker}|one]", "the {beaker} with the most [{chemical}|{unit}s|in it]"]
        if len(content) == min(sizes) and len(full) > 1:
            names += ["the [smallest|least full] [{beaker}|one]", "the {beaker} with the least [{chemical}|in it]"]
    if len(full) == 1:
        names += ["the only [{beaker} that is not empty|full {beaker}|{beaker} with [something|anything] in it]"]
    alike = [n for n in full if content[0] in state[n]]
    if len(set(content)) == 1 and all(len(set(state[n])) == 1 for n in alike):
        colour, rank = COLOURS[content[0]], alike.index(beaker) + 1
        ordinal, back = context.speaker.ordinal(rank), len(alike) - rank + 1
        if len(alike) == 1:
            names += 2 * [f"[the|] {colour} [stuff|{{chemical}}|{{beaker}}|one|]", f"the {{beaker}} [that is|filled with|holding] {colour}"]
        else:
            names += 2 * [f"the {ordinal} {colour} [one|{{beaker}}|]", f"{colour} {{beaker}} [number|] {context.speaker.number(rank)}"]
            names += [f"the {ordinal} {{beaker}} [of|with|containing] {colour} [{{chemical}}|]"]
            names += [f"the {context.speaker.ordinal(back)} {colour} [one|{{beaker}}] from the right"] if back > 1 else []
    elif len(set(content)) > 1 and sum(set(other) >= set(content) for other in state) == 1:
        names += 2 * [f"the {{beaker}} [that has|containing|holding|with] [both|] {colours(content)} [in it|]"]
        if sum(other[-1:] == content[-1] and len(set(other)) > 1 for other in state) == 1:
            names += [f"the [mixed|two-colored] {{beaker}} with {COLOURS[content[-1]]} on top"]
    return names


def _by_history(context: Context, beaker: int) -> list[Template]:
    names: list[Template] = []
    if len(context.states) > 1:
        changed = [n for n in range(BEAKERS) if context.states[-2][n] != context.states[-1][n]]
        if changed == [beaker]:
            names += 2 * ["the [{beaker}|one] [you|we|i] [just|] [changed|touched|used]", "the same [one|{beaker}] [again|as before|]"]
            emptied = context.states[-2][beaker] and not context.state[beaker]
            names += 2 * ["the [{beaker}|one] [you|we|i] just [emptied|drained|cleared]"] if emptied else []
        grown = [n for n in changed if len(context.states[-1][n]) > len(context.states[-2][n])]
        if grown == [beaker] and len(changed) == 2:
            names += ["the [{beaker}|one] [you|we] just [poured into|poured it into|filled]"]
    return names


def _by_neighbours(context: Context, beaker: int) -> list[Template]:
    state, names = context.state, list[Template]()
    for neighbour, side in ((beaker + 1, "left"), (beaker - 1, "right")):
        if not 0 <= neighbour < BEAKERS:
            continue
        if len(set(state[neighbour])) == 1 and sum(state[neighbour][0] in content for content in state) == 1:
            colour = COLOURS[state[neighbour][0]]
            names += [
                f"the [{{beaker}}|one] [on|to] the {side} of the {colour} one",
                f"the [{{beaker}}|one] {side} of {colour}",
                f"the {colour} {{beaker}}'s {side} [hand|] neighbo[u|]r",
            ]
        if neighbour == focus(context):
            names += [f"the [one|{{beaker}}] [on|to] its {side}", f"its {side} neighbo[u|]r", f"the next one to the {side}"]
    return names


def groups(context: Context) -> list[Group]:
    """Two or more beakers that are not empty and can be spoken of together."""
    state, speaker = context.state, context.speaker
    full = [n for n in range(BEAKERS) if state[n]]
    found: list[Group] = [(full, ["[every|each] [single|] {beaker}", "all [the|of the|] {beaker}s", "[everything|them all|all of them]"])]
    for letter, colour in COLOURS.items():
        alike = [n for n in full if letter in state[n]]
        if any(len(set(state[n])) > 1 for n in alike):
            continue
        names: list[Template] = [f"all [the|of the|] {colour} [ones|{{beaker}}s|{{chemical}}]", f"[every|each] {colour} [one|{{beaker}}]"]
        if len(alike) == 2:
            names = [f"both [the|of the|] {colour} [ones|{{beaker}}s]", f"the two {colour} [ones|{{beaker}}s]", *names]
        found.append((alike, names))
        rest = [n for n in full if n not in alike]
        if alike:
            found.append((rest, _except(f"the {colour} [{'one|{beaker}' if len(alike) == 1 else 'ones|{beaker}s'}]")))
    for count in (2, 3, 4):
        some = [speaker.number(count), "couple of"][: 1 + (count == 2)]
        names = [*(f"the first {each} [{{beaker}}s|]" for each in some), f"the {speaker.number(count)} [leftmost|left] {{beaker}}s"]
        found.append(
            (list(range(count)), [*names, f"{{beaker}}s [1 to {count}|1 through {count}|{', '.join(map(str, range(1, count + 1)))}]"])
        )
        names = [*(f"the last {each} [{{beaker}}s|]" for each in some), f"the {speaker.number(count)} [rightmost|right] {{beaker}}s"]
        found.append((list(range(BEAKERS - count, BEAKERS)), names))
        sized = [n for n in full if len(state[n]) == count]
        found.append((sized, [f"[all|all the|both|every] {{beaker}}s with {units(context, count)}"] if len(sized) > 2 else []))
    last, first = BEAKERS - 1, 0
    found.append(([n for n in full if n != last], _except("the last [one|{beaker}|]")))
    found.append(([n for n in full if n != first], _except("the first [one|{beaker}|]")))
    found.append(([first, last], ["the first and [the|] last [{beaker}s|ones|]", "both ends", "the two outer {beaker}s"]))
    return [(beakers, names) for beakers, names in found if names and len([n for n in beakers if state[n]]) > 1]


def _except(what: str) -> list[Template]:
    return [f"[all|everything|every {{beaker}}|all {{beaker}}s|all the {{beaker}}s] [but|except|except for|apart from] {what}"]


def pair(context: Context, beakers: tuple[int, int], rng: Random) -> Phrase:
    """Two beakers in one phrase."""
    first, second = (context.speaker.number(n + 1) for n in beakers)
    ordinals = [context.speaker.ordinal(n + 1) for n in beakers]
    ways: list[Template] = [
        f"{{beaker}}s {first} and {second}",
        f"the {ordinals[0]} and [the|] {ordinals[1]} [{{beaker}}s|ones|]",
        "{x} and {y}",
    ]
    return context.say(rng, ways, x=name(context, beakers[0], rng), y=name(context, beakers[1], rng))

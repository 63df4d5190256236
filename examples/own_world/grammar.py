"""Instructions for the warehouse: what is said, the state that it leads to, and the shelf that "it" means afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from sestra.data.grammar import PRONOUN, PUT_BACK, SAME_AGAIN, Context, Phrase, Rule, Turn, draw_speaker

from .world import COLUMNS, EMPTY, GOODS, ROWS

SIDES = {"left": (0, -1, "left of"), "right": (0, 1, "right of"), "up": (-1, 0, "above"), "down": (1, 0, "below")}
LINES = {f"row {n + 1}": range(n * COLUMNS, (n + 1) * COLUMNS) for n in range(ROWS)}
LINES |= {f"column {n + 1}": range(n, ROWS * COLUMNS, COLUMNS) for n in range(COLUMNS)}


def start(rng: Random) -> Context:
    state = tuple(rng.choice(GOODS) if rng.random() < 0.4 else EMPTY for _ in range(ROWS * COLUMNS))
    return Context((state,), draw_speaker(rng, chatty=0.1, remove=("remove", "ship", "take away"), put=("put", "store", "place")))


def name(context: Context, shelf: int, rng: Random) -> Phrase:
    """Words that are true of this shelf alone."""
    goods, row = context.state[shelf], f"row {shelf // COLUMNS + 1}"
    if goods != EMPTY and shelf == context.event and rng.random() < 0.6:
        return context.say(rng, "it", PRONOUN)
    names = [f"{row}, column {shelf % COLUMNS + 1}"]
    if goods != EMPTY and context.state.count(goods) == 1:
        names += 2 * [f"the {goods}"]
    elif goods != EMPTY and [context.state[each] for each in LINES[row]].count(goods) == 1:
        names += 2 * [f"the {goods} in {row}"]
    return context.say(rng, names)


def one_shelf(context: Context, rng: Random) -> Turn | None:
    shelf, goods = rng.randrange(ROWS * COLUMNS), rng.choice(GOODS)
    texts = ["{put} {goods} on {x}", "stock {x} with {goods}"]
    if context.state[shelf] != EMPTY:
        texts, goods = (["{remove} {x}", "clear {x}"], EMPTY) if rng.random() < 0.6 else (["replace {x} with {goods}"], goods)
    said = context.say(rng, texts, x=name(context, shelf, rng), goods=goods)
    return Turn(said, context.state_with({shelf: goods}), shelf if goods != EMPTY else None)


def two_shelves(context: Context, rng: Random) -> Turn | None:
    side, (down, right, beside) = rng.choice(list(SIDES.items()))
    a, b = rng.randrange(ROWS * COLUMNS), rng.randrange(ROWS * COLUMNS)
    if rng.random() < 0.6:  # a neighbour
        b = a + COLUMNS * down + right
    near = (b // COLUMNS - a // COLUMNS, b % COLUMNS - a % COLUMNS) == (down, right)
    if not 0 <= b < ROWS * COLUMNS or a == b or context.state[a] == EMPTY:
        return None
    texts, moved, it = ["move {x} to {y}", "bring {x} to {y}"], context.state_with({a: context.state[b], b: context.state[a]}), b
    if context.state[b] != EMPTY:
        texts, it = ["swap {x} and {y}", "exchange {x} with {y}"], None
    elif near and rng.random() < 0.4:
        texts, moved = ["{put} the same {beside} {x}", "{put} some more {beside} {x}"], context.state_with({b: context.state[a]})
    elif near:
        texts = ["move {x} one shelf {to}", "push {x} {to}"]
    words = {"x": name(context, a, rng), "y": name(context, b, rng), "beside": beside, "to": f"to the {side}" if right else side}
    return Turn(context.say(rng, texts, *([SAME_AGAIN] if "beside" in texts[0] else []), **words), moved, it)


def many_shelves(context: Context, rng: Random) -> Turn | None:
    line, goods = rng.choice(list(LINES)), rng.choice(GOODS)
    found = [shelf for shelf, each in enumerate(context.state) if each == goods]
    changes, texts = rng.choice((
        (dict.fromkeys(LINES[line], EMPTY), ["clear {line}", "{remove} everything in {line}"]),
        ({n: goods for n in LINES[line] if context.state[n] == EMPTY}, ["fill {line} with {goods}", "fill up {line} with {goods}"]),
        (dict.fromkeys(found[:6], EMPTY), ["{remove} all the {goods}", "no more {goods}, please"] if len(found) < 6 else []),
    ))  # fmt: skip
    return Turn(context.say(rng, texts, line=line, goods=goods), context.state_with(changes), None) if texts else None


def back(context: Context, rng: Random) -> Turn | None:
    return Turn(context.say(rng, ["undo that", "make it as it was"], PUT_BACK), context.states[-2], None) if context.turns else None


RULES: Mapping[Rule, float] = {one_shelf: 0.35, two_shelves: 0.45, many_shelves: 0.15, back: 0.05}

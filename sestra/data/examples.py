"""Interactions that ship with the package: what the demonstration shows and the page offers first."""

from __future__ import annotations

from sestra.data.scone import Interaction
from sestra.errors import InputError
from sestra.worlds import get_world

EXAMPLES = {
    "alchemy": (
        "1:g 2:_ 3:oo 4:_ 5:yy 6:p 7:rr",
        ("throw out the last beaker", "1:g 2:_ 3:oo 4:_ 5:yy 6:p 7:_"),
        ("pour the orange beaker into the purple one", "1:g 2:_ 3:_ 4:_ 5:yy 6:poo 7:_"),
        ("it turns brown", "1:g 2:_ 3:_ 4:_ 5:yy 6:bbb 7:_"),
        ("throw out one unit of it", "1:g 2:_ 3:_ 4:_ 5:yy 6:bb 7:_"),
        ("do the same with the yellow one", "1:g 2:_ 3:_ 4:_ 5:y 6:bb 7:_"),
    ),
    "scene": (
        "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:__",
        ("a man in a yellow shirt appears on the far right", "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:y_"),
        ("the man in the blue hat moves to the left end", "1:rb 2:__ 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:y_"),
        ("the man in green moves to the left of the man in yellow", "1:rb 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:g_ 10:y_"),
        ("he leaves", "1:rb 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:y_"),
        ("the man in yellow takes the blue hat", "1:r_ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:yb"),
    ),
    "tangrams": (
        "1:4 2:0 3:2 4:1 5:3",
        ("remove the last figure", "1:4 2:0 3:2 4:1"),
        ("swap the first and third figures", "1:2 2:0 3:4 4:1"),
        ("undo step 2", "1:4 2:0 3:2 4:1"),
        ("delete the second figure", "1:4 2:2 3:1"),
        ("add the figure removed in step 1 to the front", "1:3 2:4 3:2 4:1"),
    ),
}
"""A start state, then instructions with the state that each leads to."""


def example(name: str) -> Interaction:
    """The built-in interaction of that world."""
    if name not in EXAMPLES:
        raise InputError(f"the world {name!r} has no example; expected one of {', '.join(EXAMPLES)}, or --seed for a generated interaction")
    start, *turns = EXAMPLES[name]
    states = (start, *(state for _, state in turns))
    return Interaction(
        f"example-{name}", tuple(get_world(name).parse(state) for state in states), tuple(instruction for instruction, _ in turns)
    )

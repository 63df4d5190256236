"""Things to say in a world, and actions said in words: what the page offers and reads out."""

from __future__ import annotations

from random import Random
from typing import Any
from zlib import crc32

from sestra.data.examples import EXAMPLES
from sestra.data.grammars import GRAMMARS, Context
from sestra.data.synthetic import generate, next_turn
from sestra.errors import InputError
from sestra.serve.schemas import Example
from sestra.worlds import STOP, Action, World
from sestra.worlds.alchemy.world import COLOURS as LIQUIDS
from sestra.worlds.scene.world import COLOURS as GARMENTS
from sestra.worlds.tangrams.drawing import FIGURES

MOST_SUGGESTIONS = 4
ATTEMPTS = 12
OPENERS = ("first,", "to begin,")
"""How the grammars' speakers begin; a suggestion may come later."""

PAPER = Example(
    title="The paper's",
    state="1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_",
    instructions=["throw out first beaker", "pour sixth beaker into last one", "it turns brown"],
)

REFERRING = {
    "alchemy": ("throw it out", "mix it", "it turns brown"),
    "scene": ("he moves to the left end", "they trade hats", "he leaves"),
    "tangrams": ("undo the last step", "put it back", "swap them again"),
}
"""What leans on the turn before, of which the grammars would need to know more than its words."""

NAMES = {
    "alchemy": LIQUIDS,
    "scene": GARMENTS,
    "tangrams": {digit: f"figure {digit}, the {figure.name}" for digit, figure in FIGURES.items()},
}
IN_WORDS = {
    "alchemy": {"pop": "takes a unit out of beaker {place}", "push": "adds {what} to beaker {place}"},
    "scene": {
        "appear_person": "puts a person in {what} at place {place}",
        "appear_hat": "puts a hat in {what} at place {place}",
        "remove_person": "takes the person away from place {place}",
        "remove_hat": "takes the hat away from place {place}",
    },
    "tangrams": {"insert": "puts {what}, at place {place}", "remove": "takes the figure at place {place} away"},
}
"""What each kind of action does, for a reader who does not know the notation."""


def examples(world: World[Any], count: int, seed: int | None) -> list[Example]:
    """The built-in interactions first, then generated ones; with a seed only generated ones."""
    shown: list[Example] = []
    if seed is None and world.name in EXAMPLES:
        start, *turns = EXAMPLES[world.name]
        shown.append(Example(title="Five in a row", state=start, instructions=[instruction for instruction, _ in turns]))
        shown += [PAPER] if world.name == "alchemy" else []
    if world.name in GRAMMARS and count > len(shown):
        for interaction in generate(world.name, count - len(shown), seed=seed or 0):
            state = interaction.states[0]
            assert state is not None  # a generated state is known
            shown.append(Example(title=interaction.instructions[0], state=world.format(state), instructions=list(interaction.instructions)))
    return shown[:count]


def suggestions(world: World[Any], state: tuple[Any, ...], *, spoken: bool, seed: int) -> list[str]:
    """Instructions that make sense in the state, the same for the same seed; after a turn also one that refers to it."""
    if world.name not in GRAMMARS:
        return []
    rng = Random(crc32(f"{world.name} {world.format(state)} {spoken} {seed}".encode()))
    grammar = GRAMMARS[world.name]
    found = [rng.choice(REFERRING[world.name])] if spoken and world.name in REFERRING else []
    for _ in range(ATTEMPTS):
        if len(found) == MOST_SUGGESTIONS:
            break
        try:
            turn = next_turn(grammar, world.name, Context((state,), grammar.start(rng).voice), rng)
        except (InputError, LookupError):  # a state that the grammar never meets, such as hats without people
            break
        if turn.instruction.words not in found and not turn.instruction.words.startswith(OPENERS):
            found.append(turn.instruction.words)
    return found


def in_words(world: World[Any], action: Action) -> str:
    """What an action does.

    >>> from sestra.worlds import Alchemy
    >>> in_words(Alchemy(), Action("push", ("7", "o")))
    'adds orange to beaker 7'
    """
    if action == STOP:
        return "stops"
    place, *rest = (*action.arguments, "")
    what = NAMES[world.name].get(rest[0], "") if rest and world.name in NAMES else ""
    return IN_WORDS.get(world.name, {}).get(action.kind, str(action)).format(place=place, what=what)

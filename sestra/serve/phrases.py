"""What the page offers to say in a world, and actions in words."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any
from zlib import crc32

from sestra.data.examples import phrases_of
from sestra.data.synthetic import generate, next_turn
from sestra.errors import InputError
from sestra.serve.schemas import Example
from sestra.worlds import STOP, Action, World

MAX_SUGGESTIONS = 4
ATTEMPTS = 12
OPENERS = ("first,", "to begin,")
"""How the grammars' first instructions may begin; a suggestion may come later."""


def examples(world: World[Any], count: int, seed: int | None) -> list[Example]:
    """The world's own examples first, then generated ones; with a seed only generated ones."""
    own = phrases_of(world).examples if seed is None else ()
    shown = [Example(title=each.title, state=each.start, instructions=list(each.instructions)) for each in own]
    if world.grammar() is not None and count > len(shown):
        for interaction in generate(world, count - len(shown), seed=seed or 0):
            state = interaction.states[0]
            assert state is not None  # a generated state is known
            shown.append(Example(title=interaction.instructions[0], state=world.format(state), instructions=list(interaction.instructions)))
    return shown[:count]


def suggestions(world: World[Any], state: tuple[Any, ...], *, spoken: bool, seed: int) -> list[str]:
    """Instructions that make sense in the state, the same for the same seed; after a turn (``spoken``) also one that refers to it."""
    grammar, referring = world.grammar(), phrases_of(world).referring
    if grammar is None:
        return []
    rng = Random(crc32(f"{world.name} {world.format(state)} {spoken} {seed}".encode()))
    found = [rng.choice(referring)] if spoken and referring else []
    for _ in range(ATTEMPTS):
        if len(found) == MAX_SUGGESTIONS:
            break
        try:
            turn = next_turn(grammar, world.name, replace(grammar.start(rng), states=(state,)), rng)
        except (InputError, LookupError):  # a state that the grammar never meets, such as hats without people
            break
        if turn.instruction.words not in found and not turn.instruction.words.startswith(OPENERS):
            found.append(turn.instruction.words)
    return found


def in_words(world: World[Any], action: Action) -> str:
    """What an action does.

    >>> from sestra.worlds import get_world
    >>> in_words(get_world("alchemy"), Action("push", ("7", "o")))
    'adds orange to beaker 7'
    """
    if action == STOP:
        return "stops"
    phrases = phrases_of(world)
    if action.kind not in phrases.actions:
        return str(action)
    place, what, *_ = (*action.arguments, "", "")
    return phrases.actions[action.kind].format(place=place, what=phrases.names.get(what, ""))

"""Example interactions and phrases of a world: what the demonstration shows, and what the page offers first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from sestra.data.scone import Interaction
from sestra.errors import InputError
from sestra.worlds.base import STOP, Action, World


@dataclass(frozen=True)
class Example:
    """An interaction as text."""

    title: str
    start: str
    turns: tuple[tuple[str, str], ...]
    """Each instruction with the state that it leads to."""

    @property
    def instructions(self) -> tuple[str, ...]:
        return tuple(instruction for instruction, _ in self.turns)


@dataclass(frozen=True)
class Phrases:
    """What people say in a world, and what its actions are called."""

    examples: tuple[Example, ...] = ()
    """The demonstration shows the first one."""
    instruction: str = "..."
    """An instruction that makes sense in most states."""
    referring: tuple[str, ...] = ()
    """Instructions that refer to the turn before."""
    actions: Mapping[str, str] = field(default_factory=dict)
    """By kind: what the action does, with ``{place}`` for its first argument and ``{what}`` for the name of its second."""
    names: Mapping[str, str] = field(default_factory=dict)
    """By symbol: its name."""


def phrases_of(world: World[Any]) -> Phrases:
    """The world's own, else empty ones."""
    return world.phrases() or Phrases()


def in_words(world: World[Any], action: Action) -> str:
    """What an action does; where the world has no words for it, its slot and its edit.

    >>> from sestra.worlds import get_world
    >>> in_words(get_world("alchemy"), Action("push", ("7", "o")))
    'adds orange to beaker 7'
    """
    if action == STOP:
        return "stops"
    phrases = phrases_of(world)
    if action.kind not in phrases.actions:
        slot, arguments = (action.arguments[0], action.arguments[1:]) if world.slots > 1 else ("", action.arguments)
        edit = " ".join((action.kind.replace("_", " "), *(phrases.names.get(each, each.replace("_", " ")) for each in arguments)))
        return f"slot {slot}: {edit}" if slot else edit
    place, what, *_ = (*action.arguments, "", "")
    return phrases.actions[action.kind].format(place=place, what=phrases.names.get(what, ""))


def random_start(world: World[Any], rng: Random) -> tuple[Any, ...]:
    """A state to begin from: as the world's grammar begins an interaction, else any that edits make of empty slots."""
    if (grammar := world.grammar()) is not None:
        started: tuple[Any, ...] = grammar.start(rng).state
        return started
    contents = reachable(world)
    return tuple(rng.choice(contents) for _ in range(world.slots))


def reachable(world: World[Any]) -> list[Any]:
    """The contents that edits make of the empty one, it among them; all of them if it allows no edit."""
    found = [world.contents[0]]
    for content in found:
        made = (world.edit(content, edit) for edit in world.edits)
        found += [each for each in dict.fromkeys(made) if each is not None and each not in found]
    return found if len(found) > 1 else list(world.contents)


def example(world: World[Any]) -> Interaction:
    """The world's first example."""
    shown = phrases_of(world).examples
    if not shown:
        raise InputError(f"the world {world.name!r} has no example; expected a world that has one, or --seed for a generated interaction")
    states = (shown[0].start, *(state for _, state in shown[0].turns))
    return Interaction(f"example-{world.name}", tuple(map(world.parse, states)), shown[0].instructions)

"""What the page offers to say in a world, and actions in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any
from zlib import crc32

from sestra.agent import Agent
from sestra.data.examples import phrases_of, random_start
from sestra.data.synthetic import generate, next_turn
from sestra.errors import InputError
from sestra.serve.schemas import Example
from sestra.worlds import World

MAX_SUGGESTIONS = 4
ATTEMPTS = 12
OPENERS = ("first,", "to begin,")
"""How the grammars' first instructions may begin; a suggestion may come later."""


Stored = Sequence[Mapping[str, Any]]
"""Interactions of the training data, as an agent's folder has them."""


def examples(world: World[Any], count: int, seed: int | None, stored: Stored = ()) -> list[Example]:
    """The world's own examples first, then stored and generated ones; with a seed only generated ones.

    If nothing can be generated, there are random states without instructions.
    """
    if seed is None:
        own = phrases_of(world).examples
        shown = [Example(title=each.title, state=each.start, instructions=list(each.instructions)) for each in own]
        shown += [Example(title=each["instructions"][0], state=each["state"], instructions=each["instructions"]) for each in stored]
    else:
        shown = []
    if world.grammar() is not None and count > len(shown):
        for interaction in generate(world, count - len(shown), seed=seed or 0):
            state = interaction.states[0]
            assert state is not None  # a generated state is known
            shown.append(Example(title=interaction.instructions[0], state=world.format(state), instructions=list(interaction.instructions)))
    if not shown:
        rng = Random(seed or 0)
        states = [world.format(random_start(world, rng)) for _ in range(count)]
        shown = [Example(title=f"random state {number}", state=state, instructions=[]) for number, state in enumerate(states, start=1)]
    return shown[:count]


def suggestions(world: World[Any], state: tuple[Any, ...], *, spoken: bool, seed: int, stored: Stored = ()) -> list[str]:
    """Instructions that make sense in the state, the same for the same seed; after a turn (``spoken``) also one that refers to it.

    In a world without a grammar they are stored ones: such as begin an interaction, or after a turn any.
    """
    grammar, referring = world.grammar(), phrases_of(world).referring
    rng = Random(crc32(f"{world.name} {world.format(state)} {spoken} {seed}".encode()))
    if grammar is None:
        said = dict.fromkeys(text for each in stored for text in each["instructions"][: None if spoken else 1])
        return rng.sample(list(said), min(len(said), MAX_SUGGESTIONS))
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


def agent_label(agent: Agent) -> str:
    """What an agent is called where one is chosen: its name, with a word for the best of those that ship.

    >>> agent_label(Agent.from_pretrained("alchemy")), agent_label(Agent.from_pretrained("alchemy-sestra"))
    ('alchemy (best)', 'alchemy-sestra')
    """
    return f"{agent.name} (best)" if agent.shipped and agent.name == agent.world.name else agent.name


def agent_in_words(agent: Agent) -> str:
    """What an agent is: its policy, its learner and the number of its networks, as far as its folder says.

    >>> agent_in_words(Agent.from_pretrained("alchemy-sestra"))
    'attention policy, sestra'
    """
    training: Mapping[str, Any] = agent.about.training
    config, chosen = training.get("config"), training.get("chosen")
    policy = config.get("policy") if isinstance(config, dict) else None
    members = chosen.get("members") if isinstance(chosen, dict) else None
    parts = [
        f"{policy['name']} policy" if isinstance(policy, dict) and "name" in policy else "",
        str(training.get("learner", "")),
        f"ensemble of {len(members)}" if isinstance(members, list) else "",
    ]
    return ", ".join(part for part in parts if part)

"""Environments for tests: a few interactions of each world."""

from __future__ import annotations

import gymnasium

from sestra.data.scone import Interaction
from sestra.data.synthetic import generate
from sestra.worlds import WORLDS, get_world

NAMES = sorted(WORLDS.names())
FEW = {name: generate(name, 12, seed=3) for name in NAMES}
START, MIDDLE, END = "1:r 2:_ 3:_ 4:_ 5:_ 6:_ 7:g", "1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:g", "1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:gr"


def identifier(name: str) -> str:
    return f"sestra/{name.capitalize()}-v0"


def make(name: str, **settings) -> gymnasium.Env:
    return gymnasium.make(identifier(name), **{"interactions": FEW[name], **settings})


def act(env: gymnasium.Env, *texts: str) -> list[tuple]:
    world = env.unwrapped.world
    return [env.step(world.action_indices[world.parse_action(text)])[1:] for text in texts]


def two_instructions() -> gymnasium.Env:
    """Two instructions: empty the first beaker, then put its red unit into the last."""
    parse = get_world("alchemy").parse
    interaction = Interaction("mine", (parse(START), parse(MIDDLE), parse(END)), ("throw out the first beaker", "add red to the last one"))
    return make("alchemy", interactions=[interaction])

"""Gymnasium environments: ``import sestra.envs``, then ``gymnasium.make("sestra/Alchemy-v0")`` or ``gymnasium.make_vec(...)``.

Without the import, ``gymnasium.make("sestra.envs:sestra/Alchemy-v0")`` does the same.
"""

from __future__ import annotations

import re

import gymnasium

from sestra.envs.single import InstructionEnv
from sestra.envs.vector import InstructionVectorEnv
from sestra.worlds import WORLDS

__all__ = ["InstructionEnv", "InstructionVectorEnv", "register"]


def register(world: str) -> None:
    """Make a world known to Gymnasium: ``alchemy`` as ``sestra/Alchemy-v0``, ``my-shelf`` as ``sestra/MyShelf-v0``.

    Every world that has a name is registered by itself: those that are built in or installed when this package is imported, others when
    ``sestra.worlds.WORLDS.register`` is called.
    """
    words = [word for word in re.split(r"[^A-Za-z0-9]+", world) if word]
    identifier = f"sestra/{''.join(word[0].upper() + word[1:] for word in words)}-v0"
    if words and identifier not in gymnasium.registry:
        single, vector = "sestra.envs.single:InstructionEnv", "sestra.envs.vector:InstructionVectorEnv"
        gymnasium.register(identifier, single, vector_entry_point=vector, kwargs={"world": world})


for _world in WORLDS.names():
    register(_world)
WORLDS.listeners.append(register)

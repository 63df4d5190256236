"""Gymnasium environments: ``import sestra.envs``, then ``gymnasium.make("sestra/Alchemy-v0")`` or ``gymnasium.make_vec(...)``.

Without the import, ``gymnasium.make("sestra.envs:sestra/Alchemy-v0")`` does the same.
"""

from __future__ import annotations

import gymnasium

from sestra.envs.single import InstructionEnv
from sestra.envs.vector import InstructionVectorEnv
from sestra.worlds import WORLDS

__all__ = ["InstructionEnv", "InstructionVectorEnv", "register"]


def register() -> None:
    """Make ``sestra/Alchemy-v0`` and its like known to Gymnasium, one per world."""
    for name in WORLDS.names():
        identifier = f"sestra/{name.capitalize()}-v0"
        if identifier not in gymnasium.registry:
            single, vector = "sestra.envs.single:InstructionEnv", "sestra.envs.vector:InstructionVectorEnv"
            gymnasium.register(identifier, single, vector_entry_point=vector, kwargs={"world": name})


register()

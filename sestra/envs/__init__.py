"""Gymnasium environments: ``import sestra.envs``, then ``gymnasium.make("sestra/Alchemy-v0")`` or ``gymnasium.make_vec(...)``.

Without the import, ``gymnasium.make("sestra.envs:sestra/Alchemy-v0")`` does the same. Nothing heavy is loaded before one is made.
"""

from __future__ import annotations

import gymnasium

from sestra.worlds import WORLDS


def register() -> None:
    """Make ``sestra/Alchemy-v0`` and its like known to Gymnasium, one per world."""
    for name in WORLDS.names():
        identifier = f"sestra/{name.capitalize()}-v0"
        if identifier not in gymnasium.registry:
            gymnasium.register(
                identifier,
                entry_point="sestra.envs.single:InstructionEnv",
                vector_entry_point="sestra.envs.vector:InstructionVectorEnv",
                kwargs={"world": name},
            )


register()

"""Gymnasium environments: ``import sestra.envs``, then ``gymnasium.make("sestra/Alchemy-v0")`` or ``gymnasium.make_vec(...)``.

Without the import, ``gymnasium.make("sestra.envs:sestra/Alchemy-v0")`` does the same. Nothing heavy is loaded before one is made.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import gymnasium

from sestra.worlds import WORLDS

__all__ = ["InstructionEnv", "InstructionVectorEnv", "register"]

if TYPE_CHECKING:
    from sestra.envs.single import InstructionEnv
    from sestra.envs.vector import InstructionVectorEnv


_MODULES = {"InstructionEnv": "sestra.envs.single", "InstructionVectorEnv": "sestra.envs.vector"}


def __getattr__(name: str) -> object:
    """The classes are imported when they are first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


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

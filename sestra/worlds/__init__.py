"""The worlds, and the registry that finds one by its name."""

from __future__ import annotations

from functools import cache
from typing import Any

from sestra.errors import InputError
from sestra.worlds.alchemy.world import Alchemy
from sestra.worlds.base import STOP, Action, Edit, StateError, World
from sestra.worlds.scene.world import Scene
from sestra.worlds.tangrams.world import Tangrams

WORLDS: dict[str, type[World[Any]]] = {world.name: world for world in (Alchemy, Scene, Tangrams)}

__all__ = ["STOP", "WORLDS", "Action", "Alchemy", "Edit", "Scene", "StateError", "Tangrams", "World", "get_world"]


@cache
def get_world(name: str) -> World[Any]:
    """The world of that name; add your own class to ``WORLDS``."""
    if name not in WORLDS:
        raise InputError(f"unknown world {name!r}; expected one of {', '.join(WORLDS)}")
    return WORLDS[name]()

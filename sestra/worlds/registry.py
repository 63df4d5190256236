"""The worlds by name: built in, installed, registered in Python, or in a file."""

from __future__ import annotations

from functools import cache
from typing import Any

from sestra.registry import Registry
from sestra.worlds.base import World

WORLDS: Registry[type[World[Any]]] = Registry(
    "world",
    "sestra.worlds",
    {
        "alchemy": "sestra.worlds.alchemy.world:Alchemy",
        "scene": "sestra.worlds.scene.world:Scene",
        "tangrams": "sestra.worlds.tangrams.world:Tangrams",
    },
    fits=lambda found: isinstance(found, type) and issubclass(found, World),
    expected="a subclass of sestra.worlds.World",
)
"""``WORLDS.register("lamps", Lamps)`` adds one in Python; a package adds one with an entry point of the group ``sestra.worlds``."""


def get_world(reference: str | World[Any]) -> World[Any]:
    """The world that a reference names: ``alchemy``, ``path/to/file.py:Class`` or ``package.module:Class``; one instance per class.

    A world itself is given back, so that functions can take either.
    """
    return reference if isinstance(reference, World) else _instance(WORLDS.get(reference))


@cache
def _instance(kind: type[World[Any]]) -> World[Any]:
    return kind()

"""Worlds: what one is, and the registry that finds one by its name. Each world's class is in its own folder."""

from sestra.worlds.base import STOP, Action, Edit, Settings, StateError, World
from sestra.worlds.registry import WORLDS, get_world

__all__ = ["STOP", "WORLDS", "Action", "Edit", "Settings", "StateError", "World", "get_world"]

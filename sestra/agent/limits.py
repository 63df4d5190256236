"""The longest input that an agent accepts, from Python, from the command line and over HTTP alike."""

from __future__ import annotations

from functools import cache
from typing import Any

from sestra.worlds.base import World

MAX_INSTRUCTION_LENGTH = 1_000
"""Characters of one instruction."""
MIN_STATE_LENGTH = 200
"""Characters of a state that every world accepts, if only to say what is wrong with them."""
MAX_WORDS = 1_000
"""Words and punctuation marks in all instructions of an interaction together: the time for a turn grows with them."""


@cache
def max_state_length(world: World[Any]) -> int:
    """Characters of one state: as many as the longest state of the world has."""
    return max(MIN_STATE_LENGTH, *(len(world.format((content,) * world.slots)) for content in world.contents))

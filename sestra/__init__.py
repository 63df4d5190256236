"""Agents that follow sequences of natural-language instructions, learnt from start and goal states alone."""

from typing import TYPE_CHECKING

from sestra.version import __version__

__all__ = ["Agent", "__version__"]

if TYPE_CHECKING:
    from sestra.agent import Agent
else:

    def __getattr__(name: str) -> object:
        """``Agent`` is imported when it is asked for, since torch takes a second to load."""
        if name != "Agent":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sestra.agent import Agent

        return Agent

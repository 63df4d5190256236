"""Agents that follow sequences of natural-language instructions, learnt from start and goal states alone."""

from typing import TYPE_CHECKING

from sestra.version import __version__

__all__ = ["Agent", "Callback", "Run", "__version__", "train"]

if TYPE_CHECKING:
    from sestra.agent import Agent
    from sestra.learning.callbacks import Callback
    from sestra.learning.run import Run, train
else:
    PLACES = {
        "Agent": "sestra.agent",
        "Callback": "sestra.learning.callbacks",
        "Run": "sestra.learning.run",
        "train": "sestra.learning.run",
    }

    def __getattr__(name: str) -> object:
        """What is imported when it is asked for: torch, which training needs, takes seconds to load."""
        from importlib import import_module

        if name not in PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            return getattr(import_module(PLACES[name]), name)
        except ModuleNotFoundError as error:
            if PLACES[name].startswith("sestra.learning") and not (error.name or "sestra").startswith("sestra"):
                error.msg = f"sestra.{name} needs the package {error.name}; install it with: pip install 'sestra[train]'"
            raise

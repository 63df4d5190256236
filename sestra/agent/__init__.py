"""What other programs import: ``Agent`` follows instructions, and its traces say what it did and why."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["Agent", "Context", "Decoding", "How", "Session", "Trace", "Turn"]

if TYPE_CHECKING:
    from sestra.agent.agent import Agent
    from sestra.agent.options import Decoding, How
    from sestra.agent.session import Session
    from sestra.agent.trace import Context, Trace, Turn
else:
    _MODULES = {"Agent": "agent", "Decoding": "options", "How": "options", "Session": "session"}

    def __getattr__(name: str) -> object:
        """Imported on first use: an agent needs ONNX Runtime, but the options of the command line do not."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'trace')}"), name)

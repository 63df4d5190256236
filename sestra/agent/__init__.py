"""What other programs import: ``Agent`` follows instructions, and its traces tell what it did and why."""

from __future__ import annotations

from sestra.agent.agent import Agent, How, Interaction
from sestra.agent.trace import Context, Trace, Turn

__all__ = ["Agent", "Context", "How", "Interaction", "Trace", "Turn"]

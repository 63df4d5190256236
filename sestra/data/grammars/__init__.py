"""The grammars, one a world; a world of your own gets one line here."""

from __future__ import annotations

from sestra.data.grammars import alchemy, scene, tangrams
from sestra.data.grammars.base import Context, Grammar, Meaning, Phenomenon, Phrase, Turn, Voice, say

GRAMMARS: dict[str, Grammar] = {"alchemy": alchemy, "scene": scene, "tangrams": tangrams}

__all__ = ["GRAMMARS", "Context", "Grammar", "Meaning", "Phenomenon", "Phrase", "Turn", "Voice", "say"]

"""The grammars, one a world; a world of your own gets one line here."""

from __future__ import annotations

from sestra.data.grammar import Context, Grammar, Meaning, Phenomenon, Phrase, Turn, Voice, say
from sestra.worlds.alchemy import grammar as alchemy
from sestra.worlds.scene import grammar as scene
from sestra.worlds.tangrams import grammar as tangrams

GRAMMARS: dict[str, Grammar] = {"alchemy": alchemy, "scene": scene, "tangrams": tangrams}

__all__ = ["GRAMMARS", "Context", "Grammar", "Meaning", "Phenomenon", "Phrase", "Turn", "Voice", "say"]

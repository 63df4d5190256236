"""How people speak of the boxes, for the error analysis."""

from __future__ import annotations

from sestra.analysis.changes import WorldAnalysis
from sestra.analysis.language import COLOURS, ORDINALS, Language

ANALYSIS = WorldAnalysis(
    Language(
        nouns=r"box(?:es)?|crates?|ones?",
        descriptions=rf"{COLOURS}|{ORDINALS}|left|right",
        verbs=r"put|place|set|remove|take|move|swap|switch|paint|turns?|undo|do",
        returning=r"back",
    )
)

"""What the error analysis knows of Tangrams: how people refer to things, and how changes are read."""

from __future__ import annotations

from collections import Counter

from sestra.analysis.changes import Change, WorldAnalysis
from sestra.analysis.language import ORDINALS, Language
from sestra.analysis.paper import Cause, PaperCounts
from sestra.data.scone import State

LANGUAGE = Language(
    nouns=r"figures?|fig|figured|objects?|items?|things?|shapes?|pieces?|images?|pictures?|icons?|tangrams?|ones?|blocks?|symbols?",
    descriptions=rf"{ORDINALS}|front|end|left|right|both|all|other|two|three|\d",
    verbs=r"remov\w*|delet\w*|swap\w*|switch\w*|add\w*|put\w*|insert\w*|tak\w*|took|bring\w*|brought|return\w*|mov\w*|plac\w*|replac\w*|"
    r"get|rid|undo|eras\w*|restor\w*|exchang\w*|trad\w*|flip\w*|revers\w*|interchang\w*|do|does|did|disappear\w*|vanish\w*|appear\w*|"
    r"leav\w*|com\w*|is|are|was|chang\w*|drop\w*|discard\w*|eliminat\w*|reappear\w*|reinsert\w*|go|goes|re|make|set|use|load|shift\w*|"
    r"subtract\w*|throw\w*|toss\w*|un|repeat\w*|redo|dispos\w*|send|give\w*|turn|rotate|invert|keep|clear|cut|pull|pick|hide|kill|"
    r"transfer\w*|transpose|reposition|rearrange|let|have|has|revert\w*|lose|empty|drag|push|slide|copy|stay\w*|happens?|switxh|remvoe|detele",
    via_action=r"(?<!^)(?<!then )(?:just |previously |last |you |we |i |was |were )*"
    r"(?:removed|deleted|taken|took|disappeared|discarded|missing|gone|vanished|eliminated|swapped|switched|erased|replaced)\b",
    placing=r"add(?:ed)?|put|br(?:ing|ought)|return(?:ed)?|insert(?:ed)?|restored?|re - ?add|replaced?|placed?",
    places=rf"{ORDINALS}|positions?|spots?|places?|slots?|front|end|beginning|start|between|left|right|space|where|before|after|locations?|"
    r"\d|next|one|two|three|four|five|step|row|line|behind|beside|with",
)


def changes(before: State, after: State) -> Counter[Change]:
    old, new = before[0], after[0]
    found = Counter(Change("remove", figure) for figure in old if figure not in new)
    found += Counter(Change("insert", figure) for figure in new if figure not in old)
    stayed, stay = [f for f in old if f in new], [f for f in new if f in old]
    return found + Counter(Change("move", figure) for figure, other in zip(stayed, stay, strict=True) if figure != other)


def changed(before: State, after: State) -> frozenset[str]:
    """The figures themselves."""
    return frozenset(change.thing for change in changes(before, after))


def restores(start: State, goal: State) -> bool:
    """Whether a figure comes into the row: every figure was in it once."""
    return bool({*goal[0]} - {*start[0]})


PAPER = PaperCounts(
    references={
        ("coreference", "object"): (13, 0, 0, 0),
        ("coreference", "object via action"): (6, 10, 2, 1),
        ("coreference", "position"): (0, 2, 0, 0),
        ("coreference", "action"): (5, 2, 0, 0),
        ("coreference", "action and arguments"): (1, 0, 0, 0),
        ("ellipsis", "position"): (3, 0, 0, 0),
        ("ellipsis", "action and arguments"): (1, 0, 0, 0),
    },
    per_interaction=1.7,
    resolved=76.0,
    causes={Cause.STATE: 7, Cause.MULTI_TURN: 13, Cause.IMPOSSIBLE: 13, Cause.LABEL: 12},
)
ANALYSIS = WorldAnalysis(LANGUAGE, changes, changed, restores=restores, paper=PAPER)

"""What the error analysis knows of Alchemy: how people refer to things, and how changes are read."""

from __future__ import annotations

from collections import Counter

from sestra.analysis.changes import Change, WorldAnalysis
from sestra.analysis.language import COLOURS, ORDINALS, Language
from sestra.analysis.paper import Cause, PaperCounts
from sestra.data.scone import State

LANGUAGE = Language(
    nouns=r"beakers?|be[ea]kers?|breakers?|bakers?|flasks?|jars?|containers?|vials?|tubes?|glass(?:es)?|cups?|chemicals?|liquids?|"
    r"fluids?|substances?|mixtures?|solutions?|contents?|ones?|colou?rs?",
    descriptions=rf"{COLOURS}|{ORDINALS}|both|all|everything|half|left|right|seven|next",
    verbs=r"throw\w*|pour\w*|poor|pout|pur|por|drain\w*|empt\w*|dump\w*|remov\w*|discard\w*|get|tip|toss\w*|mix\w*|stir\w*|shak\w*|blend\w*|"
    r"turn\w*|becom\w*|chang\w*|add\w*|put\w*|transfer\w*|tak\w*|clear\w*|combin\w*|mov\w*|finish\w*|is|are|mak\w*|form\w*|creat\w*|"
    r"dispos\w*|reduc\w*|leav\w*|let|wait|watch|undo|delet\w*|subtract\w*|spill\w*|swirl\w*|swap\w*|switch\w*|replac\w*|fill\w*|"
    r"trash|us\w*|plac\w*|lose\w*|eliminat\w*|deplet\w*|decreas\w*|agitat\w*|merg\w*|rid|thro|through|trow|drop|go|goes|give|keep|"
    r"measure|do|continue|wash|clean|separate|bring|allow|observe|set|skip|return",
    amounts=r"(?:one|two|three|four|a|single|another|\d)(?: more| of| last| single| additional| final| remaining)*"
    r" (?:units?|parts?|portions?|more|measures?|sections?|times?)|what(?: is| 's|'s)? (?:left|remains)|the rest|remainder|"
    r"remaining (?:chemicals?|liquids?|fluids?|substances?|contents?|units?|portions?|parts?|one|ones)",
    returning=r"back(?! ?, )\b(?! (?:of|row|beaker|in|into|to))",
    definite=r"the (?:beaker|flask|jar|container|mixture|solution)(?= ,|$)",
)


def changes(before: State, after: State) -> Counter[Change]:
    found: Counter[Change] = Counter()
    for slot, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        if old.startswith(new):
            kind = "drain"
        elif new.startswith(old):
            kind = "fill"
        else:
            kind = "mix" if set(new) == {"b"} else "change"
        found[Change(kind, slot)] += 1
    return found


PAPER = PaperCounts(
    references={
        ("coreference", "object"): (24, 7, 2, 0),
        ("coreference", "action"): (3, 0, 0, 0),
        ("coreference", "action and arguments"): (1, 0, 0, 0),
        ("ellipsis", "object"): (0, 0, 3, 1),
    },
    per_interaction=1.4,
    resolved=92.3,
    causes={Cause.STATE: 23, Cause.MULTI_TURN: 12, Cause.IMPOSSIBLE: 2, Cause.LABEL: 2},
)
ANALYSIS = WorldAnalysis(LANGUAGE, changes, paper=PAPER)

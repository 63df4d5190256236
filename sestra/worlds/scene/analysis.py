"""What the error analysis knows of Scene: how people refer to things, and how changes are read."""

from __future__ import annotations

from collections import Counter

from sestra.analysis.changes import Change, WorldAnalysis
from sestra.analysis.language import COLOURS, Language
from sestra.analysis.paper import Cause, PaperCounts
from sestra.data.scone import State
from sestra.worlds.scene.world import NONE

LANGUAGE = Language(
    nouns=r"persons?|people|man|men|woman|women|guys?|girls?|boys?|someone|somebody|one|ones|figures?|clone|twin|fellow|dude|individual|"
    r"\w+'s|neighbor|friend|shirts?|shirted|wearer",
    descriptions=rf"{COLOURS}|everyone|everybody|nobody|none|two|three|four|all|both|each|himself|hatless|another|nothing|no|hats?",
    verbs=r"mov\w*|go|goes|went|gone|walk\w*|appear\w*|app\w+|disap\w*|dissap\w*|leaves?|leaving|exit\w*|enter\w*|arriv\w*|com\w*|came|"
    r"show\w*|tak\w*|took|giv\w*|gave|put\w*|trad\w*|switch\w*|swap\w*|exchang\w*|steal\w*|stole|join\w*|stepped|stand\w*|"
    r"stood|stay\w*|remain\w*|remov\w*|relocat\w*|return\w*|vanish\w*|is|are|was|were|be|has|have|had|get\w*|got|gain\w*|receiv\w*|"
    r"pass\w*|hand\w*|wears?|wore|run\w*|ran|shift\w*|slid\w*|scoot\w*|jump\w*|hop\w*|turn\w*|chang\w*|replac\w*|repeat\w*|do|does|"
    r"did|los\w*|lost|reappear\w*|travel\w*|approach\w*|depart\w*|walked|pop\w*|spawn\w*|add\w*|wait\w*|sit\w*|sat|stop\w*|head(?:s|ed)|"
    r"grab\w*|snatch\w*|borrow\w*|keep\w*|make\w*|made|proceed\w*|happen\w*|race\w*|follow\w*|drop\w*|toss\w*|lend\w*|scoot\w*|"
    r"snuggl\w*|watch\w*|look\w*|materiali\w*|teleport\w*|mvoes|moes|advance\w*|back(?:s|ed)|wander\w*|draw\w*|visit\w*|occup\w*",
    returning=r"(?:moves?|moved|goes|went|walks|walked|comes|came|steps|stepped|jumps|jumped) back\b"
    r"(?! (?:all the way )?(?:to (?:the )?(?:far )?(?:left|right|middle|center)|next to|beside|between))|"
    r"return(?:s|ed)?|re - ?appear\w*|reappear\w*",
    definite=r"the hat(?= back)",
    taking=r"takes?|took|steals?|stole|grabs?",
    subjectless=r"(?:moves|moved|goes|went|walks|leaves|takes|took|gives|gave|exits|disappears|returns|steps|trades|switches|puts|comes|to|back|"
    r"all the way|directly|next to|in between|between|(?:one|two|three|four|a|an|\d) (?:more )?(?:space|spot|place|step|position)s?)\b",
    complete=r"\b(?:nothing|no one|nobody)\b",
)


def changes(before: State, after: State) -> Counter[Change]:
    """Moves are recognised by the shirt: whoever leaves one place and comes to another in the same shirt has moved."""
    found: Counter[Change] = Counter()
    pairs = list(enumerate(zip(before, after, strict=True)))
    gone = [(slot, old) for slot, (old, new) in pairs if old[0] not in (NONE, new[0])]
    come = [(slot, new) for slot, (old, new) in pairs if new[0] not in (NONE, old[0])]
    for slot, old in gone:
        arrival = next((other for other in come if other[1][0] == old[0]), None)
        if arrival:
            come.remove(arrival)
        found[Change("move" if arrival else "leave", slot)] += 1
    for _, new in come:
        found[Change("appear", new)] += 1
    for slot, (old, new) in pairs:
        if old[0] == new[0] and old[1] != new[1]:
            found[Change("hat", slot)] += 1
    return found


def origins(before: State, after: State) -> dict[int, int]:
    """Of everybody who moved, where from."""
    gone = {slot: old for slot, (old, new) in enumerate(zip(before, after, strict=True)) if old[0] not in (NONE, new[0])}
    found: dict[int, int] = {}
    for slot, (old, new) in enumerate(zip(before, after, strict=True)):
        if new[0] not in (NONE, old[0]):
            source = next((other for other, person in gone.items() if person[0] == new[0] and other not in found.values()), None)
            found |= {} if source is None else {slot: source}
    return found


def somebody(state: State, slot: int) -> bool:
    """Whether a person stands there."""
    return bool(state[slot][0] != NONE)


PAPER = PaperCounts(
    references={
        ("coreference", "object"): (44, 16, 5, 3),  # people, and two hats in the turn before
        ("coreference", "position"): (2, 0, 0, 0),
        ("coreference", "action and arguments"): (3, 0, 0, 0),
    },
    per_interaction=2.4,
    resolved=88.7,
    causes={Cause.STATE: 13, Cause.MULTI_TURN: 5, Cause.IMPOSSIBLE: 5, Cause.LABEL: 19},
)
ANALYSIS = WorldAnalysis(LANGUAGE, changes, origins=origins, neighbours=somebody, paper=PAPER)

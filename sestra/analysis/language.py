"""How speakers refer back, as data: regular expressions over an instruction's lower-case tokens, joined by blanks.

The lists were made by reading the grammars' sentences, samples of SCONE's dev splits and counts of the words in train and dev, so agreement
with any of these flatters them; ``docs/analysis.md`` has figures on instructions that were not looked at before.
"""

from __future__ import annotations

from dataclasses import dataclass

COLOURS = r"blue|brown|green|orange|purple|violet|red|yellow|black|maroon"
ORDINALS = (
    r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th)|last|middle|cent(?:er|re|ral)|"
    r"left ?most|right ?most|furthest|farthest|final"
)
THINGS = r"beaker|flask|jar|container|one|person|man|woman|guy|figure|object|item|thing|chemical|liquid|hat"
BREAK = r",|;|\.|and|then|until|but|so|while|after|before|except"
"""What ends a clause: "take the red beaker and pour it out" has its own "it", "add the red beaker to it" has not."""

ACTION = (
    r"again(?! ,? ?put\b)",
    r"(?:repeat|redo|re - do|likewise|ditto)\w*",
    r"do (?:it|that|this|so)\b|does (?:it|that|this|so)\b|did (?:it|that|this|so)\b|so (?:do|does|did)\b",
    rf"same(?! (?:{THINGS}|place|spot|position|location|space|slot|colou?r)\b)",
)
"""An earlier turn's doing."""
STATE = (
    r"(?:undo|un - do|undid|reverse|revert)\w*",
    r"(?:original|old|previous|former|prior|earlier|initial)(?:ly)? (?:\w+ )?(?:place|spot|position|location|space|slot|state|order)s?",
    r"where (?:it|he|she|they|\w+ \w+) (?:was|were|came|had been|used to be|started|stood)",
    r"same (?:place|spot|position|location|space|slot)s?",
)
"""What was so before."""
OBJECT = (
    r"(?:that|this|these|those)(?= |$)",
    rf"same (?:{THINGS})",
    r"(?<!each )others?(?= |$)",
    r"identical|just like",
    r"(?:just|previously|recently) \w+(?:ed|ken)\b",
)
"""A thing of an earlier turn, apart from pronouns."""
STEP = (
    r"(?:steps?|action|instruction) ?(?:number )?(\d+|one|two|three|four|five)\b(?! (?:space|spot|place|position)s?\b| to\b)|"
    r"(first|second|third|fourth|fifth|last|previous|prior|preceding) (?:step|action|instruction|turn)\b"
)
"""A turn that is named by its number or its order."""

SUBJECTS = r"he|she|they|he's|she's|they're"
POSSESSIVES = r"his|her|hers|their|its"
OBJECTS = r"it|them|him|it's"


@dataclass(frozen=True)
class Language:
    """One world's words."""

    nouns: str
    """What things are called; a definite one before a pronoun may be what the pronoun means."""
    descriptions: str
    """Whatever else tells which thing is meant."""
    verbs: str = ""
    """What is done; an instruction without any leaves it out. Empty: nobody knows."""
    amounts: str = r"$^"
    """Numbers of units, which look like descriptions and are none."""
    states: tuple[str, ...] = ()
    """More ways to speak of what was so before."""
    placing: str = ""
    """Verbs that need a place to be said, unless it is left out."""
    places: str = ""
    """What says a place."""
    subjectless: str = r"$^"
    """How an instruction begins that leaves out who acts."""
    complete: str = r"$^"
    """Instructions that have no object because they need none."""


LANGUAGES: dict[str, Language] = {
    "alchemy": Language(
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
        states=(r"back(?! ?, )\b(?! (?:of|row|beaker))",),
    ),
    "scene": Language(
        nouns=r"persons?|people|man|men|woman|women|guys?|girls?|boys?|someone|somebody|one|ones|figures?|clone|twin|fellow|dude|individual|"
        r"\w+'s|neighbor|friend|shirts?|shirted|wearer",
        descriptions=rf"{COLOURS}|everyone|everybody|nobody|none|two|three|four|all|both|each|himself|hatless|another|nothing|no|hats?",
        verbs=r"mov\w*|go|goes|went|gone|walk\w*|appear\w*|app\w+|disap\w*|dissap\w*|leaves?|leaving|exit\w*|enter\w*|arriv\w*|com\w*|came|"
        r"show\w*|tak\w*|took|giv\w*|gave|put\w*|trad\w*|switch\w*|swap\w*|exchang\w*|steal\w*|stole|join\w*|stepped|stand\w*|"
        r"stood|stay\w*|remain\w*|remov\w*|relocat\w*|return\w*|vanish\w*|is|are|was|were|be|has|have|had|get\w*|got|gain\w*|receiv\w*|"
        r"pass\w*|hand\w*|wears?|wore|run\w*|ran|shift\w*|slid\w*|scoot\w*|jump\w*|hop\w*|turn\w*|chang\w*|replac\w*|repeat\w*|do|does|"
        r"did|los\w*|lost|reappear\w*|travel\w*|approach\w*|depart\w*|walked|pop\w*|spawn\w*|add\w*|wait\w*|sit\w*|sat|stop\w*|head(?:s|ed)|"
        r"grab\w*|snatch\w*|borrow\w*|keep\w*|make\w*|made|proceed\w*|happen\w*|race\w*|follow\w*|drop\w*|toss\w*|lend\w*|scoot\w*|"
        r"snuggl\w*|watch\w*|look\w*|materiali\w*|teleport\w*|mvoes|moes|advance\w*|back(?:s|ed)|wander\w*|visit\w*|occup\w*",
        states=(r"back\b(?! of)", r"return\w*", r"re - ?appear\w*|reappear\w*"),
        subjectless=r"(?:moves|moved|goes|went|walks|leaves|takes|took|gives|gave|exits|disappears|returns|steps|trades|switches|puts|comes|to|back|"
        r"all the way|directly|next to|in between|between|(?:one|two|three|four|a|an|\d) (?:more )?(?:space|spot|place|step|position)s?)\b",
        complete=r"\b(?:nothing|no one|nobody)\b",
    ),
    "tangrams": Language(
        nouns=r"figures?|fig|figured|objects?|items?|things?|shapes?|pieces?|images?|pictures?|icons?|tangrams?|ones?|blocks?|symbols?",
        descriptions=rf"{ORDINALS}|front|end|left|right|both|all|other|two|three|\d",
        verbs=r"remov\w*|delet\w*|swap\w*|switch\w*|add\w*|put\w*|insert\w*|tak\w*|took|bring\w*|brought|return\w*|mov\w*|plac\w*|replac\w*|"
        r"get|rid|undo|eras\w*|restor\w*|exchang\w*|trad\w*|flip\w*|revers\w*|interchang\w*|do|does|did|disappear\w*|vanish\w*|appear\w*|"
        r"leav\w*|com\w*|is|are|was|chang\w*|drop\w*|discard\w*|eliminat\w*|reappear\w*|reinsert\w*|go|goes|re|make|set|use|load|shift\w*|"
        r"subtract\w*|throw\w*|toss\w*|un|repeat\w*|redo|dispos\w*|send|give\w*|turn|rotate|invert|keep|clear|cut|pull|pick|hide|kill|"
        r"transfer\w*|transpose|reposition|rearrange|let|have|has|revert\w*|lose|empty|drag|push|slide|copy|stay\w*|happens?|switxh|remvoe|detele",
        states=(
            r"(?:removed|deleted|taken|took|disappeared|discarded|missing|gone|vanished|eliminated|swapped|switched|erased|replaced)",
            r"(?:back|return\w*|restor\w*|reappear\w*|re - ?add\w*|re - ?insert\w*|reinsert\w*|readd)",
        ),
        placing=r"add|put|bring|return|insert|restore|re - ?add|replace|place",
        places=rf"{ORDINALS}|positions?|spots?|places?|slots?|front|end|beginning|start|between|left|right|space|where|before|after|locations?|"
        r"\d|next|one|two|three|four|five|step|row|line|behind|beside|with",
    ),
}
OTHERWISE = Language(nouns=r"ones?|things?|objects?", descriptions=rf"{COLOURS}|{ORDINALS}|\d")
"""For any other world: pronouns, repetition and undoing are found, left-out words are not."""

"""How instructions refer to earlier turns, as data: regular expressions over an instruction's lower-case tokens, joined by blanks.

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
"""An earlier turn's action."""
STATE = (
    r"(?:undo|un - do|undid|reverse|revert)\w*",
    r"(?:original|old|previous|former|prior|earlier|initial)(?:ly)? (?:\w+ )?(?:place|spot|position|location|space|slot|state|order)s?",
    r"where (?:it|he|she|they|\w+ \w+) (?:was|were|came|had been|used to be|started|stood)",
    r"same (?:place|spot|position|location|space|slot)s?",
)
"""An earlier state."""
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
    """The words of one world. The defaults are for any world: pronouns, repetition and undoing are found, omitted words are not."""

    nouns: str = r"ones?|things?|objects?"
    """What things are called; a definite one before a pronoun may be what the pronoun means."""
    descriptions: str = rf"{COLOURS}|{ORDINALS}|\d"
    """Whatever else says which thing is meant."""
    verbs: str = ""
    """What is done; an instruction without any omits it. Empty: unknown, and no omitted words are looked for."""
    amounts: str = r"$^"
    """Numbers of units, which look like descriptions and are none."""
    states: tuple[str, ...] = ()
    """More ways to refer to an earlier state."""
    placing: str = ""
    """Verbs that need a place, unless it is omitted."""
    places: str = ""
    """Words that name a place."""
    subjectless: str = r"$^"
    """How an instruction begins that omits who acts."""
    complete: str = r"$^"
    """Instructions that have no object because they need none."""

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

AGAIN = r"again(?! ,? ?put\b)"
"""An earlier turn's action, unless a verb beside it says what is done: "mix it again" does not refer to an action."""
ACTION = (
    r"(?:repeat|redo|re - do|likewise|ditto)\w*",
    r"(?:do|does|did) (?:it|that|this|so)\b|so (?:do|does|did)\b",
    rf"(?:(?:do|does|did) )?(?:the )?same(?! (?:{THINGS}|place|spot|position|location|space|slot|colou?r)\b)",
)
"""An earlier turn's action."""
UNDOING = r"(?:undo|un - do|undid|reverse|revert)\w*"
"""An earlier turn, of which everything is omitted."""
BEGINNING = (
    r"^(?:(?:after|before) (?:that|this)|(?:first|second|third|fourth|fifth|last|now|next|finally)(?= ,)|"
    r"the (?:first|second|third|fourth|fifth|last|next|final) (?:step|thing) is to) ?,? ?"
)
"""What connects an instruction with the turn before and refers to nothing."""
BESIDE = r"\b(?:to|at) $|\b(?:appear|stand|arrive|come|enter|show up|move)(?:s|ed)? (?:\w+ )?on $"
"""Before a possessive, a place beside somebody else than the one who acts: "moves to his left"."""
PLURAL = r"them|they|their|they're|these|those"
PLACES = r"(?:place|spot|position|location|space|slot)s?"
POSITION = (
    rf"(?:(?:the|his|her|its|it's|their) )?(?:original|old|previous|former|prior|earlier|initial)(?:ly)? (?:\w+ )?(?:{PLACES}|state|order)",
    r"where (?:it|he|she|they|\w+ \w+) (?:was|were|came|had been|used to be|started|stood)",
    rf"same {PLACES}",
)
"""A place that an earlier turn knew; a pronoun in these words is no reference of its own."""
PLACE_OF = rf"\b(?:in|into|to|at) (?:his|her|its|their) {PLACES}"
"""The place of a thing that an earlier turn spoke of: a reference to both."""
VIA_ACTION = r"(?:just|previously|recently) (?:\w+ed|taken|took)\b"
"""A thing, by what an earlier turn did to it."""
OBJECT = (
    r"(?:that|this|these|those)(?= |$)(?! (?:time|same)\b)",
    rf"same (?:{THINGS})",
    r"(?<!each )others?(?= |$)(?! (?:side|end|direction|way)\b)",
    r"identical|just like",
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
SAME_REFERENT = (
    frozenset({"he", "she", "his", "her", "hers", "he's", "she's"}),
    frozenset({"they", "their", "them", "they're"}),
    frozenset({"it", "its", "it's"}),
)
"""Pronouns that mean the same thing if they are in the same instruction; "him" means somebody else than "he"."""


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
    via_action: str = r"$^"
    """More ways to refer to a thing by what was done to it."""
    returning: str = r"$^"
    """Words that send a thing to a place where it was."""
    definite: str = r"$^"
    """Things with a definite article and no description, which only an earlier turn identifies."""
    taking: str = r"$^"
    """Verbs after which "his" is somebody else's than "he"."""
    placing: str = ""
    """Verbs that need a place, unless it is omitted."""
    places: str = ""
    """Words that name a place."""
    subjectless: str = r"$^"
    """How an instruction begins that omits who acts."""
    complete: str = r"$^"
    """Instructions that have no object because they need none."""

"""Clauses about people, and what can be made of one: a request, a negation, a question, a supposition.

A clause is built once and said in any of these ways, so that words that are to be followed and words that are not share all but the few
that make the difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from sestra.data.grammar import Context, Phrase, Template


@dataclass(frozen=True)
class Clause:
    """Who does what; without a subject, what the agent is told to do."""

    subject: Phrase | None
    verb: str
    """In its base form."""
    rest: Phrase
    plural: bool = False


def clause(
    context: Context, rng: Random, does: Sequence[Template], told: Sequence[Template], x: Phrase, *, plural: bool = False, **slots: Template
) -> Clause:
    """One of the things that x ``does``, or one of those that the agent is ``told`` to do to x; the first word is the verb."""
    by_agent = bool(told) and (not does or rng.random() < 0.5)
    phrase = context.say(rng, told if by_agent else does, x=objective(x), **slots)
    verb, _, rest = _PARTICLE.sub(r"\1 \3 \2", phrase.words).partition(" ")  # "throw him out", not "throw out him"
    return Clause(None if by_agent else x, verb, Phrase(rest, phrase.phenomena), plural)


LONG = 4
"""The most words that are said with a genitive."""
_OBJECTIVE = {"he": "him", "she": "her", "they": "them"}
_POSSESSIVE = {"he": "his", "him": "his", "she": "her", "her": "her", "they": "their", "them": "their"}


def objective(x: Phrase) -> Phrase:
    return Phrase(_OBJECTIVE.get(x.words, x.words), x.phenomena)


def hat_of(context: Context, rng: Random, x: Phrase, colour: str = "") -> Phrase:
    """The hat that x wears: "red's hat", or "the hat of the person on the left" where that is easier to say."""
    if x.words in _POSSESSIVE:
        return context.say(rng, f"{_POSSESSIVE[x.words]} {colour} hat", *x.phenomena)
    genitive = f"{{x}}'{'' if x.words.endswith('s') else 's'} {colour} hat"
    if len(x.words.split()) > LONG:
        return context.say(rng, f"the {colour} hat of {{x}}", x=x)
    return context.say(rng, [genitive, genitive, f"the {colour} hat of {{x}}"], x=x)


_NOT_PASSIVE = re.compile(r"\[make|\{doesnt|did|refuses")
_PARTICLE = re.compile(r"^(\w+) (away|out|off|in|back) (him|her|them)\b(?!.* hat)")
_THIRD = {"be": "is", "have": "has", "do": "does"}
_PAST = {
    verb: form
    for forms in (
        {"be": "was", "have": "had", "do": "did", "leave": "left", "go": "went", "give": "gave", "take": "took", "put": "put"},
        {"come": "came", "get": "got", "run": "ran", "slide": "slid", "lose": "lost", "steal": "stole", "wear": "wore", "make": "made"},
        {"send": "sent", "bring": "brought", "throw": "threw", "let": "let", "set": "set", "stand": "stood", "quit": "quit"},
        {"keep": "kept", "sing": "sang", "sit": "sat", "lie": "lay", "sleep": "slept", "fly": "flew", "swim": "swam", "spin": "spun"},
        {"fall": "fell", "wake": "woke", "eat": "ate", "drink": "drank", "read": "read", "grow": "grew", "shrink": "shrank"},
        {"fight": "fought", "hit": "hit", "shake": "shook", "draw": "drew", "buy": "bought", "tell": "told", "think": "thought"},
    )
    for verb, form in forms.items()
}
_DOUBLED = {
    *("put", "swap", "get", "run", "step", "hop", "slip", "grab", "drop", "pop", "set", "let", "don", "clap", "hug"),
    *("transfer", "quit", "sit", "spin", "swim", "hit", "nod", "cut"),
}


def third(verb: str) -> str:
    """The verb as "he" does it.

    >>> [third(verb) for verb in ("leave", "go", "carry", "switch", "be")]
    ['leaves', 'goes', 'carries', 'switches', 'is']
    """
    if verb in _THIRD:
        return _THIRD[verb]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"


def past(verb: str) -> str:
    """The verb as he did it.

    >>> [past(verb) for verb in ("leave", "swap", "move", "carry", "walk")]
    ['left', 'swapped', 'moved', 'carried', 'walked']
    """
    if verb in _PAST:
        return _PAST[verb]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}d" if verb.endswith("e") else f"{verb}{verb[-1] if verb in _DOUBLED else ''}ed"


def progressive(verb: str) -> str:
    """The verb as he is doing it.

    >>> [progressive(verb) for verb in ("leave", "swap", "go", "be")]
    ['leaving', 'swapping', 'going', 'being']
    """
    stem = verb[:-1] if verb.endswith("e") and verb not in ("be", "dye") else verb
    return f"{stem}{verb[-1] if verb in _DOUBLED else ''}ing"


SAID = (  # of somebody who does something
    *15 * ("{x} {does} {rest}",),
    "{x} {did} {rest}",
    "{x} {is} {doing} {rest}",
    *5 * ("[make|let|have] {him} {do} {rest}",),
    "get {him} to {do} {rest}",
    *2 * ("[i want|i'd like|i would like|i need|we want] {him} to {do} {rest}",),
    *2 * ("{x} [should|must|can|will|shall] [|now] {do} {rest}",),
    "{x} [{has}|{needs}] to {do} {rest}",
    "[tell|ask|order|force|allow] {him} to {do} {rest}",
    "it is time for {him} to {do} {rest}",
    "[can|could] {x} please {do} {rest} [?|]",
)
TOLD = (  # to the agent
    *12 * ("{do} {rest}",),
    *3 * ("[could|can|would|will] you [please|] {do} {rest} [?||]",),
    "[i want|i'd like|i would like|i need] you to {do} {rest}",
    "[you should|you can|you must|you have to|let's|let us|we should|we need to|we have to|we can|now we] {do} {rest}",
    "[go ahead and|try to|be so kind as to|be sure to|make sure to|go and|remember to|it's time to] {do} {rest}",
    "[i want to|i'd like to|i need to|can we|could we|let me] {do} {rest}",
    "[would you mind|how about|what about] {doing} {rest} [?|]",
)
SAID_NOT = (
    *3 * ("{x} [{doesnt} {do}|{doesnt} {do}|{doesnt} {do}|never {does}] {rest}",),
    "{x} [should not|shouldn't|must not|mustn't|cannot|can't|will not|won't|may not|should never|must never] {do} {rest}",
    "{x} {is} not [allowed to|supposed to|going to] {do} {rest}",
    "{x} [{is} not|{is}n't] {doing} {rest}",
    "{x} didn't {do} {rest}",
    "{x} [{doesnt}] [want|need|have] to {do} {rest}",
    "[don't|do not|never|please don't|dont] [make|let|have] {him} {do} {rest}",
    "[don't|do not|never] [allow|tell|force] {him} to {do} {rest}",
    "[i don't|i do not|we don't] want {him} to {do} {rest}",
    "[stop|prevent|keep] {him} from {doing} {rest}",
    "[nobody|no one] {third} {rest}",
    "{x} [refuses|declines] to {do} {rest}",
    "under no circumstances should {x} {do} {rest}",
)
TOLD_NOT = (
    *5 * ("[don't|do not|never|please don't|please do not|dont|don't you dare] {do} {rest}",),
    "[i don't|i do not] want you to {do} {rest}",
    "you [must not|mustn't|should not|shouldn't|cannot|can't|must never|do not have to|don't need to] {do} {rest}",
    "[stop|avoid|quit] {doing} {rest}",
    "[there is|there's] no [need|reason] to {do} {rest}",
    "[it is forbidden|it is not allowed|you are not allowed|i forbid you] to {do} {rest}",
    "[do anything but|whatever you do, don't|we should not|let's not|let us not|no, don't] {do} {rest}",
    "i [did not|didn't|never] [ask|tell] you to {do} {rest}",
)
ASKED = (
    "[did|does] {x} {do} {rest} [?|]",
    "[why|when|how] [did|does|will] {x} {do} {rest} [?|]",
    "[what if|what happens if|what would happen if] {x} {does} {rest} [?|]",
    "[is it true that|do you think that|are you sure that|who said that] {x} {does} {rest} [?|]",
    "{is} {x} {doing} {rest} ?",
    "[how often|how many times] did {x} {do} {rest} [?|]",
    "who else {did} {rest} ?",
)
ASKED_OF_AGENT = (
    "did you {do} {rest} [?|]",
    "[why|when|how] [did|do] you {do} {rest} [?|]",
    "[what if|what happens if|what would happen if] [i|you|we] {do} {rest} [?|]",
    "[do you know how to|is it possible to|is it hard to|who told you to|why would i|how do i|should i|do i have to] {do} {rest} [?|]",
    "[what do you think about|is there anything wrong with|are you done with|are you] {doing} {rest} [?|]",
)
SUPPOSED = (
    "if {x} {does} {rest} , [tell me|i will be sad|that would be nice|we will see|i will clap|call me]",
    "[yesterday|last week|earlier today|long ago|this morning|once upon a time|last year] {x} {did} {rest}",
    "{x} will {do} {rest} [tomorrow|later|next week|one day|some day|next year|when it rains]",
    "[maybe|perhaps|possibly] {x} {did} {rest} [yesterday|last week|once]",
    "{x} [might|may|would] {do} {rest} [someday|some day|tomorrow|if it rains|one day]",
    "{x} [almost|nearly] {did} {rest}",
    "[imagine|suppose|pretend|i wonder if|i doubt that|i dreamt that|i heard that|it would be funny if|i wish] {x} {did} {rest}",
    "{x} [{thinks} about|dreams of] {doing} {rest}",
    "[tell me|let me know] [when|if] {x} {does} {rest}",
    "[before|unless|until] {x} {does} {rest} , [wait|do nothing|nothing happens]",
)
SUPPOSED_OF_AGENT = (
    "if [i|you|we] {do} {rest} , [tell me|i will be sad|that would be nice|we will see|you win]",
    "[yesterday|last week|earlier today|this morning] [i|you|we] {did} {rest}",
    "[i|we] [might|may] {do} {rest} [later|tomorrow|one day|some day]",
    "[tomorrow|later|some day|next week] [you|we|i] will {do} {rest}",
    "[i wonder how to|it would be funny to|i was thinking about whether to|i don't know whether to|i forgot to|i used to] {do} {rest}",
    "before you {do} {rest} , [wait|ask me|tell me]",
    "[i was about to|one could|somebody else could|my friend wants to] {do} {rest}",
)


def affirm(context: Context, rng: Random, what: Clause) -> Phrase:
    """The clause as something to be done."""
    return _say(context, rng, what, SAID, TOLD)


def negate(context: Context, rng: Random, what: Clause) -> Phrase:
    """The clause as something that is not to be done."""
    return _say(context, rng, what, SAID_NOT, TOLD_NOT)


def ask(context: Context, rng: Random, what: Clause) -> Phrase:
    """A question about it."""
    return _say(context, rng, what, ASKED, ASKED_OF_AGENT)


def suppose(context: Context, rng: Random, what: Clause) -> Phrase:
    """Something that was, will be or might be, and is not asked for."""
    return _say(context, rng, what, SUPPOSED, SUPPOSED_OF_AGENT)


def _say(context: Context, rng: Random, what: Clause, of_others: Sequence[Template], of_agent: Sequence[Template]) -> Phrase:
    verb = what.verb
    forms = {"do": verb, "third": third(verb), "did": past(verb), "doing": progressive(verb)}
    if what.subject is None:
        return context.say(rng, of_agent, rest=what.rest, **forms)
    numbered = (
        {"does": "are" if verb == "be" else verb, "is": "are", "has": "have", "needs": "need", "thinks": "think", "doesnt": "do not"}
        if what.plural
        else {"does": third(verb), "is": "is", "has": "has", "needs": "needs", "thinks": "thinks", "doesnt": "does not"}
    )
    if rng.random() < 0.5:
        numbered["doesnt"] = numbered["doesnt"].replace(" not", "n't")
    if verb == "be":  # nobody says "make him be removed" or "he does not be removed"
        of_others = [template for template in of_others if not _NOT_PASSIVE.search(str(template))]
    return context.say(rng, of_others, x=what.subject, him=objective(what.subject), rest=what.rest, **forms, **numbered)

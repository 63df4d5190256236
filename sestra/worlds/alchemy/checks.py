"""What agents in Alchemy are checked by: sentence patterns by capability."""

from __future__ import annotations

from pathlib import Path

from sestra.analysis.checks.patterns import Capability, Checks, Patterns
from sestra.analysis.checks.wording import GREETINGS, OTHER_TOPICS, POLITE, framed, misspelt
from sestra.worlds.alchemy import histories as h
from sestra.worlds.alchemy import situations as s

# fmt: off
CAPABILITIES = (
    Capability("colour", (
        Patterns(s.emptied(s.by_colour), (
            "throw out the {colour} beaker", "empty the {colour} one", "pour out the {colour} chemical", "get rid of the {colour} liquid",
            "drain the {colour} beaker", "dump out the {colour} one", "throw away everything that is {colour}",
        )),
        Patterns(s.poured(s.by_two_colours), (
            "pour the {colour} beaker into the {other} one", "add the {colour} chemical to the {other} beaker",
            "pour {colour} into {other}", "put the {colour} liquid into the {other} beaker", "tip the {colour} one into the {other} one",
        )),
    )),
    Capability("place", (
        Patterns(s.emptied(s.by_end), ("throw out the {place} beaker", "empty the {place} one", "drain the {place} beaker")),
        Patterns(s.emptied(s.by_place), (
            "empty beaker {number}", "pour out beaker number {number}", "throw out beaker {word}", "drain #{number}",
        )),
        Patterns(s.poured(s.two_places), (
            "pour beaker {number} into beaker {other_number}", "tip beaker {number} into {other_number}",
            "take beaker {number} and pour it into beaker {other_number}", "pour {number} into {other_number}",
        )),
    )),
    Capability("ordinal", (
        Patterns(s.emptied(s.by_place), (
            "throw out the {ordinal} beaker", "empty the {numeral} one", "drain the {ordinal} beaker from the left",
            "empty the {right} beaker from the right", "throw out the {right_numeral} beaker from the right",
            "pour out the {right} one counting from the right",
        )),
        Patterns(s.emptied(s.before_last), ("throw out the second to last beaker", "empty the next to last one")),
        Patterns(s.emptied(s.by_ordinal_and_colour), ("throw out the {which} {colour} beaker", "empty the {which} {colour} one")),
        Patterns(s.poured(s.two_places), (
            "pour the {ordinal} beaker into the {into} one", "pour the {numeral} beaker into the {into_numeral}",
        )),
    )),
    Capability("amount", (
        Patterns(s.emptied(s.fullest), ("throw out the fullest beaker", "empty the beaker with the most in it")),
        Patterns(s.emptied(s.by_amount(2, 3, 4)), (
            "throw out the beaker with {amount} units", "empty the one that has {amount_digit} units",
            "drain the only beaker that holds {amount} units",
        )),
        Patterns(s.emptied(s.by_amount(1)), ("throw out the beaker with one unit", "empty the one that only has a single unit in it")),
        Patterns(s.emptied(s.by_size_and_colour(1)), ("throw out the bigger {colour} beaker", "empty the fuller {colour} one")),
        Patterns(s.emptied(s.by_size_and_colour(0)), ("throw out the smaller {colour} beaker", "empty the {colour} one that has less")),
    )),
    Capability("neighbour", (
        Patterns(s.emptied(s.beside), (
            "throw out the beaker to the {side} of the {colour} one", "empty the beaker {side} of {colour}",
            "drain the one just to the {side} of the {colour} beaker", "pour out the beaker immediately {side} of the {colour} one",
            "throw out the one on the {side} of the {colour} one", "empty the {colour} beaker's neighbor on the {side}",
        )),
        Patterns(s.emptied(s.between), (
            "throw out the beaker between the {colour} and the {other} one", "empty the one between {colour} and {other}",
            "drain the beaker that stands between the {colour} one and the {other} one",
            "pour out what is in between {colour} and {other}",
        )),
    )),
    Capability("quantity", (
        Patterns(s.emptied(s.by_colour, s.some), (
            "throw out {units} of the {colour} beaker", "remove {units} from the {ordinal} beaker", "take {units} out of the {colour} one",
            "pour out {units} of {colour}", "drain {digit} from the {numeral} beaker", "leave only {left} in the {colour} beaker",
            "empty the {colour} beaker until {left} remain",
        )),
        Patterns(s.emptied(s.by_colour, s.half), ("throw out half of the {colour} beaker", "drain half of the {ordinal} one")),
        Patterns(s.poured(s.by_two_colours, number=s.some), (
            "pour {units} of {colour} into the {other} beaker", "move {units} from the {colour} beaker to the {into} one",
        )),
    )),
    Capability("several objects", (
        Patterns(s.emptied(s.everything), ("empty every beaker", "throw out all of the beakers", "drain everything")),
        Patterns(s.emptied(s.of_colour(2)), ("throw out both {colour} beakers", "empty the two {colour} ones")),
        Patterns(s.emptied(s.of_colour(2, 3)), ("throw out all the {colour} beakers", "empty every {colour} one")),
        Patterns(s.emptied(s.first_few), ("throw out the first {few} beakers", "empty the {few} beakers on the left")),
        Patterns(s.emptied(s.last_few), ("throw out the last {few} beakers", "empty the last {few}")),
        Patterns(s.emptied(s.by_two_colours), ("throw out the {colour} and the {other} beakers", "empty {colour} and {other}")),
        Patterns(s.emptied(s.all_but_colour), ("throw out everything except the {colour} beaker", "empty all but the {colour} one")),
    )),
    Capability("mixing", (
        Patterns(s.stirred, (
            "mix the {ordinal} beaker", "stir the {ordinal} one", "the {ordinal} beaker turns brown", "mix {below} and {above}",
            "mix the {below} and {above} chemicals together", "stir the beaker with two colors", "mix beaker {number}",
            "make the {below} and {above} beaker brown", "mix up the contents of the {ordinal} beaker", "blend beaker {number}",
        )),
    )),
    Capability("reference", (
        Patterns(h.after_pour(s.mix), ("it turns brown", "mix it", "stir that beaker", "mix the one you just poured into")),
        Patterns(h.after_pour(s.drain), ("throw it out", "empty it", "now empty that one", "get rid of that mixture")),
        Patterns(h.after_drain, ("throw out the rest of it", "now empty it completely", "drain what is left in it")),
        Patterns(h.other_of_colour, ("throw out the other {colour} beaker", "now empty the other {colour} one")),
    )),
    Capability("repetition", (
        Patterns(h.again, ("again", "do that again", "once more", "repeat that")),
        Patterns(h.same_with, (
            "same with the {colour} one", "do the same with the {ordinal} beaker", "same for {colour}",
            "throw the same amount out of the {colour} beaker", "do that with the {colour} one too",
        )),
        Patterns(h.empty_too, ("do the same to the {colour} one", "same with the {ordinal} beaker")),
        Patterns(h.repeat_step, (
            "repeat step {step} with the {colour} one", "repeat step {digit} on the {ordinal} beaker",
            "do the {which} step again but with the {colour} beaker",
        )),
    )),
    Capability("reversal", (
        Patterns(h.undone, (
            "undo that", "undo the last step", "take that back", "reverse that", "undo", "go back one step", "put it back how it was",
        )),
        Patterns(h.put_back, ("put it back", "fill the {ordinal} beaker again with what it had")),
        Patterns(h.undone_step, ("undo step {digit}", "undo the {which} step")),
    )),
    Capability("layers", (
        Patterns(s.poured(s.mixed_into_colour, mixed=True), (
            "pour the {ordinal} beaker into the {into} one", "pour beaker {number} into beaker {other_number}",
            "pour the {below} and {above} beaker into the {colour} one", "add the {ordinal} beaker to the {colour} one",
            "tip the mixed beaker into the {colour} one", "pour the beaker with {below} and {above} into the {into} beaker",
        )),
        Patterns(s.poured(s.mixed_into_empty, mixed=True), (
            "pour the {ordinal} beaker into the {into} one", "pour beaker {number} into the empty beaker {other_number}",
            "transfer the {ordinal} beaker to the {into} one", "pour the {below} and {above} one into the {into} beaker",
        )),
    )),
    Capability("misspelling", (
        Patterns(s.emptied(s.by_colour), (
            "throw out the {colour} beaker", "empty the {colour} one", "throw out the {ordinal} beaker", "empty the {ordinal} one",
            "pour out the {ordinal} beaker",
        ), misspelt),
        Patterns(s.poured(s.by_two_colours), ("pour the {colour} beaker into the {other} one", "pour {colour} into {other}"), misspelt),
        Patterns(s.emptied(s.by_colour, s.some), (
            "throw out {units} of the {colour} beaker", "remove {units} from the {ordinal} beaker",
            "throw out {units} of the {ordinal} one",
        ), misspelt),
    )),
    Capability("politeness", (
        Patterns(s.emptied(s.by_colour), framed(POLITE, "throw out the {colour} beaker")),
        Patterns(s.poured(s.two_places), framed(POLITE[::3], "pour the {ordinal} beaker into the {into} one")),
    )),
    Capability("synonym", (
        Patterns(s.emptied(s.by_colour), (
            "discard the {colour} chemical", "eliminate the {colour} fluid", "ditch the {colour} beaker", "bin the {colour} stuff",
            "flush the {ordinal} flask", "spill the {colour} container out", "clear out the {ordinal} vial", "toss the {colour} liquid",
        )),
        Patterns(s.poured(s.by_two_colours), (
            "transfer the {colour} chemical to the {other} beaker", "decant {colour} into {other}",
            "combine the {colour} liquid with the {other} one in the {other} beaker",
        )),
    )),
    Capability("greeting", (Patterns(h.unchanged, GREETINGS),), "no instruction"),
    Capability("question", (
        Patterns(h.unchanged, (
            "what is in beaker {number}?", "how many units are in the {ordinal} beaker?", "is the {ordinal} beaker empty?",
            "which beaker is {colour}?", "why is the {ordinal} beaker {colour}?", "where is the {colour} beaker?",
            "what color is the {ordinal} beaker", "does the {colour} one have {units}?", "what happens if I mix the {colour} one?",
            "how full is the {colour} beaker?", "who poured out the first beaker?",
        )),
    ), "no instruction"),
    Capability("negation", (
        Patterns(h.unchanged, (
            "don't empty the {ordinal} beaker", "do not throw out the {colour} one", "never pour out the {colour} beaker",
            "leave the {colour} beaker alone", "keep the {ordinal} beaker as it is", "the {colour} beaker must not be emptied",
            "you should not mix the {ordinal} one", "please do nothing", "don't pour anything into the {colour} beaker",
            "no need to throw out the {colour} one", "stop, don't touch the {ordinal} beaker",
        )),
    ), "no instruction"),
    Capability("other topic", (Patterns(h.unchanged, OTHER_TOPICS),), "no instruction"),
    Capability("not there", (
        Patterns(h.absent_colour, (
            "throw out the {absent} beaker", "empty the {absent} one", "pour the {absent} beaker into the {colour} one",
            "pour {absent} into {colour}", "throw out one unit of {absent}", "drain the {absent} chemical",
        )),
        Patterns(h.absent_place, (
            "throw out the {ordinal} beaker", "empty beaker {number}", "drain the {ordinal} one", "mix the {ordinal} beaker",
        )),
    ), "not there"),
    Capability("unknown deed", (
        Patterns(h.unchanged, (
            "heat the {colour} beaker", "break the {ordinal} beaker", "drink the {colour} one", "paint the {ordinal} beaker",
            "freeze the {colour} chemical", "put a lid on the {ordinal} beaker", "smell the {colour} liquid", "weigh beaker {number}",
            "take a picture of the {colour} beaker", "turn the {ordinal} beaker into a frog", "wash the {ordinal} beaker",
        )),
    ), "unknown deed"),
    Capability("impossible", (
        Patterns(h.too_full, (
            "pour the {colour} beaker into the {other} one", "pour beaker {number} into beaker {other_number}",
            "add all of {colour} to {other}", "pour the {ordinal} beaker into the {into} one",
            "put all the {colour} into the {other} beaker",
            "tip the whole {colour} beaker into the {other} one", "empty the {colour} beaker into the {other} one",
            "move everything from beaker {number} to beaker {other_number}", "pour all of the {colour} liquid into the {into} beaker",
            "the {colour} beaker goes into the {other} one",
        )),
    ), "impossible"),
    Capability("ambiguous", (
        Patterns(h.which_of_colour, (
            "throw out the {colour} beaker", "empty the {colour} one", "pour out the {colour} chemical", "drain the {colour} beaker",
            "get rid of one {colour} beaker", "dump one of the {colour} ones",
        )),
        Patterns(h.which_source, (
            "pour the {colour} beaker into the {other} one", "pour one of the {colour} beakers into the {other} one",
        )),
        Patterns(h.which_mixed, ("mix the beaker with two colors", "stir one of the beakers with two colors")),
    ), "ambiguous"),
)
# fmt: on

CHECKS = Checks(CAPABILITIES, Path(__file__).with_name("sentences.json"))

"""What agents in Tangrams are checked by: sentence patterns by capability."""

from __future__ import annotations

from pathlib import Path

from sestra.analysis.checks.patterns import Capability, Checks, Patterns
from sestra.analysis.checks.wording import GREETINGS, OTHER_TOPICS, POLITE, framed, misspelt
from sestra.worlds.tangrams import histories as h
from sestra.worlds.tangrams import situations as s

# fmt: off
CAPABILITIES = (
    Capability("place", (
        Patterns(s.removed(s.by_end), (
            "remove the {side}most figure", "delete the one on the far {side}", "take away the figure at the {side} end",
        )),
        Patterns(s.removed(s.in_the_middle), ("remove the middle figure", "delete the one in the center")),
        Patterns(s.removed(s.by_place), (
            "remove figure {number}", "delete item number {number}", "take out the figure in position {number}", "remove number {word}",
            "delete the object in spot {word}",
        )),
        Patterns(s.removed(s.last), ("remove the last figure",)),
    )),
    Capability("ordinal", (
        Patterns(s.removed(s.by_place), (
            "remove the {ordinal} figure", "delete the {numeral} one", "take away the {ordinal} shape from the left",
            "remove the {right} figure from the right", "delete the {right_numeral} object from the right",
            "counting from the right, remove the {right} figure", "get rid of the {ordinal} item",
        )),
        Patterns(s.removed(s.before_last), (
            "remove the second to last figure", "delete the next to last one", "remove the last figure but one",
        )),
    )),
    Capability("neighbour", (
        Patterns(s.removed(s.beside), (
            "remove the figure to the {side} of the {ordinal} one", "delete the one just {after} the {ordinal} figure",
            "take away the figure directly {side} of the {ordinal} figure", "remove the {ordinal} figure's neighbor on the {side}",
            "get rid of the shape immediately {after} the {numeral}", "delete what is {side} of the {ordinal} one",
        )),
        Patterns(s.removed(s.between), (
            "remove the figure between the {one} and the {other}", "delete the one that stands between the {one} and {other} figures",
            "take out whatever is between the {one} and the {other} shape", "remove what comes between the {one} and the {other}",
        )),
    )),
    Capability("exchange", (
        Patterns(s.swapped(s.two), (
            "swap the {one} and {other} figures", "switch the {one} one with the {other} one", "swap figures {number} and {other_number}",
            "exchange the {numeral} and the {other_numeral}", "the {one} and the {other} figure trade places",
        )),
        Patterns(s.swapped(s.both_ends), ("swap the first and last figures", "switch the two figures at the ends")),
        Patterns(s.swapped(s.first_two), ("swap the first two figures", "the first two change places")),
        Patterns(s.swapped(s.last_two), ("swap the last two figures", "switch the last two around")),
    )),
    Capability("moves", (
        Patterns(s.moved_to_end, (
            "move the {ordinal} figure to the {edge}", "move the {ordinal} one all the way to the {side}",
            "bring figure {number} to the {edge}",
            "put the {ordinal} figure at the far {side}",
        )),
        Patterns(s.moved_by, (
            "move the {ordinal} figure {n} place{s} to the {side}", "shift the {ordinal} one {side} by {n}",
            "slide the {ordinal} shape {n} spot{s} {side}",
        )),
        Patterns(s.moved_to_place, (
            "move the {one} figure to the {other} place", "put the {one} figure in {other} position",
            "move the {one} one to position {number}",
        )),
    )),
    Capability("several objects", (
        Patterns(s.removed(s.first_few), ("remove the first {few} figures", "delete the {few} figures on the left")),
        Patterns(s.removed(s.last_few), ("remove the last {few} figures", "take away the last {few}")),
        Patterns(s.removed(s.everything), ("remove all figures", "delete every figure", "clear the whole row")),
        Patterns(s.removed(s.all_but_one), ("remove everything except the {ordinal} figure", "delete all but the {ordinal} one")),
        Patterns(s.removed(s.two), ("remove the {one} and the {other} figure", "delete both the {one} and the {other} one")),
        Patterns(s.removed(s.both_ends), ("remove the first and the last figure",)),
        Patterns(s.reversed_order, ("reverse the order of the figures",)),
    )),
    Capability("insertion", (
        Patterns(h.put_at, (
            "put it in the {ordinal} place", "add it back in position {number}", "insert the removed figure as the {ordinal} one",
        )),
        Patterns(h.put_at_end, ("put it at the {edge}", "add it on the far {side}", "bring it back, but at the {edge}")),
        Patterns(h.put_step, (
            "add the figure removed in step {step} to the {ordinal} place", "put the figure from step {digit} in {ordinal} position",
            "bring back the {which} figure we removed and make it the {ordinal}",
        )),
        Patterns(s.missing_inserted, ("add the missing figure in the {ordinal} place", "put the missing figure in position {number}")),
    )),
    Capability("reference", (
        Patterns(h.put_last_removed, (
            "put the one you just removed in the {ordinal} place", "add the last removed figure in position {number}",
            "insert the figure that was removed last as the {ordinal} one",
        )),
        Patterns(h.swapped_again, ("swap them again", "switch those two once more")),
        Patterns(h.after_insertion(s.remove), ("remove it again", "delete the one you just added", "the newcomer goes away again")),
        Patterns(h.after_insertion(h.swap_with_first), ("swap it with the first figure", "swap the one you just added with the first one")),
        Patterns(h.after_insertion(h.move_to_front), ("now move it to the front",)),
        Patterns(h.others_swapped, ("swap the other two", "now switch the other two figures")),
    )),
    Capability("repetition", (
        Patterns(h.remove_again, ("again", "do that again", "once more")),
        Patterns(h.remove_too, ("do the same with the {other} figure", "same for the {other} one")),
        Patterns(h.swap_too, ("do the same with the {one} and {other} figures", "same thing with the {one} and the {other}")),
        Patterns(h.repeat_step, ("repeat step 1", "repeat the first step", "do step one again")),
        Patterns(h.repeat_step_with, ("repeat step 1 with the {one} and {other} figures", "redo step one with the {one} and {other}")),
    )),
    Capability("reversal", (
        Patterns(h.undone, ("undo that", "undo the last step", "undo", "take that back", "reverse that")),
        Patterns(h.put_back, ("put it back", "add it back where it was", "bring it back")),
        Patterns(h.swapped_again, ("swap them back", "put them back in their old places")),
        Patterns(h.undone_step, ("undo step 1", "undo the first step")),
    )),
    Capability("misspelling", (
        Patterns(s.removed(s.by_place), (
            "remove the {ordinal} figure", "delete the {ordinal} figure", "remove the {ordinal} one",
        ), misspelt),
        Patterns(s.removed(s.by_end), ("remove the figure on the {side} end", "delete the figure on the far {side}"), misspelt),
        Patterns(s.removed(s.in_the_middle), ("remove the middle figure",), misspelt),
        Patterns(s.swapped(s.two), ("swap the {one} and {other} figures", "swap the {one} figure and the {other} figure"), misspelt),
        Patterns(s.swapped(s.both_ends), ("swap the first and last figures",), misspelt),
        Patterns(h.remove_too, ("remove the {other} one",), misspelt),
    )),
    Capability("politeness", (
        Patterns(s.removed(s.by_place), framed(POLITE, "remove the {ordinal} figure")),
        Patterns(s.swapped(s.two), framed(POLITE[::3], "swap the {one} and {other} figures")),
    )),
    Capability("synonym", (
        Patterns(s.removed(s.by_place), (
            "discard the {ordinal} picture", "eliminate the {ordinal} shape", "erase the {ordinal} image", "ditch the {ordinal} tangram",
            "get rid of the {ordinal} piece", "drop the {ordinal} drawing",
        )),
        Patterns(s.swapped(s.two), (
            "interchange the {one} and {other} shapes", "trade the {one} picture for the {other}", "transpose the {one} and {other} items",
        )),
        Patterns(h.put_back, ("restore it", "reinsert it where it was")),
    )),
    Capability("greeting", (Patterns(h.unchanged, GREETINGS),), "no instruction"),
    Capability("question", (
        Patterns(h.unchanged, (
            "how many figures are there?", "what is the {one} figure?", "which figure is the {one}?", "is the {one} figure a house?",
            "does the {one} one look like a bird?", "why is the {one} figure there?", "where is figure {number}?", "what did you remove?",
            "are the {one} and the {other} figure the same?", "can figures be swapped?", "which one was removed in step 1?",
        )),
    ), "no instruction"),
    Capability("negation", (
        Patterns(h.unchanged, (
            "don't remove the {one} figure", "do not swap the {one} and {other} figures", "never delete the {one} one",
            "leave the {one} figure where it is", "keep the {one} figure", "the {one} figure must not be removed", "do nothing",
            "you should not touch the {one} one", "no need to swap the {one} and {other}", "stop, don't delete anything",
            "don't add any figure",
        )),
    ), "no instruction"),
    Capability("other topic", (Patterns(h.unchanged, OTHER_TOPICS),), "no instruction"),
    Capability("not there", (
        Patterns(h.beyond, (
            "remove the {ordinal} figure", "delete figure {number}", "swap the {one} and {ordinal} figures", "take out the {ordinal} one",
            "move the {ordinal} figure to the front",
        )),
        Patterns(h.nothing_removed, ("put it back", "add the removed figure at the end", "undo the last step")),
        Patterns(h.no_such_step, ("repeat step {step}", "undo step {step}")),
    ), "not there"),
    Capability("unknown deed", (
        Patterns(h.unchanged, (
            "rotate the {one} figure", "paint the {one} figure blue", "make the {one} one bigger", "cut the {one} shape in half",
            "turn the {one} figure upside down", "copy the {one} figure", "give the {one} figure a name", "shake the {one} one",
            "fold figure {number}", "take a photo of the {one} figure", "glue the {one} and {other} figures together",
        )),
    ), "unknown deed"),
    Capability("ambiguous", (
        Patterns(h.which_to_remove, ("remove a figure", "delete one of them", "take away the figure", "get rid of one")),
        Patterns(h.which_to_swap_with, ("swap the {ordinal} figure", "switch the {ordinal} one with another one")),
        Patterns(h.which_two, ("swap two figures", "exchange two of them")),
        Patterns(h.which_missing, ("add a missing figure at the end",)),
        Patterns(h.which_to_front, ("move a figure to the front",)),
    ), "ambiguous"),
)
# fmt: on

CHECKS = Checks(CAPABILITIES, Path(__file__).with_name("sentences.json"))

"""What agents in Scene are checked by: sentence patterns by capability."""

from __future__ import annotations

from pathlib import Path

from sestra.analysis.checks.patterns import Capability, Checks, Patterns
from sestra.analysis.checks.wording import GREETINGS, OTHER_TOPICS, framed, misspelt
from sestra.worlds.scene import histories as h
from sestra.worlds.scene import situations as s

# fmt: off
POLITE = (
    "please, *", "* please", "*, thanks", "ok, now *", "um, *", "alright then, next *", "could you make it so that *?",
    "now I'd like to see that *", "so then *", "hmm, let's say *", "hi, I want this: *", "well, * then, if you don't mind",
)
"""Frames for sentences that say what happens."""

CAPABILITIES = (
    Capability("colour", (
        Patterns(s.left_by(s.by_shirt), (
            "the person in {shirt} leaves", "{shirt} leaves", "the man in the {shirt} shirt disappears",
            "the one wearing {shirt} goes away",
            "the {shirt} shirt exits", "the woman dressed in {shirt} walks away",
        )),
        Patterns(s.left_by(s.by_hat), (
            "the person with the {hat} hat leaves", "the {hat} hat disappears along with its owner", "the guy wearing a {hat} hat exits",
            "the person in {shirt} with a {hat} hat leaves", "{shirt} shirt, {hat} hat leaves",
        )),
        Patterns(s.left_by(s.by_no_hat), ("the person without a hat leaves", "the hatless one disappears")),
    )),
    Capability("place", (
        Patterns(s.left_by(s.by_end), (
            "the {side}most person leaves", "the person furthest to the {side} disappears", "the one on the far {side} exits",
        )),
        Patterns(s.left_by(s.in_the_middle), ("the person in the middle leaves",)),
        Patterns(s.left_by(s.by_position), ("the person at position {number} leaves", "whoever is in spot {word} disappears")),
        Patterns(s.entered_at_end, (
            "a person in {shirt} appears on the far {side}", "someone in {a} shirt enters at the {side} end",
            "{a} man shows up on the {side} edge", "{shirt} appears at the {side} end",
        )),
        Patterns(s.entered_at_position, ("{a} person appears at position {number}", "someone in {a} shirt comes in at place {word}")),
    )),
    Capability("ordinal", (
        Patterns(s.left_by(s.by_ordinal), (
            "the {left} person from the left leaves", "the {right} person from the right leaves",
            "the {numeral} one from the left disappears",
            "the {right_numeral} person from the right exits", "the {left} person leaves",
            "counting from the right, the {right} person leaves",
            "the {left} one in the row, seen from the left, goes away",
        )),
        Patterns(s.left_by(s.last), ("the last person leaves",)),
        Patterns(s.left_by(s.before_last), ("the second to last person leaves", "the last but one disappears")),
    )),
    Capability("neighbour", (
        Patterns(s.entered_beside, (
            "{a} person appears to the {side} of the person in {other}", "someone in {shirt} shows up directly {side} of {other}",
            "a man in {a} shirt enters just to the {side} of the man in the {other} shirt",
        )),
        Patterns(s.entered_between, (
            "{a} person appears between {one} and {other}", "someone in {a} shirt comes between {one} and {other}",
        )),
        Patterns(s.moved_beside, (
            "the person in {shirt} moves to the {side} of the person in {other}", "{shirt} goes right next to {other}, on the {side} side",
            "{shirt} moves directly {side} of {other}", "the {shirt} guy stands to the immediate {side} of the {other} guy",
        )),
        Patterns(s.left_by(s.beside), (
            "the person to the {side} of {shirt} leaves", "the one standing directly {side} of the person in {shirt} disappears",
        )),
    )),
    Capability("moves", (
        Patterns(s.moved(1), ("the person in {shirt} moves one space to the {side}", "{shirt} takes a step to the {side}")),
        Patterns(s.moved(2, 3, 4), (
            "the person in {shirt} moves {n} spaces to the {side}", "{shirt} moves {digit} places {side}", "{shirt} takes {n} steps {side}",
            "the {shirt} one goes {side} by {n}", "the man in {shirt} moves {digit} spots to the {side}",
        )),
        Patterns(s.moved_to_end, (
            "the person in {shirt} moves to the {side} end", "{shirt} moves all the way to the {side}", "{shirt} walks to the far {side}",
        )),
        Patterns(s.moved_to_position, ("the person in {shirt} moves to position {number}", "{shirt} goes to place {word}")),
    )),
    Capability("exchange", (
        Patterns(s.hat_given, (
            "{shirt} gives his hat to {other}", "the person in {other} takes the {hat} hat", "the {hat} hat goes to {other}",
            "the person in {shirt} hands the hat to the person in {other}", "{other} takes {shirt}'s hat",
        )),
        Patterns(s.hats_traded, (
            "{shirt} and {other} swap hats", "the people in {shirt} and {other} trade hats", "{shirt} exchanges hats with {other}",
        )),
        Patterns(s.places_traded, (
            "{shirt} and {other} swap places", "the person in {shirt} changes places with the person in {other}",
            "{shirt} and {other} trade positions",
        )),
    )),
    Capability("several objects", (
        Patterns(s.left_by(s.with_hats), ("both people with hats leave", "the two with hats disappear")),
        Patterns(s.left_by(s.without_hats), ("everyone without a hat leaves", "all the hatless people exit")),
        Patterns(s.left_by(s.everybody), ("everybody leaves", "all of them disappear")),
        Patterns(s.left_by(s.all_but_one), ("everyone except {shirt} leaves", "all but the person in {shirt} go away")),
        Patterns(s.left_by(s.first_two), ("the first two people leave", "the two on the left disappear")),
        Patterns(s.left_by(s.last_two), ("the last two people leave",)),
        Patterns(s.left_by(s.two_shirts), ("{shirt} and {other} leave", "the people in {shirt} and {other} both exit")),
        Patterns(s.all_step, ("both move one space to the {side}", "everyone takes a step to the {side}")),
    )),
    Capability("reference", (
        Patterns(h.after_move(s.leave), ("he leaves", "then she disappears", "this person exits", "the one who just moved leaves")),
        Patterns(h.after_move(h.to_left_end), ("then he moves to the left end",)),
        Patterns(h.after_move(h.two_right), ("he then moves two spaces to the right",)),
        Patterns(h.after_move(h.other_leaves, 2), ("the other one leaves", "the other person disappears")),
        Patterns(h.after_entrance(s.leave), ("he leaves again", "the newcomer leaves", "the new person exits")),
        Patterns(h.after_entrance(h.takes_only_hat), ("the newcomer takes the hat", "he takes the hat")),
    )),
    Capability("repetition", (
        Patterns(h.again, ("again", "he does it again", "once more", "and the same move again")),
        Patterns(h.same_move, ("{shirt} does the same", "same for {shirt}", "the person in {shirt} does likewise")),
        Patterns(h.same_exit, ("{shirt} does the same", "so does the person in {shirt}")),
        Patterns(h.repeat_step, (
            "repeat step {step} with {shirt}", "repeat step {digit} with the person in {shirt}", "the {which} step again, but with {shirt}",
        )),
    )),
    Capability("reversal", (
        Patterns(h.moved_back, ("he moves back", "he goes back to where he was", "{shirt} returns to the old place")),
        Patterns(h.hat_back, ("he gives it back", "{shirt} gives the hat back to {other}", "the hat goes back")),
        Patterns(h.came_back, ("he comes back", "{shirt} returns")),
        Patterns(h.undone, ("undo that", "undo the last step", "take that back")),
    )),
    Capability("misspelling", (
        Patterns(s.left_by(s.by_shirt), (
            "the person in {shirt} leaves", "the man in the {shirt} shirt disappears", "{shirt} leaves",
        ), misspelt),
        Patterns(s.entered_at_end, ("a person in {shirt} appears on the far {side}", "{shirt} appears at the {side} end"), misspelt),
        Patterns(s.moved(1, 2), ("the person in {shirt} moves {n} space{s} to the {side}", "{shirt} moves {side} by {n}"), misspelt),
        Patterns(s.moved_to_end, ("the person in {shirt} moves to the {side} end",), misspelt),
        Patterns(s.hats_traded, ("{shirt} and {other} swap hats",), misspelt),
        Patterns(s.entered_between, ("{a} person appears between {one} and {other}",), misspelt),
    )),
    Capability("politeness", (
        Patterns(s.left_by(s.by_shirt), framed(POLITE, "the person in {shirt} leaves")),
        Patterns(s.moved_to_end, framed(POLITE[::3], "the person in {shirt} moves to the {side} end")),
    )),
    Capability("synonym", (
        Patterns(s.left_by(s.by_shirt), (
            "the fellow in {shirt} departs", "the {shirt} lady vanishes", "the bloke wearing {shirt} heads off", "{shirt} is gone",
            "the individual clad in {shirt} takes off",
        )),
        Patterns(s.entered_at_end, ("somebody dressed in {shirt} arrives on the {side} end", "{a} figure pops up on the far {side}")),
        Patterns(s.moved_to_end, ("{shirt} strolls over to the {side} edge", "the {shirt} one travels to the extreme {side}")),
        Patterns(s.hat_given, ("{other} steals the {hat} hat", "{shirt} passes the hat on to {other}")),
    )),
    Capability("greeting", (Patterns(h.unchanged, GREETINGS),), "no instruction"),
    Capability("question", (
        Patterns(h.unchanged, (
            "who is in {shirt}?", "how many people are there?", "is the person in {shirt} wearing a hat?", "where is {shirt}?",
            "what is at position {number}?", "does {shirt} have a hat?", "why is {other} still here?", "who stands next to {shirt}?",
            "what color is the hat of {shirt}", "are {shirt} and {other} friends?", "did the person in {shirt} leave?",
        )),
    ), "no instruction"),
    Capability("negation", (
        Patterns(h.unchanged, (
            "the person in {shirt} doesn't leave", "{shirt} does not move", "nobody leaves", "don't move {shirt}",
            "{shirt} must not go away", "no one takes a hat", "{shirt} stays where he is", "nothing happens",
            "{shirt} and {other} don't swap places", "{shirt} never gives his hat to {other}", "leave everybody where they are",
        )),
    ), "no instruction"),
    Capability("other topic", (Patterns(h.unchanged, OTHER_TOPICS),), "no instruction"),
    Capability("not there", (
        Patterns(h.absent, (
            "the person in {absent} leaves", "{absent} leaves", "the man with the {absent} hat disappears",
            "the person in {absent} moves to the left end", "{shirt} takes the {absent} hat", "{absent} moves next to {shirt}",
        )),
        Patterns(h.absent_place, ("the person at position {number} leaves", "the {ordinal} person leaves")),
        Patterns(h.no_hats, ("{shirt} gives his hat to {other}", "{shirt} and {other} swap hats")),
    ), "not there"),
    Capability("unknown deed", (
        Patterns(h.unchanged, (
            "{shirt} sits down", "{shirt} jumps", "the person in {shirt} starts to sing", "{shirt} kisses {other}",
            "{shirt} eats a sandwich",
            "{shirt} waves at {other}", "the person in {shirt} falls asleep", "{shirt} reads a book", "{shirt} laughs at {other}",
            "the person in {shirt} turns into a frog", "{shirt} phones his mother",
        )),
    ), "unknown deed"),
    Capability("impossible", (
        Patterns(h.past_the_end, (
            "the person in {shirt} moves {n} space{s} to the {side}", "{shirt} moves {digit} place{s} {side}",
            "{shirt} takes {n} step{s} {side}",
            "{shirt} goes {side} by {n}", "the man in {shirt} moves {n} spot{s} to the {side}", "{shirt} walks {n} space{s} to the {side}",
            "the {shirt} one moves {digit} {side}", "the person in {shirt} steps {n} place{s} to the {side}",
            "{shirt} shifts {n} space{s} {side}", "{shirt} shirt moves {side} {n} space{s}",
        )),
    ), "impossible"),
    Capability("ambiguous", (
        Patterns(h.which_shirt(s.leave), (
            "the person in {shirt} leaves", "{shirt} leaves", "the man in the {shirt} shirt disappears",
            "one of the people in {shirt} exits",
        )),
        Patterns(h.which_shirt(h.to_left_end), ("the person in {shirt} moves to the left end", "{a} person moves all the way to the left")),
        Patterns(h.which_hat, ("the person with the {hat} hat leaves", "the {hat} hat disappears")),
        Patterns(h.somebody, ("someone leaves", "one of them goes away")),
    ), "ambiguous"),
)
# fmt: on

CHECKS = Checks(CAPABILITIES, Path(__file__).with_name("sentences.json"))

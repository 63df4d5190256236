"""Words that ask for nothing that can be done: the row stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from sestra.data.grammar import Context, Rule, Turn
from sestra.data.small_talk import small_talk
from sestra.worlds.tangrams.deeds import TAKE
from sestra.worlds.tangrams.descriptions import absent
from sestra.worlds.tangrams.references import group, name, noun, number, ordinal
from sestra.worlds.tangrams.remarks import any_name, negation, question, remark, staying, stays, talk
from sestra.worlds.tangrams.world import SHAPES

# Things that are not there.

NAMED = (
    "[red|blue|green|yellow|purple|orange|black|white|brown|pink|gray] [{thing}|one]",
    "[cat|house|boat|swan|rocket|dog|bird|tree|fish|man|woman|horse|star|heart|triangle|square|circle|cube|hexagon|person|car|chair]",
    "[big|small|large|tiny|tall|round|long|heavy|biggest|smallest|tallest|ugly|pretty] [{thing}|one]",
    "[beaker|hat|chemical|person in red|card|number|letter|word|button|window|guy with the hat]",
    "{thing} [with the hat|with the long neck|that looks like a [dog|house|bird|person]|in red|named bob|on the table|below the row]",
)


def not_there(context: Context, rng: Random) -> Turn:
    """A real deed with a figure or a place that the row does not have."""
    (row,), thing = context.state, noun(context, rng)
    beyond = rng.randint(len(row) + 1, 10)
    nth, digit = ordinal(context, beyond, rng), number(context, beyond, rng)
    kind = rng.choice(NAMED).replace("{thing}", thing)
    places = f"the {nth} [{thing}|{thing}|one]|{thing} [number|] {digit}|the {nth} from the [left|right]|the {thing} in the {nth} {{spot}}"
    amount = number(context, rng.randint(max(len(row) + 1, 2), 10), rng)
    ghost = rng.choice((f"[{places}]", f"[{places}]", f"the {kind}"))
    templates = [
        *4 * [f"{TAKE} {ghost}"],
        f"[move|put|send|bring|shift] {ghost} to the [front|end|middle|start|beginning]",
        f"[move|shift] {ghost} [one place|two places|one {{spot}}] to the [left|right]",
        f"{ghost} [disappears|leaves|is removed|goes away|moves to the end|should go|moves to the front]",
        f"[make|let] {ghost} [disappear|go away]",
    ]
    if row:
        templates += 2 * [
            f"[swap|switch|exchange|{{swap}}] {ghost} [with|and] {{x}}",
            f"[swap|switch|exchange|{{swap}}] {{x}} [with|and] {ghost}",
        ]
        templates += [f"[move|put] {{x}} [to the left of|to the right of|next to|before|after] {ghost}"]
        templates += [
            f"{TAKE} the [first|last] {amount} {thing}s",
            f"[move|put] {{x}} [in|to|into] the {ordinal(context, rng.randint(7, 10), rng)} {{spot}}",
        ]
        templates += [
            f"{TAKE} the {thing} to the left of [the first|the leftmost] one",
            f"{TAKE} the {thing} to the right of [the last|the rightmost] one",
        ]
        if len(row) == 1:
            templates += 2 * [f"[swap|switch|{{swap}}] the [first|last|outer] two [{thing}s|]", "[swap|switch|reverse] both of them"]
    return stays(context, rng, templates, x=any_name(context, rng))


def no_such_history(context: Context, rng: Random) -> Turn | None:
    """Bringing back, undoing or repeating what never was."""
    (row,), thing, done = context.state, noun(context, rng), len(context.turns)
    beyond = rng.randint(done + 1, 9)
    at = f"[step {number(context, beyond, rng)}|the {ordinal(context, beyond, rng)} step]"
    templates = [
        f"[undo|repeat|redo|reverse|cancel] {at}",
        f"[do what you did in|do the same as in|do] {at} [again|]",
        f"repeat {at} with {{x}}",
    ]
    templates += [
        f"[add back|bring back|restore] the {thing} [removed|deleted|you removed] in {at}",
        f"[remove|delete] the {thing} [you added|added] in {at}",
    ]
    templates += [f"[undo|revert] the last {number(context, max(beyond, 2), rng)} [steps|actions|instructions]"]
    if not done:
        templates += 2 * ["[undo|undo that|undo the last step|undo it|take that back|go back one step|redo that|revert the last change]"]
        templates += 2 * ["[do it again|again|repeat that|once more|repeat the last step|same again|do the same with {x}|swap them back]"]
        templates += [f"[remove|delete|move] the {thing} [you just added|you just moved|that was just added] [to the end|]"]
    if not absent(context) and len(row) != len(SHAPES) - 1:
        templates += 2 * [
            f"[bring|put|add] [it|them|the [removed|missing] {thing}|the {thing} you removed|everything you removed] back [in|]"
        ]
        templates += [f"[restore|return|reinsert] [the [removed|missing|deleted] {thing}|everything that was removed]"]
        templates += ["put the one you removed first [back|at the end|at the front]", f"replace {{x}} with the {thing} you removed"]
    if len(row) == len(SHAPES):
        templates += 2 * [
            f"[add|insert|put] [a|another|a new|a sixth|one more] {thing} [at the end|to the row|at the front|in the middle|]"
        ]
    return stays(context, rng, templates, x=any_name(context, rng))


# Deeds that the world does not know, or that change nothing.

UNKNOWN = (
    "[paint|color|colour|dye] {x} [red|blue|green|yellow|in another color|]",
    "[break|smash|crush|burn|heat|melt|freeze|wash|clean|polish|fold|bend|tear|scratch|weigh|eat|drink|cook|lick|kiss|hug|kick|hit] {x}",
    "[rotate|spin|twist|tilt|turn] {x} [by 90 degrees|clockwise|upside down|on its side|by 45 degrees|around its center|on its head]",
    "[flip|turn] {x} [upside down|over|on its head]",
    "[resize|enlarge|shrink|stretch|scale|widen|lengthen|thicken|magnify] {x}",
    "make {x} [bigger|smaller|red|blue|larger|twice as big|jump|dance|sing|talk|sit|wave|fly|happy|round|shiny|taller|darker]",
    "[rename|name|describe|label|count|sort|number|explain|draw|photograph|save|highlight|select|click|point at|look at|admire] {x}",
    "[copy|duplicate|clone|double|triple|multiply] {x}",
    "{x} [jumps|dances|sings|sits down|sleeps|falls over|laughs|cries|turns red|grows|shrinks|speaks|smiles|puts on a hat|runs in circles]",
    "[glue|tie|stick|attach|connect|nail|fasten] {x} to {y}",
    "[stack|pile|balance] {x} on [top of|] {y}",
    "[merge|combine|mix|compare|match|marry|blend] {x} [with|and] {y}",
    "[pour|empty] {x} into {y}",
    "give {x} [a hat|a name|a new color|a hug|a number|some water]",
    "cut {x} [in half|into pieces|in two]",
    "[draw|build|create|print|knit] a [new|] [house|cat|circle|picture|row of trees|triangle]",
    "[split|divide] {x} [in two|into two|into pieces]",
    "hang {x} on the wall",
    "[buy|sell|order|steal|find|call|feed|teach|greet|thank|wake up|marry|vote for] {x}",
    "[sing|dance|jump|sit|run|fly|swim|sleep|whistle|think|smile|fight|cook dinner] [with {x}|next to {x}|for {x}|like {x}]",
)


def unknown_deed(context: Context, rng: Random) -> Turn:
    """A deed that the world does not know, with a real figure."""
    several = group(context, rng) if rng.random() < 0.15 else None
    x = several[0].words if several else any_name(context, rng)
    return stays(context, rng, [t for t in UNKNOWN if not several or not t.startswith("{x}")], x=x, y=any_name(context, rng))


def impossible(context: Context, rng: Random) -> Turn | None:
    """A real deed that can't be done here, or that would change nothing."""
    (row,), thing = context.state, noun(context, rng)
    if not row:
        templates = [f"{TAKE} [the [first|last|second|middle|only] {thing}|everything|a {thing}|it]", "[reverse|flip|clear|empty] the row"]
        templates += [f"[swap|switch] the [first two|last two|outer] {thing}s", f"move the [first|last] {thing} to the [end|front]"]
        return stays(context, rng, templates)
    index = rng.randrange(len(row))
    x = name(context, index, rng)
    first, last = name(context, 0, rng), name(context, len(row) - 1, rng)
    count = number(context, rng.randint(len(row), 9), rng)
    templates = [
        f"[move|shift|push] {first} [one place|one {{spot}}|two places|further|by one] to the left",
        f"[move|shift|push] {last} [one place|one {{spot}}|two places|further|by one] to the right",
        f"move {x} {count} places to the [left|right]",
        f"[swap|switch|exchange|{{swap}}] {x} with itself",
        f"[swap|switch] {first} with [the one to its left|its left neighbor|its left neighbour]",
        f"[swap|switch] {last} with [the one to its right|its right neighbor|its right neighbour]",
        f"[move|put] {first} [to|at] the [front|beginning|far left]",
        f"[move|put] {last} [to|at] the [end|far right]",
        f"[move|put] {x} [to where it is|where it already is|next to itself]",
    ]
    if len(row) == len(SHAPES):
        templates += [f"[insert|add] {x} [again|a second time|twice|once more]"]
    return stays(context, rng, templates)


UNFOLLOWABLE: Mapping[Rule, float] = {
    negation: 2.4,
    staying: 0.8,
    question: 1.8,
    talk: 1.2,
    not_there: 2,
    no_such_history: 1,
    unknown_deed: 1.4,
    impossible: 0.8,
    remark: 0.6,
    small_talk: 2.4,
}

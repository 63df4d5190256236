"""Words that ask for nothing that can be done: the row stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from sestra.data.grammar import Context, Rule, Turn
from sestra.data.small_talk import small_talk
from sestra.worlds.tangrams.descriptions import absent
from sestra.worlds.tangrams.references import group, name, noun, number, ordinal
from sestra.worlds.tangrams.requests import REQUESTS, TAKE
from sestra.worlds.tangrams.world import SHAPES


def _stays(context: Context, rng: Random, templates: str | list[str], **slots: str) -> Turn:
    return Turn(context.say(rng, templates, **slots), context.state, context.event)


def _any_name(context: Context, rng: Random) -> str:
    """A figure that is in the row, or "the row" if it is empty."""
    (row,) = context.state
    return name(context, rng.randrange(len(row)), rng) if row else "the row"


# Real instructions that are not given.

VERBS = {  # the first words of instructions that are commands, with their other forms
    "remove": ("removing", "removed"),
    "delete": ("deleting", "deleted"),
    "erase": ("erasing", "erased"),
    "drop": ("dropping", "dropped"),
    "eliminate": ("eliminating", "eliminated"),
    "discard": ("discarding", "discarded"),
    "take": ("taking", "took"),
    "get": ("getting", "got"),
    "throw": ("throwing", "threw"),
    "toss": ("tossing", "tossed"),
    "dump": ("dumping", "dumped"),
    "pull": ("pulling", "pulled"),
    "swap": ("swapping", "swapped"),
    "switch": ("switching", "switched"),
    "exchange": ("exchanging", "exchanged"),
    "flip": ("flipping", "flipped"),
    "interchange": ("interchanging", "interchanged"),
    "trade": ("trading", "traded"),
    "move": ("moving", "moved"),
    "put": ("putting", "put"),
    "place": ("placing", "placed"),
    "bring": ("bringing", "brought"),
    "send": ("sending", "sent"),
    "push": ("pushing", "pushed"),
    "shift": ("shifting", "shifted"),
    "slide": ("sliding", "slid"),
    "transfer": ("transferring", "transferred"),
    "nudge": ("nudging", "nudged"),
    "reverse": ("reversing", "reversed"),
    "invert": ("inverting", "inverted"),
    "mirror": ("mirroring", "mirrored"),
    "undo": ("undoing", "undid"),
    "rotate": ("rotating", "rotated"),
    "clear": ("clearing", "cleared"),
    "empty": ("emptying", "emptied"),
    "repeat": ("repeating", "repeated"),
    "add": ("adding", "added"),
    "insert": ("inserting", "inserted"),
    "restore": ("restoring", "restored"),
    "return": ("returning", "returned"),
    "replace": ("replacing", "replaced"),
    "make": ("making", "made"),
    "turn": ("turning", "turned"),
    "revert": ("reverting", "reverted"),
}


def _command(context: Context, rng: Random) -> tuple[str, str, str] | None:
    """A command as one could give it here, and the same with a gerund and in the past tense."""
    turn = rng.choices(list(REQUESTS), list(REQUESTS.values()))[0](context, rng)
    if turn is None:
        return None
    verb, _, rest = turn.instruction.words.partition(" ")
    if verb not in VERBS or not rest or " then " in rest:
        return None
    gerund, past = VERBS[verb]
    return f"{verb} {rest}", f"{gerund} {rest}", f"{past} {rest}"


def negation(context: Context, rng: Random) -> Turn | None:
    """A command with a "don't"."""
    command = _command(context, rng)
    if command is None:
        return None
    x, gerund, _ = command
    templates = [
        *6
        * [
            "[don't|do not|don't|please don't|please do not|dont|never|don't you dare|you must not|you should not|you shouldn't|do not ever] {x}"
        ],
        "[i don't want you to|i do not want you to|i never asked you to|i did not ask you to|i didn't tell you to|you don't have to] {x}",
        "[there is no need to|no need to|it is not necessary to|you need not|let's not|you can't|you cannot|you may not] {x}",
        "[stop|avoid|quit|no|refrain from|without] {gerund}",
        "[whatever you do|careful|please|no], [don't|do not] {x}",
        "{x}? [no|no, don't|rather not|better not|please don't]",
    ]
    return _stays(context, rng, templates, x=x, gerund=gerund)


def staying(context: Context, rng: Random) -> Turn | None:
    """A figure, or all of them, is to stay as it is."""
    (row,), thing = context.state, noun(context, rng)
    if not row:
        return None
    verbs = (
        "[be removed|be deleted|disappear|leave|move|be moved|be swapped|go away|change places|be touched|go to the end|move to the front]"
    )
    templates = [
        *2 * [f"{{x}} [does not|doesn't|should not|shouldn't|must not|cannot|will not|won't] {verbs}"],
        f"[no {thing}|nothing|none of the {thing}s] [moves|disappears|leaves|is removed|is swapped|should move|should be removed|should change]",
        "[leave|keep] {x} [where it is|alone|as it is|in place|in its place|there]",
        "[don't|do not|never] [touch|change|lose] {x}",
        "{x} [stays|remains|should stay|must stay|is to stay] [where it is|in its place|there|in place]",
        "{x} is not [removed|deleted|moved|swapped]",
        f"[don't|do not] [remove|delete|move|swap|reverse|add] [anything|any {thing}|any of the {thing}s|the {thing}s|any more {thing}s]",
        "let {x} [stay|stay where it is|remain there]",
    ]
    return _stays(context, rng, templates, x=_any_name(context, rng))


def question(context: Context, rng: Random) -> Turn:
    """A question about the row, its figures or what was done."""
    thing, step = noun(context, rng), rng.choice(("one", "two", "1", "2", "3"))
    command = _command(context, rng)
    x, y = _any_name(context, rng), _any_name(context, rng)
    templates = [
        f"how many {thing}s [are there|are in the row|are left|do you see|did you remove|are missing|can there be]",
        "[what is|what's|which one is|who is] {x}",
        "[where is|where's|what happened to|what about|how about] {x}",
        "what does {x} [look like|show|mean]",
        "[is|was] {x} [a cat|a house|missing|red|the same as before|in the row|removed|still there|gone|in the right place|bigger than {y}]",
        "is {x} [to the left of|next to|the same as|larger than|before|behind] {y}",
        f"which {thing} [is missing|is first|is last|did you remove|was removed|is the largest|is in the middle|comes next|is on the left]",
        f"[what|which {thing}] did [you|i|we] [just|] [remove|swap|move|add|delete] [in step {step}|]",
        f"what [was|did you do in|happened in|is] step {step}",
        "[did|do|does] [you|anyone|someone|he|she] [remove|delete|swap|move|like|see|touch|know] {x}",
        "why [did you|was|is] [remove|move|delete|take away|swap] {x}",
        "who [removed|moved|deleted|took|swapped|added] {x}",
        "when [did you remove|was|will you move|did we swap|do we delete] {x}",
        f"[can|do] {thing}s [fly|talk|swim|move by themselves|have names|have colors|sing]",
        "[is the row|was the row] [empty|full|complete|finished|in order|reversed|sorted]",
        "[are there|were there] [five|four|three|any|more|enough|other] " + f"{thing}s",
        f"what is [in {{spot}} {step}|the name of {{x}}|to the left of {{x}}|next to {{x}}|between {{x}} and {{y}}|a tangram]",
        "how do [i|you|we] [remove|move|swap|delete] {x}",
        "how [big|old|heavy|large|far] is {x}",
    ]
    if command:
        plain, gerund, past = command
        templates += 2 * [
            f"[should i|should we|shall we|do i have to|may i|why should you|how do i|how can i|who told you to|is it possible to|is it ok to] {plain}",
            f"what [happens|would happen|will happen] [if you|if i|when you] {plain}",
            f"[did you|did i|did we|have we to|why did you|when did you|do you want to|do you ever] {plain}",
            f"[who|who has|when i|has anyone|had you already] {past}",
            f"[what about|do you like|are you|is anyone|was that you] {gerund}",
        ]
    return _stays(context, rng, [f"{template}[?|?|]" for template in templates], x=x, y=y)


def talk(context: Context, rng: Random) -> Turn | None:
    """Conditions, the past, the future, and other talk about deeds."""
    command = _command(context, rng)
    if command is None:
        return None
    plain, gerund, past = command
    when = "[yesterday|last week|last time|earlier|before|once|the other day]"
    templates = [
        f"[if you|if i|if we|when you|unless you|in case you|suppose you|imagine you|what if you] {plain}",
        f"[if it rains|if i were you|maybe|perhaps|one day|tomorrow|next week|later on] [i would|i will|we might|i may|i could|someone will] {plain}",
        f"[i might|i may|i was going to|i wanted to|i will|i am going to|we could have|i used to|someone should have|he likes to] {plain} [later|some day|tomorrow|]",
        f"{when} [i|you|we|someone|she] {past}",
        f"[i|you|we|someone|nobody|he] [already|] {past}",
        f"[i like|i hate|i enjoy|i remember|we talked about|i dream of|i was|thanks for|sorry for|i am afraid of|he is] {gerund}",
        f"{gerund} [is|was] [fun|hard|easy|boring|not what i want|a bad idea|not allowed|wrong]",
        f"[you were about to|you forgot to|you tried to|you refused to|he told me to|she asked me to|it is hard to|it would be nice to] {plain}",
    ]
    return _stays(context, rng, templates)


# Things that are not there.

NAMED = (
    "[red|blue|green|yellow|purple|orange|black|white|brown|pink|gray] [{thing}|one]",
    "[cat|house|boat|swan|rocket|dog|bird|tree|fish|man|woman|horse|star|heart|triangle|square|circle|cube|hexagon|person|car|chair]",
    "[big|small|large|tiny|tall|round|long|heavy|biggest|smallest|tallest|ugly|pretty] [{thing}|one]",
    "[beaker|hat|chemical|person in red|card|number|letter|word|button|window|guy with the hat]",
    "{thing} [with the hat|with the long neck|that looks like a [dog|house|bird|person]|in red|named bob|on the table|below the row|above the row]",
)


def not_there(context: Context, rng: Random) -> Turn:
    """A real deed with a figure or a place that the row does not have."""
    (row,), thing = context.state, noun(context, rng)
    beyond = rng.randint(len(row) + 1, 10)
    nth, digit = ordinal(context, beyond, rng), number(context, beyond, rng)
    kind = rng.choice(NAMED).replace("{thing}", thing)
    places = f"the {nth} [{thing}|{thing}|one]|{thing} [number|] {digit}|the {nth} {thing} from the [left|right]|the {thing} in the {nth} {{spot}}"
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
        templates += [f"{TAKE} {{x}} and {ghost}", f"[move|put] {{x}} [to the left of|to the right of|next to|before|after] {ghost}"]
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
    return _stays(context, rng, templates, x=_any_name(context, rng))


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
            f"[bring|put|add] [it|them|the [removed|missing|deleted] {thing}|the {thing} you [just|] removed|everything you removed] back [in|]"
        ]
        templates += [f"[restore|return|reinsert] [the [removed|missing|deleted] {thing}|everything that was removed]"]
        templates += ["put the one you removed first [back|at the end|at the front]", f"replace {{x}} with the {thing} you removed"]
    if len(row) == len(SHAPES):
        templates += 2 * [
            f"[add|insert|put] [a|another|a new|a sixth|one more] {thing} [at the end|to the row|at the front|in the middle|]"
        ]
    return _stays(context, rng, templates, x=_any_name(context, rng))


# Deeds that the world does not know, or that change nothing.

UNKNOWN = (
    "[paint|color|colour|dye] {x} [red|blue|green|yellow|in another color|]",
    "[break|smash|crush|burn|heat|melt|freeze|wash|clean|polish|fold|bend|tear|scratch|sharpen|weigh|measure|eat|drink|cook|lick|kiss|hug|kick|hit] {x}",
    "[rotate|spin|twist|tilt|turn] {x} [by 90 degrees|clockwise|upside down|on its side|by 45 degrees|around its center|on its head]",
    "[flip|turn] {x} [upside down|over|on its head]",
    "[resize|enlarge|shrink|stretch|scale|widen|lengthen|thicken|magnify] {x}",
    "make {x} [bigger|smaller|red|blue|larger|twice as big|jump|dance|sing|talk|sit|wave|fly|happy|round|shiny|invisible ink|taller|darker]",
    "[rename|name|describe|label|count|sort|number|explain|draw|photograph|save|print|highlight|select|click|point at|look at|show me|admire] {x}",
    "[copy|duplicate|clone|double|triple|multiply] {x}",
    "{x} [jumps|dances|sings|sits down|sleeps|flies away with joy|falls over|laughs|cries|turns red|grows|shrinks|speaks|smiles|puts on a hat|runs in circles]",
    "[glue|tie|stick|attach|connect|nail|fasten] {x} to {y}",
    "[stack|pile|balance] {x} on [top of|] {y}",
    "[merge|combine|mix|compare|match|marry|blend] {x} [with|and] {y}",
    "[pour|empty] {x} into {y}",
    "give {x} [a hat|a name|a new color|a hug|to me|a number|some water]",
    "cut {x} [in half|into pieces|in two]",
    "[draw|build|create|print|knit] a [new|] [house|cat|circle|picture|row of trees|triangle]",
    "[split|divide] {x} [in two|into two|into pieces]",
    "hang {x} on the wall",
    "[buy|sell|order|steal|find|lend me|call|feed|teach|greet|thank|wake up|marry|vote for] {x}",
    "[sing|dance|jump|sit|run|fly|swim|sleep|whistle|think|smile|fight|cook dinner] [with {x}|next to {x}|for {x}|like {x}]",
)
IDLE = (
    "{x} is [nice|beautiful|funny|ugly|a cat|my favorite|very interesting|strange|here|in the row|not bad|so pretty]",
    "i [like|love|hate|prefer|can see|am looking at|remember|miss] {x}",
    "[this|that|it] is [a nice row|a row of {thing}s|good|correct|what i wanted|fine as it is|not what i wanted|a puzzle]",
    "the row is [fine|nice|long|short|good as it is|ready|beautiful]",
    "{x} looks like [a bird|a house|my dog|a person|a fish|a ship]",
    "[the {thing}s|they] are [all different|pretty|in the right order|just shapes|black|in a row]",
)


def unknown_deed(context: Context, rng: Random) -> Turn:
    """A deed that the world does not know, with a real figure."""
    several = group(context, rng) if rng.random() < 0.15 else None
    x = several[0].words if several else _any_name(context, rng)
    return _stays(context, rng, [t for t in UNKNOWN if not several or not t.startswith("{x}")], x=x, y=_any_name(context, rng))


def remark(context: Context, rng: Random) -> Turn:
    """A statement about the row, which may just say what is so."""
    (row,), thing = context.state, noun(context, rng)
    count = number(context, len(row), rng) if row else "no"
    things = thing if len(row) == 1 else f"{thing}s"
    templates = [template.replace("{thing}", thing) for template in IDLE]
    templates += 3 * [f"[there are|i see|i count|the row has|we have|you have] {count} {things} [in the row|left|now|here|]"]
    if len(row) > 1:
        index = rng.randrange(len(row) - 1)
        left, right = name(context, index, rng), name(context, index + 1, rng)
        templates += [
            f"{left} is [to the left of|left of|before|next to] {right}",
            f"{right} [is|stands] [to the right of|after|next to] {left}",
        ]
        templates += [f"the first {thing} is [at the front|in first place|on the left]", f"the last {thing} is [at the end|on the right]"]
    return _stays(context, rng, templates, x=_any_name(context, rng))


def impossible(context: Context, rng: Random) -> Turn | None:
    """A real deed that can't be done here, or that would change nothing."""
    (row,), thing = context.state, noun(context, rng)
    if not row:
        templates = [f"{TAKE} [the [first|last|second|middle|only] {thing}|everything|a {thing}|it]", "[reverse|flip|clear|empty] the row"]
        templates += [f"[swap|switch] the [first two|last two|outer] {thing}s", f"move the [first|last] {thing} to the [end|front]"]
        return _stays(context, rng, templates)
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
        f"[insert|add] {x} [again|a second time|twice|once more]",
        f"[move|put] {x} [to where it is|where it already is|next to itself]",
    ]
    return _stays(context, rng, templates)


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

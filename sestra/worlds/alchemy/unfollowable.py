"""What people say in Alchemy that cannot be followed: negations, questions, things that are not there, other deeds; and ambiguous words."""

from __future__ import annotations

from random import Random

from sestra.data.grammar import Context, Phrase, Rule, Template, Turn
from sestra.data.small_talk import small_talk
from sestra.worlds.alchemy import requests
from sestra.worlds.alchemy.descriptions import Event, units
from sestra.worlds.alchemy.names import name
from sestra.worlds.alchemy.world import BEAKERS, CAPACITY, COLOURS


def _unchanged(context: Context, phrase: Phrase) -> Turn:
    return Turn(phrase, context.state, context.event)


def _deed(context: Context, rng: Random) -> Phrase | None:
    """A real instruction that begins with a verb."""
    turn = rng.choice((requests.drain, requests.pour, requests.mix, requests.empty_several, requests.leave, requests.exchange))(
        context, rng
    )
    return turn.instruction if turn and turn.instruction.words.split()[0] in VERBS else None


VERBS = frozenset(
    [
        "empty",
        "drain",
        "clear",
        "clean",
        "throw",
        "dump",
        "pour",
        "toss",
        "tip",
        "get",
        "remove",
        "discard",
        "eliminate",
        "delete",
        "spill",
        "dispose",
        "take",
        "leave",
        "reduce",
        "bring",
        "keep",
        "halve",
        "cut",
        "mix",
        "stir",
        "blend",
        "shake",
        "swirl",
        "agitate",
        "combine",
        "make",
        "turn",
        "give",
        "swap",
        "switch",
        "exchange",
        "trade",
        "transfer",
        "move",
        "put",
        "add",
        "shift",
        "lower",
    ]
)


def negation(context: Context, rng: Random) -> Turn | None:
    """A real instruction that is not to be followed."""
    deed = _deed(context, rng)
    if deed is None:
        return None
    templates: list[Template] = [
        "[don't|do not|dont|never|please don't|please do not|you must not|you should not|you shouldn't] {x} [|yet|now|please|anymore]",
        "[i don't want you to|i do not want to|i never said|there is no need to|no need to|avoid to|refuse to] {x}",
        "[under no circumstances|whatever you do , don't|no , don't|stop , do not|be careful not to|make sure not to] {x}",
    ]
    return _unchanged(context, context.say(rng, templates, x=deed))


def hypothetical(context: Context, rng: Random) -> Turn | None:
    """A real instruction in a question, a condition or a story."""
    deed = _deed(context, rng)
    if deed is None:
        return None
    templates: list[Template] = [
        "[did|do|should|would|will] [you|i|we|they] {x} ?",
        "[what happens|what would happen|what if|what will happen] [if|when] [you|i|we] {x} ?",
        "[why|when|how|where] [did|do|would|should] [you|i|we] {x} ?",
        "[if|when|unless] [you|we|i] {x} , [it will be bad|nothing happens|i win]",
        "[i might|maybe i will|perhaps we could|one day i will|yesterday i wanted to|he told me to|i was told to] {x} [later|]",
        "[i like to|i love to|people often|my teacher used to|it would be fun to|is it fun to|is it possible to|how hard is it to] {x}",
        "[imagine|pretend|suppose] [that|] you {x}",
        "[i have already|you already|we forgot to|i forgot how to|tell me how to] {x}",
    ]
    return _unchanged(context, context.say(rng, templates, x=deed))


def question(context: Context, rng: Random) -> Turn | None:
    """A question about the state."""
    beaker, colour = rng.randrange(BEAKERS), rng.choice(list(COLOURS.values()))
    templates: list[Template] = [
        "[what is|what's|what do you have|what was|what do you see] in {x} [?|]",
        "[what|which] [color|colour|{chemical}] is [in|] {x} [?|]",
        "[how many|how much] [{unit}s|{chemical}|{chemical}s] [is in|are in|does] {x} [have|hold|contain|] [?|]",
        "how full is {x} [?|]",
        f"is {{x}} [empty|full|{colour}|mixed|brown|still {colour}|the largest] [?|]",
        "what does {x} [contain|hold|look like] [?|]",
        f"[which|what] {{beaker}} [is|was] [{colour}|empty|the largest|the fullest|mixed|first|the smallest] [?|]",
        f"[are there|do we have|do you see|is there] [any|a|some] {colour} [{{beaker}}|{{beaker}}s|{{chemical}}|one] [?|]",
        f"[how many|where are the|which are the] [{colour}|empty|full|mixed|] {{beaker}}s [are there|do we have|can you see|] [?|]",
        f"where is [the|my] [{colour}|empty|mixed] [{{beaker}}|one|{{chemical}}] [?|]",
        "[tell me|describe|show me|explain] what is in {x}",
        "[tell me about|describe|explain|look at|what about|what happened to|count the {unit}s in|compare it with] {x} [?|]",
        f"[does|do] {{x}} [have|contain] [any|] {colour} [?|]",
        "is it possible to mix {x} [?|]",
        "[can|may] i [drink|touch|have|see] {x} [?|]",
    ]
    return _unchanged(context, context.say(rng, templates, x=name(context, beaker, rng)))


def absent(context: Context, rng: Random) -> Turn | None:
    """An instruction about a beaker or a colour that is not there."""
    state, speaker = context.state, context.speaker
    missing = [colour for letter, colour in COLOURS.items() if all(letter not in content for content in state)]
    number = rng.choice((8, 8, 9, 10, 11, 12, 15, 20, 0, 100))
    names: list[Template] = [f"{{beaker}} [number|] {number}"]
    if number in (8, 9, 10):
        names = [f"{{beaker}} {speaker.number(number)}", f"the {speaker.ordinal(number)} [{{beaker}}|one]"]
    if missing:
        colour = rng.choice(missing)
        names += 6 * [
            f"[the|a|all the|every|the first|the last|the second] {colour} [{{beaker}}|one|{{chemical}}]",
            f"the {{beaker}} with [the|] {colour} [{{chemical}}|]",
        ]
    for letter, colour in COLOURS.items():
        count = sum(letter in content for content in state)
        if 1 <= count <= 4:
            names += [f"the {speaker.ordinal(count + rng.randint(1, 2))} {colour} [{{beaker}}|one]"]
    if all(state):
        names += 2 * ["the empty [{beaker}|one]"]
    if all(len(set(content)) < 2 for content in state):
        names += 3 * ["the [mixed {beaker}|mixture|{beaker} with two colors]"]
    names += [
        f"the [{odd}] [{{beaker}}|one|{{chemical}}]"
        for odd in ("black|white|pink|golden|grey|gray|silver|turquoise|transparent|violet|cyan",)
    ]
    missing_one, other = context.say(rng, names), name(context, rng.randrange(BEAKERS), rng)
    some = units(context, rng.randint(1, 3))
    templates: list[Template] = [
        f"{requests.EMPTY_IT} {{x}}",
        f"{requests.EMPTY_IT} {{x}}",
        f"{requests.TAKE} {some} [from|of] {{x}}",
        f"{requests.MOVE} {{x}} into {{y}}",
        f"{requests.MOVE} {{y}} into {{x}}",
        "[mix|stir|shake|blend] {x}",
        "[swap|switch] {x} [with|and] {y}",
        "{x} turns brown",
        f"{requests.MOVE} {some} of {{x}} into {{y}}",
        "do the same with {x}",
    ]
    return _unchanged(context, context.say(rng, templates, x=missing_one, y=other))


UNKNOWN_DEEDS = (
    "paint|heat|heat up|warm|freeze|cool|cool down|boil|cook|break|smash|crush|drink|taste|smell|sniff|eat|lick|label|photograph|"
    "weigh|hide|lift|kick|rotate|spin|polish|sell|buy|burn|cover|close|seal|open|rename|count|shrink|enlarge|stack|melt|sit on|"
    "dance with|sing to|talk to|kiss|jump over|touch|look at|watch|study|draw|explode|blow up|light|ignite|wrap|decorate|bless|"
    "hug|squeeze|bounce|bury|steal|lock|zoom in on|highlight|select|click|print|copy|save|wash|dry|repair|fix|inspect|examine|"
    "admire|feed|pet|name|love|hate|ignore|find|google|turn on|turn off"
)


def unknown_deed(context: Context, rng: Random) -> Turn | None:
    """Something that cannot be done to a beaker here."""
    beaker, number = rng.randrange(BEAKERS), rng.randint(2, 9)
    things = "salt|sugar|water|milk|ice|a spoon|a fish|an egg|some cookies|a straw|vinegar|fire|sand|a lid|juice|coffee|tea|soap"
    templates: list[Template] = [
        *4 * [f"[{UNKNOWN_DEEDS}] {{x}} [|please|again|for me|now]"],
        f"[add|put|pour] [{things}] [to|in|into] {{x}}",
        f"fill {{x}} with [{things}]",
        "make {x} [bigger|smaller|hot|cold|square|taller|glow|disappear into space|smile|invisible|shiny|round|spicy]",
        "[paint|color|colour|make|turn|dye] {x} [black|white|pink|golden|striped|transparent|silver]",
        f"[divide|multiply] {{x}} by {number}",
        f"[add|create|buy|build|bring] [another|a new|an extra|a second|{number} more] {{beaker}}[s|]",
        "[throw|place|carry|put] {x} [on|under] the table",
        "[give|hand|sell|show] {x} to [me|my friend|her|the teacher]",
        "[put|place] {x} [in the fridge|in the oven|on the floor|upside down|outside]",
    ]
    return _unchanged(context, context.say(rng, templates, x=name(context, beaker, rng)))


def impossible(context: Context, rng: Random) -> Turn | None:
    """What cannot be done in this state: nothing is there to take, or there is no room; or it is so already."""
    state = context.state
    empty, full = [n for n in range(BEAKERS) if not state[n]], [n for n in range(BEAKERS) if len(state[n]) == CAPACITY]
    some = units(context, rng.randint(1, 3))
    if empty and rng.random() < 0.6:
        templates = [
            f"{requests.EMPTY_IT} {{x}}",
            f"{requests.TAKE} {some} from {{x}}",
            "[mix|stir|shake] {x}",
            f"{requests.MOVE} {{x}} into {{y}}",
        ]
        templates += ["{x} is empty", "there is nothing in {x}"]
        return _unchanged(
            context, context.say(rng, templates, x=name(context, rng.choice(empty), rng), y=name(context, rng.choice(empty), rng))
        )
    filled = [n for n in range(BEAKERS) if state[n]]
    if full and len(filled) > 1:
        target = rng.choice(full)
        source = rng.choice([n for n in filled if n != target])
        templates = [f"{requests.MOVE} {{x}} into {{y}}", f"add {some} of {rng.choice(list(COLOURS.values()))} to {{y}}", "{y} is full"]
        return _unchanged(context, context.say(rng, templates, x=name(context, source, rng), y=name(context, target, rng)))
    return None


def ambiguous(context: Context, rng: Random) -> Turn | None:
    """An instruction about one of several beakers that the words fit; which one is drawn."""
    state, speaker = context.state, context.speaker
    kinds: list[tuple[list[int], list[Template]]] = []
    for letter, colour in COLOURS.items():
        alike = [n for n in range(BEAKERS) if set(state[n]) == {letter}]
        kinds.append((alike, [f"[the|a] {colour} [{{beaker}}|one|{{chemical}}|]", f"one of the {colour} [ones|{{beaker}}s]"]))
    kinds += [
        (
            [n for n in range(BEAKERS) if len(state[n]) == count],
            [f"the [{{beaker}}|one] with {speaker.number(count)} {{unit}}{'s' * (count > 1)}"],
        )
        for count in range(1, CAPACITY + 1)
    ]
    kinds.append(([n for n in range(BEAKERS) if state[n]], ["[a|the|one|some|any] {beaker}", "one of [them|the {beaker}s]"]))
    kinds = [(fitting, names) for fitting, names in kinds if len(fitting) > 1]
    if not kinds:
        return None
    fitting, names = rng.choice(kinds)
    beaker = rng.choice(fitting)
    what, content = context.say(rng, names), state[beaker]
    least = min(len(state[n]) for n in fitting)
    if least > 1 and rng.random() < 0.3:
        amount = rng.randint(1, least - 1)
        phrase = context.say(rng, f"{requests.TAKE} {units(context, amount)} [from|of] {{x}}", x=what)
        return Turn(phrase, context.state_with({beaker: content[:-amount]}), Event("drain", beaker, repeatable=False))
    targets = [n for n in range(BEAKERS) if n not in fitting and len(state[n]) <= CAPACITY - max(len(state[m]) for m in fitting)]
    if targets and rng.random() < 0.4:
        target = rng.choice(targets)
        phrase = context.say(rng, f"{requests.MOVE} {{x}} into {{y}}", x=what, y=name(context, target, rng))
        after = context.state_with({beaker: "", target: state[target] + content[::-1]})
        return Turn(phrase, after, Event("pour", target, repeatable=False))
    phrase = context.say(rng, f"{requests.EMPTY_IT} {{x}}", x=what)
    return Turn(phrase, context.state_with({beaker: ""}), Event("drain", beaker, repeatable=False))


UNFOLLOWABLE: dict[Rule, float] = {
    small_talk: 1.2,
    negation: 1.0,
    hypothetical: 0.8,
    question: 1.2,
    absent: 1.2,
    unknown_deed: 1.2,
    impossible: 0.4,
}
AMBIGUOUS: dict[Rule, float] = {ambiguous: 1.0}

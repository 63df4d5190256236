"""What people say in Scene that asks for nothing that can be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from sestra.data.grammar import Context, Phrase, Rule, Template, Turn
from sestra.data.small_talk import small_talk
from sestra.worlds.scene import deeds, groups
from sestra.worlds.scene.clauses import Clause, affirm, ask, clause, negate, suppose
from sestra.worlds.scene.deeds import dressing, leaving, moving, undressing
from sestra.worlds.scene.descriptions import EMPTY, article, people_of
from sestra.worlds.scene.destinations import Destination, destination, free_places, step_words
from sestra.worlds.scene.impossible import already_so, impossible
from sestra.worlds.scene.people import P, name, subject
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS


def still(context: Context, phrase: Phrase) -> Turn:
    """A turn that leaves everything as it is."""
    return Turn(phrase, context.state, context.event)


def some_clause(context: Context, rng: Random) -> Clause | None:
    """What could be asked for, as one of the deeds has it."""
    several = (groups.leave_together, groups.change_hats_together, groups.move_together)
    done = rng.choice(several)(context, rng) if rng.random() < 0.2 else deeds.any_deed(context, rng)
    return done.clause if done else None


def negation(context: Context, rng: Random) -> Turn | None:
    """A deed that is not to be done."""
    what = some_clause(context, rng)
    return still(context, negate(context, rng, what)) if what else None


def question_about_a_deed(context: Context, rng: Random) -> Turn | None:
    """Whether, when or why something is done."""
    what = some_clause(context, rng)
    return still(context, ask(context, rng, what)) if what else None


def supposition(context: Context, rng: Random) -> Turn | None:
    """What was, will be or might be."""
    what = some_clause(context, rng)
    return still(context, suppose(context, rng, what)) if what else None


def inaction(context: Context, rng: Random) -> Turn:
    """Nothing is to happen."""
    templates = [
        "[nobody|no one] [moves|leaves|comes|appears|does anything|goes anywhere|takes off a hat|enters|exits|disappears] [now|]",
        "[everyone|everybody] [stays|remains|stands still|stays where they are|stays put|keeps their hat|keeps still|waits]",
        "[don't|do not|never] [move|touch|remove] [people|anyone|anybody|them]",
        "[nobody|no one] [should|must|may|can] [move|leave|come in|enter|go|take off a hat]",
        "nothing [happens|changes|moves]",
        "[stop|quit] [that|it|moving|moving people|moving around|doing that|removing people|giving hats to people]",
        "[don't|do not] [move|leave|do anything|change anything|go|remove anyone|remove anybody|add anyone|add people]",
    ]
    if people_of(context) and rng.random() < 0.6:
        x = name(context, rng.choice(people_of(context)), rng)
        does = [
            "[stay|remain] [where {he} is|there|here|in place|put|on the stage]",
            "[stand still|wait|not move|keep {his} place|do nothing]",
        ]
        told = ["leave {x} [alone|there|where {he} is|as {he} is]", "keep {x} [there|where {he} is|in place]"]
        return still(context, affirm(context, rng, clause(context, rng, does, told, x)))
    return still(context, context.say(rng, templates))


def question(context: Context, rng: Random) -> Turn:
    """About what is to be seen."""
    number, colour = context.speaker.number(rng.randint(1, POSITIONS)), rng.choice(list(COLOURS.values()))
    templates: list[Template] = [
        "how many [people|{person}s|hats|colors|positions|persons] [are there|are on the stage|do you see|are left|are here] [?|]",
        f"how many people [are in {colour}|wear {colour}|have {colour} hats|wear hats|have no hat] [?|]",
        f"[who|what] is [at|in|on] [position|place|spot] {number} [?|]",
        "[who is|who stands] [on|at] the [far left|far right|left end|right end|left|right] [?|]",
        f"[is there|do you see] [a {{person}} in {colour}|{article(colour)} hat|anyone in {colour}|anybody in {colour}] [?|]",
        f"[where|who] is the {{person}} [in|with the] {colour} [shirt|hat|] [?|]",
        "[who|which person|which one] [is the tallest|has a hat|wears a hat|has no hat|just left|just moved|is in the middle] [?|]",
        "[who|which {person}] is [wearing a hat|first|last|next|missing|new] [?|]",
        f"[is|are] [position|spot] {number} [empty|free|taken|occupied] [?|]",
        "[can|do] [people|the people|they|hats] [fly|talk|sing|swim|see me|hear us|dance|like hats|have names|speak|sleep] [?|]",
        "[what are [the people|they] [doing|called]|why are [they|these people|all the hats] here|where are [they|the people] from] [?|]",
        "[are there|do you see] [any|more than two|only two|three] [people|hats|free spots|empty places] [?|]",
        "[is anyone|is anybody|who is] [wearing a hat|there|leaving|on the stage|moving|missing|here] [?|]",
        "[what|which] [color|colour] is [his|her|the last person's|that|the first person's] [hat|shirt] [?|]",
    ]
    if people_of(context):
        x = name(context, rng.choice(people_of(context)), rng)
        templates += [
            context.say(rng, "[where|who] is {x} [?|]", x=x),
            context.say(rng, "is {x} [wearing a hat|at the end|on the left|next to someone|happy|alone|new|still there|a man] [?|]", x=x),
            context.say(rng, "[does|did] {x} [have a hat|wear a hat|have a name|like hats|come first|just come|move before] [?|]", x=x),
            context.say(rng, f"does {{x}} [wear|have] {article(colour)} [hat|shirt] [?|]", x=x),
            context.say(rng, "[what|what color] is {x} wearing [?|]", x=x),
            context.say(rng, "what [color|colour] is the [hat|shirt] of {x} [?|]", x=x),
            context.say(rng, "who is [next to|to the left of|to the right of|beside] {x} [?|]", x=x),
        ]
    return still(context, context.say(rng, templates))


def absent_name(context: Context, rng: Random) -> Phrase | None:
    """A description of somebody who is not there."""
    people, state, speaker = people_of(context), context.state, context.speaker
    names: list[str] = []
    for letter, colour in COLOURS.items():
        if all(letter not in state[n] for n in people):
            names += 2 * [f"the {P} in {colour}", colour, f"the {colour} {P}", f"mr. {colour}"]
        if all(state[n][0] != letter for n in people):
            names += [f"the {P} [in|with|wearing] the {colour} shirt"]
        if all(state[n][1] != letter for n in people):
            names += [f"the {P} [in|with|wearing] the {colour} hat", f"the {colour} hat {P}"]
    names += 2 * [f"the {P} [in|wearing] {odd}" for odd in ("black", "white", "pink", "brown", "grey", "gray", "gold", "silver")]
    names += 2 * [
        f"the {P} [with|wearing] [the|] {odd}"
        for odd in ("glasses", "sunglasses", "black hat", "white shirt", "shoes", "beard", "pink hat")
    ]
    names += 2 * [
        f"the [{odd}]"
        for odd in ("dog|cat|horse|bird", "table|chair|car|tree", "beaker|bottle|cup", "king|queen|child|baby", "ball|box|door")
    ]
    for n in rng.sample(free_places(context), min(3, len(free_places(context)))):
        names += 3 * [
            f"the {P} [at|in] [position|place|spot] {speaker.number(n + 1)}",
            f"the {P} in the {speaker.ordinal(n + 1)} [position|spot]",
        ]
    for n in range(len(people) + 1, min(len(people) + 5, POSITIONS + 1)):
        if state[n - 1] == state[-n] == EMPTY:  # "the fifth person" is not the one in the fifth place either
            names += 3 * [f"the {speaker.ordinal(n)} [{{person}}|person]", f"the {speaker.ordinal(n)} {P} from the [left|right]"]
    hats = {state[n][1] != NONE for n in people}
    names += 4 * [f"the {P} with the hat", "everyone with a hat", "both people with hats"] * (True not in hats)
    names += 4 * [f"the {P} without a hat", f"the hatless {P}", "everyone without a hat"] * (False not in hats)
    return context.say(rng, names)


def not_there(context: Context, rng: Random) -> Turn | None:
    """A deed of somebody who is not there."""
    x = absent_name(context, rng)
    if x is None:
        return None
    plural = x.words.startswith("both")
    steps = Destination(0, step_words(context, rng.choice((-3, -2, -1, 1, 2, 3)), rng), None)
    where = destination(context, None, rng) or steps
    kind = rng.randrange(6)
    if kind == 0 or plural:
        said = leaving(context, rng, x, plural=plural)
    elif kind == 1:
        said = moving(context, rng, x, replace(where, at=None))  # "put green on the left" could be somebody new
    elif kind == 2:
        said = moving(context, rng, x, steps)
    elif kind == 3:
        said = undressing(context, rng, x)
    elif kind == 4:
        said = dressing(context, rng, x, rng.choice(list(COLOURS.values())))
    else:
        return _beside_nobody(context, rng, x)
    return still(context, affirm(context, rng, said))


def _beside_nobody(context: Context, rng: Random, y: Phrase) -> Turn | None:
    """Somebody who is there is to do something with somebody who is not."""
    people = people_of(context)
    if not people:
        return None
    who = rng.choice(people)
    x = subject(context, who, rng)
    does = ["[move|go|walk] [to the [left|right] of|next to|beside] {y}", "[swap|switch|trade] [places|hats] with {y}"]
    does += ["[give {his} hat to|take the hat of|take the hat from] {y}"] * (context.state[who][1] != NONE)
    told: list[Template] = ["[move|put] {x} [next to|to the left of|to the right of] {y}", "swap {x} [and|with] {y}"]
    return still(context, affirm(context, rng, clause(context, rng, does, told, x, y=y)))


UNKNOWN = (
    "[jump|sing|dance|sit down|lie down|sleep|fly|laugh|cry|smile|wave|clap|bow|kneel|shout|whisper|talk|cough|sneeze|yawn|swim|climb]",
    "[spin around|turn around|fall over|fall asleep|wake up|eat an apple|drink some water|read a book|sing a song|do a handstand]",
    "[dance a waltz|jump up and down|do a backflip|raise {his} hand|close {his} eyes|open the door|stand on one leg|tie {his} shoes]",
    "[explode|grow|shrink|melt|burn|float|get bigger|get smaller|get angry|grow a beard|cook dinner|play the piano|go shopping]",
    "[kiss|hug|kick|push over|hit|insult|fight|marry|tickle|greet|thank] {y}",
    "[shake hands|have a chat|argue|fall in love|dance|play chess|have dinner] with {y}",
    "[scratch|wash|shave|nod|shake] {his} head",
)
UNKNOWN_TO_AGENT = (
    "[paint|break|heat|drink|rotate|resize|rename|fold|wash|cook|burn|freeze|melt|stretch|squeeze|cut|eat|photograph|feed|pay|flip] {x}",
    "[kick|hit|kill|shoot|tickle|hug|kiss|praise|insult|thank|greet|marry|wake|scare|dry|iron|count|describe|draw a picture of|film] {x}",
    "turn {x} [upside down|around|into a frog|by 90 degrees|inside out]",
    "make {x} [taller|smaller|bigger|happy|sad|invisible|jump|sing|dance|sit down|laugh|fly|older|younger|sleep|cry]",
    "[paint|dye|draw] {x} [black|pink|white]",
    "[zoom in on|look at|talk to|listen to|think about|point at|smile at|wait for|laugh at|shout at|dance with|read to] {x}",
    "[give|hand|buy|bring] {x} [a drink|a sandwich|a present|a chair|some money|a book|an umbrella|shoes|glasses|a flower]",
    "[pour|drain|fill|empty|mix|stir|drink|spill] [{x}|the beaker|the first beaker|some water|it]",
    "tell {x} [a joke|a story|the truth|the time|a secret]",
)


def unknown_deed(context: Context, rng: Random) -> Turn | None:
    """Something that nobody can do here."""
    people = people_of(context)
    if not people:
        return None
    who = rng.choice(people)
    y = name(context, rng.choice([n for n in people if n != who] or people), rng, who)
    if rng.random() < 0.25 or len(people) == 1:
        some, plural = rng.choice(groups.EVERYONE) if len(people) > 1 else (subject(context, who, rng), False)
        said = clause(context, rng, UNKNOWN[:4], UNKNOWN_TO_AGENT, context.say(rng, some), plural=plural)
    else:
        said = clause(context, rng, UNKNOWN, UNKNOWN_TO_AGENT, subject(context, who, rng), y=y)
    return still(context, affirm(context, rng, said))


UNFOLLOWABLE: Mapping[Rule, float] = {
    small_talk: 4.5,
    negation: 6,
    inaction: 1,
    question: 2,
    question_about_a_deed: 2.5,
    supposition: 2,
    not_there: 3,
    unknown_deed: 2.5,
    impossible: 2,
    already_so: 0.8,
}
"""Words after which everything stays as it is, each rule with its weight."""

"""What was done, once more or the other way round: "again", "same with blue", "repeat step two", "undo that", "bring him back"."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from sestra.data.grammar import PRONOUN, PUT_BACK, SAME_AGAIN, STEP, Context, Phrase, State, Template, Turn, marked
from sestra.worlds.scene.clauses import affirm, clause
from sestra.worlds.scene.deeds import moved, newcomer
from sestra.worlds.scene.descriptions import EMPTY, Event, article, focus, people_of
from sestra.worlds.scene.destinations import destination, free_places
from sestra.worlds.scene.people import name, subject
from sestra.worlds.scene.world import COLOURS, NONE, POSITIONS

REVERSED = frozenset(("undo", "return", "reverse"))
"""Events after which "undo" could be taken in two ways."""


def step_name(context: Context, index: int, rng: Random) -> Phrase:
    """An earlier instruction."""
    number, ordinal = context.speaker.number(index + 1), context.speaker.ordinal(index + 1)
    names: list[Template] = [f"[step|instruction|step number] {number}", f"step {index + 1}"]
    names += [f"the {ordinal} [step|instruction|action|command]"]
    if index == len(context.turns) - 1:
        names += ["the [last|previous] [step|instruction|action|command]"]
    return context.say(rng, names, STEP)


def repeated(context: Context, index: int, who: int) -> tuple[State, Event] | None:
    """What it would be if this person did what was done in that turn."""
    event, state, then = context.turns[index].event, context.state, context.states[index + 1]
    shirt, hat = state[who]
    if event.kind == "leave":
        return context.state_with({who: EMPTY}), Event("leave", origin=who)
    if event.kind == "take off" and hat != NONE:
        return context.state_with({who: shirt + NONE}), Event("take off", who)
    if event.kind == "put on" and hat == NONE and event.who is not None:
        return context.state_with({who: shirt + then[event.who][1]}), Event("put on", who)
    target = who + event.steps
    if event.kind == "move" and event.steps and target in free_places(context):
        return moved(context, who, target), replace(event, who=target, origin=who)
    return None


def untouched(context: Context, index: int, slots: list[int]) -> bool:
    """Whether nothing has happened at these places since that turn."""
    return all(state[slot] == context.states[index + 1][slot] for state in context.states[index + 1 :] for slot in slots)


def once_more(context: Context, rng: Random) -> Turn | None:
    """The last action again, by the same person."""
    who = focus(context)
    if who is None or context.event.kind != "move":
        return None
    done = repeated(context, len(context.turns) - 1, who)
    if done is None:
        return None
    templates: list[Template] = [
        "[again|and again|once more|one more time|repeat|repeat that|do it again|do that again|same again|and once more|another time]",
        "[repeat|do] [the last step|the last action|the same thing|that] [again|once more|one more time|]",
        marked("{he} does [it|that|this] [again|once more|one more time]", PRONOUN),
        marked("[move|shift] {him} [again|once more] by the same [amount|number of {step}s]", PRONOUN),
        marked("[make|let] {him} do [that|it|the same] [again|once more]", PRONOUN),
    ]
    return Turn(context.say(rng, templates, SAME_AGAIN), *done)


def several_times(context: Context, rng: Random) -> Turn | None:
    """A single step twice or three times."""
    ways = [(who, count, sign) for who in people_of(context) for count in (2, 2, 3) for sign in (-1, 1)]
    ways = [way for way in ways if way[0] + way[1] * way[2] in free_places(context)]
    if not ways:
        return None
    who, count, sign = rng.choice(ways)
    side, times = ("left" if sign < 0 else "right"), "[twice|two times]" if count == 2 else "[three times|thrice|3 times]"
    x = subject(context, who, rng)
    one = f"[one {{step}}|a {{step}}|one position] [to the|] {side} {times}"
    does, told = [f"[move|go|walk] {one}", f"take a step to the {side} {times}"], [f"[move|shift|push] {{x}} {one}"]
    phrase = affirm(context, rng, clause(context, rng, does, told, x))
    return Turn(phrase, moved(context, who, who + sign * count), Event("move", who + sign * count, origin=who))


def same_with(context: Context, rng: Random) -> Turn | None:
    """The last action, done by or to somebody else."""
    done = {who: result for who in people_of(context) if context.turns and (result := repeated(context, len(context.turns) - 1, who))}
    done.pop(context.event.who, None)
    if not done:
        return None
    who = rng.choice(list(done))
    x = name(context, who, rng, focus(context))
    templates: list[Template] = [
        "[do|] the same [with|for|to] {x}",
        "same [with|for|to|goes for|thing with|thing for] {x}",
        "[do that|do this|do it] [to|with|for] {x} [too|as well|also]",
        "{x} [too|as well|also|does the same|does the same thing|does that too|likewise]",
        "[and|now] {x} [too|as well]",
        "[repeat|repeat that|repeat this|again] [with|for] {x}",
        "[make|let|have] {x} do [the same|that too|it too|the same thing]",
        "i want the same for {x} [too|as well|]",
        "now it is {x} who does that",
    ]
    return Turn(context.say(rng, templates, SAME_AGAIN, x=x), *done[who])


def repeat_step(context: Context, rng: Random) -> Turn | None:
    """An earlier action, named by its number, by the same person or by another."""
    if len(context.turns) < 2:
        return None
    index = rng.randrange(len(context.turns))
    event = context.turns[index].event
    people = people_of(context)
    same = event.who if event.who is not None and event.kind == "move" and untouched(context, index, [event.who]) else None
    if same in people and rng.random() < 0.5 and (done := repeated(context, index, same)):
        templates = [
            "[repeat|redo|do|perform|execute] {step_n} [again|once more|]",
            "do [again|] what you did in {step_n}",
            "do the same [thing|] as in {step_n}",
            "[same as|like] in {step_n}",
        ]
        return Turn(context.say(rng, templates, SAME_AGAIN, step_n=step_name(context, index, rng)), *done)
    results = {who: result for who in people if who != event.who and (result := repeated(context, index, who))}
    if not results:
        return None
    who = rng.choice(list(results))
    templates = [
        "[repeat|redo|do] {step_n} [with|for|but with|on] {x}",
        "[do|] what you did in {step_n} [to|with|for|but to|but with] {x}",
        "{x} does what happened in {step_n}",
        "{x} does the same as in {step_n}",
        "[do|] the same as in {step_n} [with|for|but with|but for] {x}",
        "[apply|do] {step_n} to {x}",
    ]
    x = name(context, who, rng, focus(context))
    return Turn(context.say(rng, templates, SAME_AGAIN, x=x, step_n=step_name(context, index, rng)), *results[who])


def another(context: Context, rng: Random) -> Turn | None:
    """One more newcomer: the same elsewhere, or in another colour."""
    event, state = context.event, context.state
    if event.kind != "enter" or event.who is None or len(free_places(context)) < 4:
        return None
    where = destination(context, None, rng)
    if where is None or where.at is None:
        return None
    if rng.random() < 0.4:
        look = state[event.who]
        templates = [
            "[another one|one more|another] [just like {him}|like that|of the same kind|of the same|like {him}|] {at}",
            "[add|put] [another one|one more|a second one] [just like {him}|like that|of the same kind|] {at}",
            "[do|] the same [again|] [but|but this time|] {at}",
            "[his|an exact|an identical] [twin|copy|clone|double] appears {at}",
        ]
        phrase = context.say(rng, templates, SAME_AGAIN, at=where.at)
        return Turn(phrase, context.state_with({where.target: look}), Event("enter", where.target))
    if state[event.who][1] != NONE:
        return None
    shirt = rng.choice([letter for letter in COLOURS if letter != state[event.who][0]])
    colour = COLOURS[shirt]
    templates = [
        f"[same again|the same again|do that again|again|the same|repeat that] [but|] [in|with] {colour} {{at}}",
        f"[and|now|then] [one in {colour}|{article(colour)} one] {{at}}",
        "[now|then|and] {new} {at}",
        f"[and|] another one {{at}} , [but|this time] in {colour}",
    ]
    phrase = context.say(rng, templates, SAME_AGAIN, at=where.at, new=newcomer(context, rng, shirt, NONE))
    return Turn(phrase, context.state_with({where.target: shirt + NONE}), Event("enter", where.target))


# The other way round.


def undo(context: Context, rng: Random) -> Turn | None:
    """The last turn is taken back, or the last two, or all."""
    kinds = [turn.event.kind for turn in context.turns]
    if not kinds or kinds[-1] in REVERSED:
        return None
    count = rng.choice((1, 1, 1, 2, len(kinds)))
    if count > len(kinds) or REVERSED & set(kinds[-count:]):
        return None
    steps = "[steps|instructions|actions|moves|commands]"
    templates: list[Template]
    if count == 1:
        templates = [
            *2 * ["[undo|undo that|undo it|undo this|reverse that|revert|revert that|reverse it|take that back|take it back|cancel that]"],
            "[undo|reverse|revert|cancel|take back] [the last|the previous|your last|that last] [step|instruction|action|move|change]",
            "[go|move] back [one|a|1] step in time",
            "[put|set|make|change] [it|everything|things] back [to|] [how|the way] [it was|things were] [before|]",
            "[make it|everything] as it was before",
            "[restore|return to|go back to] [the previous state|how it was|the state before]",
            "[as it was before|back to how it was|undo what you just did|undo what you did|no, undo that|oops, undo]",
        ]
    elif count == len(kinds):
        templates = [
            "[start over|start again|start from scratch|begin again|reset|reset everything|reset the [stage|scene]|undo everything]",
            "[go back|return] to the [start|beginning|initial state|first state|starting state]",
            "[put|set] everything back [as|the way|to how] it was at the [start|beginning]",
            f"undo all [{steps}|of it|of that]",
        ]
    else:
        templates = [
            f"[undo|reverse|revert|take back|cancel] the [last|previous] [two|2] {steps}",
            f"go back [two|2] {steps}",
            "undo the last two",
            "undo twice",
        ]
    return Turn(context.say(rng, templates, PUT_BACK), context.states[-1 - count], Event("undo"))


def undo_step(context: Context, rng: Random) -> Turn | None:
    """An earlier turn is taken back whose places nobody has touched since."""
    if not context.turns:
        return None
    index = rng.randrange(len(context.turns))
    before, after = context.states[index], context.states[index + 1]
    slots = [n for n in range(POSITIONS) if before[n] != after[n]]
    if not untouched(context, index, slots) or context.turns[index].event.kind in REVERSED:
        return None
    templates = ["[undo|reverse|revert|cancel|take back] {step_n}", "undo what you did in {step_n}"]
    phrase = context.say(rng, templates, PUT_BACK, step_n=step_name(context, index, rng))
    return Turn(phrase, context.state_with({n: before[n] for n in slots}), Event("undo"))


BACK = {
    "leave": [
        "[bring|put|get|call] {him} back",
        "{he} [comes back|returns|is back|reappears] [to where {he} was|to {his} [old|previous] [place|spot]|to the same [place|spot]|]",
        "[bring back|return] the [{person}|one|person] [you just removed|who just left|who left|that just left|that just disappeared]",
        "the [{person}|one|person] [who|that] [just left|just disappeared|left last|you just removed] [comes back|returns|reappears]",
        "[let|have|make] {him} [come back|return|reappear]",
        "[put|place] {him} back where {he} was",
    ],
    "several left": ["[bring|put|get|call] them [all|] back", "they [all|] [come back|return|reappear]", "[let|have|make] them come back"],
    "move": [
        "[move|put|bring|send|take] {him} back [to where {he} was|where {he} came from|to {his} [old|previous] [place|spot]|]",
        "{he} [goes|moves|walks|returns|comes] back [to where {he} was [before|]|to {his} [old|previous|original] [place|spot|position]|]",
        "[back|and back|back again|now back|back to where {he} was]",
        "[make|let|have] {him} [go|move|walk|come] back",
    ],
    "enter": [
        "[remove|take|send] {him} [away|] again",
        "the [newcomer|new [{person}|person|one]] leaves again",
        "{he} [leaves|disappears|goes away] again",
    ],
    "take off": [
        "give {him} {his} hat back",
        "{he} [puts|gets] [the hat|{his} hat|it] back [on|]",
        "put [the hat|{his} hat|it] back on [{him}|]",
    ],
    "put on": ["[take|remove] [it|that hat|the hat] [off|] again", "{he} [takes it off|loses it|removes it] again"],
    "hand over": ["[give|put|hand] [the hat|it] back", "[return|give back] the hat"],
    "trade": ["[swap|switch|change|trade] [them|] back", "they [swap|switch|change|trade] back [again|]", "[swap|switch] them again"],
    "change": ["[change|turn] it back", "[change|turn] {his} hat back", "give {him} back {his} old hat"],
}
"""How the last deed is taken back, by its kind."""


def back(context: Context, rng: Random) -> Turn | None:
    """The last deed the other way round, in words of its own."""
    event = context.event
    if event.kind not in BACK:
        return None
    after = {"leave": Event("return", event.origin), "move": Event("reverse", event.origin), "take off": Event("reverse", event.who)}
    phrase = context.say(rng, BACK[event.kind], PUT_BACK, PRONOUN)
    return Turn(phrase, context.states[-2], after.get(event.kind, Event("reverse")))


def bring_back(context: Context, rng: Random) -> Turn | None:
    """Somebody who left some turns ago comes back to his place."""
    gone = {
        index: turn.event.origin
        for index, turn in enumerate(context.turns)
        if turn.event.kind == "leave" and untouched(context, index, [turn.event.origin])
    }
    if not gone:
        return None
    index = rng.choice(list(gone))
    slot, person = gone[index], context.states[index][gone[index]]
    here = "".join(context.state[n] for n in people_of(context))
    if person[0] == NONE or person[0] in here or sum(context.states[i][n][0] == person[0] for i, n in gone.items()) > 1:
        return None
    colour = COLOURS[person[0]]
    x = context.say(rng, f"[the {{person}} in {colour}|{colour}|the {colour} [{{person}}|one|person]|the {{person}} in the {colour} shirt]")
    does = ["[come|walk] back [to where {he} was|to {his} [old|previous] [place|spot]|]", "[return|reappear] [where {he} was|]"]
    does += ["return to {his} [old|former|previous|] [place|spot]"]
    told = ["bring {x} back", "bring back {x}", "[put|place] {x} back [where {he} was|]", "[restore|return] {x}", "get {x} back"]
    phrase = affirm(context, rng, clause(context, rng, [marked(way, PUT_BACK) for way in does], [marked(way, PUT_BACK) for way in told], x))
    return Turn(phrase, context.state_with({slot: person}), Event("return", slot))

"""Words about the row and about deeds that are no instructions: negations, questions, conditions, stories and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from sestra.data.grammar import Context, Turn
from sestra.worlds.tangrams.references import name, noun, number
from sestra.worlds.tangrams.requests import COMMANDS
from sestra.worlds.tangrams.verbs import VERBS


def stays(context: Context, rng: Random, templates: Sequence[str], **slots: str) -> Turn:
    return Turn(context.say(rng, templates, **slots), context.state, context.event)


def any_name(context: Context, rng: Random) -> str:
    """A figure that is in the row, or "the row" if it is empty."""
    (row,) = context.state
    return name(context, rng.randrange(len(row)), rng) if row else "the row"


def _command(context: Context, rng: Random) -> tuple[str, str, str] | None:
    """A command as one could give it here, and the same with a gerund and in the past tense."""
    for _ in range(20):
        turn = rng.choices(list(COMMANDS), list(COMMANDS.values()))[0](context, rng)
        verb, _, rest = turn.instruction.words.partition(" ") if turn else ("", "", "")
        if verb in VERBS and rest and " then " not in rest:
            gerund, past = VERBS[verb]
            return f"{verb} {rest}", f"{gerund} {rest}", f"{past} {rest}"
    return None


def negation(context: Context, rng: Random) -> Turn | None:
    """A command with a "don't"."""
    command = _command(context, rng)
    if command is None:
        return None
    x, gerund, _ = command
    templates = [
        *6 * ["[don't|do not|don't|please don't|please do not|dont|never|you must not|you should not|you shouldn't|do not ever] {x}"],
        "[i don't want you to|i do not want you to|i never asked you to|i did not ask you to|i didn't tell you to|you don't have to] {x}",
        "[there is no need to|no need to|it is not necessary to|you need not|let's not|you can't|you cannot|you may not] {x}",
        "[stop|avoid|quit|no|refrain from|without] {gerund}",
        "[whatever you do|careful|please|no], [don't|do not] {x}",
        "{x}? [no|no, don't|rather not|better not|please don't]",
    ]
    return stays(context, rng, templates, x=x, gerund=gerund)


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
        f"[no {thing}|nothing|none of the {thing}s] [moves|disappears|leaves|is removed|is swapped|should move|should change]",
        "[leave {x} alone|[leave|keep] {x} [where it is|as it is|in place|in its place|there]]",
        "[don't|do not|never] [touch|change|lose] {x}",
        "{x} [stays|remains|should stay|must stay|is to stay] [where it is|in its place|there|in place]",
        "{x} is not [removed|deleted|moved|swapped]",
        f"[don't|do not] [remove|delete|move|swap|reverse|add] [anything|any {thing}|any of the {thing}s|the {thing}s|any more {thing}s]",
        "let {x} [stay|stay where it is|remain there]",
    ]
    return stays(context, rng, templates, x=any_name(context, rng))


def question(context: Context, rng: Random) -> Turn:
    """A question about the row, its figures or what was done."""
    thing, step = noun(context, rng), rng.choice(("one", "two", "1", "2", "3"))
    command = _command(context, rng)
    x, y = any_name(context, rng), any_name(context, rng)
    templates = [
        f"how many {thing}s [are there|are in the row|are left|do you see|did you remove|are missing|can there be]",
        "[what is|what's|which one is|who is] {x}",
        "[where is|where's|what happened to] {x}",
        "what does {x} [look like|show|mean]",
        "[is|was] {x} [a cat|a house|missing|red|the same as before|in the row|removed|still there|gone|bigger than {y}]",
        "is {x} [to the left of|next to|the same as|larger than|before|behind] {y}",
        f"which {thing} [is missing|is first|is last|did you remove|was removed|is the largest|is in the middle|comes next|is on the left]",
        f"[what|which {thing}] did [you|i|we] [just|] [remove|swap|move|add|delete] [in step {step}|]",
        f"what [was|did you do in|happened in|is] step {step}",
        "[did|do|does] [you|anyone|someone|he|she] [remove|delete|swap|move|like|see|touch|know] {x}",
        "why did you [remove|move|delete|take away|swap] {x}",
        "who [removed|moved|deleted|took|swapped|added] {x}",
        "when [did you remove|will you move|did we swap|do we delete] {x}",
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
            f"[should i|should we|do i have to|why should you|how do i|how can i|who told you to] {plain}",
            f"what [happens|would happen|will happen] [if you|if i|when you] {plain}",
            f"[did you|did i|did we|have we to|why did you|when did you|do you ever] {plain}",
            f"[who|who has|when i|has anyone|had you already] {past}",
            f"[do you like|are you|is anyone|was that you] {gerund}",
        ]
    return stays(context, rng, [f"{template}[?|?|]" for template in templates], x=x, y=y)


def talk(context: Context, rng: Random) -> Turn | None:
    """Conditions, the past, the future, and other talk about deeds."""
    command = _command(context, rng)
    if command is None:
        return None
    plain, gerund, past = command
    when = "[yesterday|last week|last time|earlier|before|once|the other day]"
    templates = [
        f"[if you|if i|if we|when you|unless you|in case you|suppose you|imagine you|what if you] {plain}",
        f"[if it rains|if i were you] i would {plain}",
        f"[maybe|perhaps|one day|tomorrow|next week] [i will|we might|i could|someone will] {plain}",
        f"[i might|i may|i was going to|i will|i am going to|we could have|i used to|he likes to] {plain} [later|tomorrow|]",
        f"{when} [i|you|we|someone|she] {past}",
        f"[i|you|we|someone|nobody|he] [already|] {past}",
        f"[i like|i hate|i enjoy|i remember|we talked about|i dream of|i was|thanks for|sorry for|i am afraid of|he is] {gerund}",
        f"{gerund} [is|was] [fun|hard|easy|boring|not what i want|a bad idea|not allowed|wrong]",
        f"[you were about to|you tried to|you refused to|he told me to|she asked me to|it is hard to] {plain}",
    ]
    return stays(context, rng, templates)


IDLE = (
    "{x} is [nice|beautiful|funny|ugly|a cat|my favorite|very interesting|strange|here|in the row|not bad|so pretty]",
    "i [like|love|hate|prefer|can see|am looking at|remember|miss] {x}",
    "[this|that|it] is [a nice row|a row of {thing}s|good|correct|what i wanted|fine as it is|not what i wanted|a puzzle]",
    "the row is [fine|nice|long|short|good as it is|ready|beautiful]",
    "{x} looks like [a bird|a house|my dog|a person|a fish|a ship]",
    "[the {thing}s|they] are [all different|pretty|in the right order|just shapes|black|in a row]",
)


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
    return stays(context, rng, templates, x=any_name(context, rng))

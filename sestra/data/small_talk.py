"""Words that are no instruction in any world: greetings, questions, remarks and other topics."""

from __future__ import annotations

from random import Random

from sestra.data.grammar import Context, Turn

GREETINGS = (
    "[hi|hello|hey|howdy|greetings|good morning|good evening|good afternoon|good night|good day|yo|hiya] [there|everyone|agent|robot|friend|]",
    "[bye|goodbye|see you [later|soon|tomorrow]|take care|have a [nice|good|great|lovely] [day|evening|weekend|one]]",
    "[how are you|how are you doing|how is it going|how do you do|what's up|how have you been|nice to meet you] [today|]",
    "[thanks|thank you|thank you [so|very] much|many thanks|cheers|much appreciated] [|for your help|for that|again]",
    "[sorry|my bad|excuse me|pardon me|oops|never mind|forget it|forget about it|no worries|you are welcome|welcome back]",
    "[great job|well done|good job|nice work|good work|that was great|awesome|perfect|excellent|wonderful|cool|wow|bravo|amazing|nice one]",
    "[yes|no|maybe|okay|ok|sure|of course|certainly|yep|yeah|nope|right|exactly|indeed|i see|i know|fine|hmm|uh|um|lol|haha|ha]",
)
QUESTIONS = (
    "[what is|what's] [your name|the weather [like|] [today|tomorrow|]|the time|today's date|the meaning of life|your favorite [color|food|song]]",
    "[what is|what's] [the capital of [france|spain|italy|japan]|the [news|score]|for [dinner|lunch|breakfast]|that|this|happening|wrong|new]",
    "[who|what] [are you|made you|am i|is your [boss|creator|maker]|is the president|taught you [this|that]|do you think|do you want]",
    "[where|how] [are you from|do you live|were you born|old are you|does [this|it] work|can i [help|start]|do i [start|use this|win]]",
    "[can|could|do] you [hear|understand|help|see|know|like|love|remember] me",
    "[what can you do|what should i [do|say|type|write]|what do i do [now|next]|what happened|what did you [do|say|just do]|what now]",
    "[why|why not|how come|when|who|what|where|which one|how|really|is that so|are you sure|are we done|is it over|am i right]",
    "[tell me [a joke|a story|about yourself|something]|do you speak [english|spanish|german|french]|are you [a robot|human|real|there|ok]]",
    "why did you do that|[what does [that|this|it] mean|is [this|that|it] [right|correct|a game|a test|working]|does [this|that|it] work]",
)
REMARKS = (
    "[i am|i'm|we are] [hungry|tired|bored|happy|sad|confused|lost|done|finished|here|late|busy|cold|fine|thirsty|sleepy|ready|learning]",
    "[i|we] [like|love|hate|miss|enjoy|want|need] [pizza|music|coffee|you|this|this game|chocolate|my dog|football|the ocean|more time|a break]",
    "[i do not|i don't] [know|care|understand|like [this|that|it]|get it|think so|want [to|this|that]|remember]",
    "[it is|it's|the weather is|today is] [raining|sunny|cold|late|monday|my birthday|a nice day|snowing|hot|boring|fun|time to go home]",
    "[play|sing|write|order|buy|book|read|open|call|send|search for|turn on|find|check] [some music|a song|a poem|a pizza|a ticket|a taxi|"
    "the news|the door|my mother|an email|the lights|a restaurant|my messages|the radio|a movie|a book|the internet]",
    "[the cat|my dog|the bird|my brother|the teacher|my friend|the president|a car|the moon|the sun] "
    "[is sleeping|ate my homework|likes fish|is blue|went home|is late|is very old|sings well|is beautiful|broke down]",
    "[wait|hold on|one moment|just a second|give me a minute|let me think|stop|stop it|pause|quit|exit|help|cancel|enough|that is all|"
    "that's it|the end|do nothing|nothing|leave it|leave everything|leave it as it is|leave everything as it is|don't do anything|"
    "do not do anything|don't touch anything|keep everything as it is|stay like that|that's enough|no more]",
    "[testing|test|one two three|asdf|blah blah|la la la|abc|foo bar|lorem ipsum|qwerty|hello world]",
)


def small_talk(context: Context, rng: Random) -> Turn:
    """Nothing that has to do with the world."""
    templates = rng.choice((GREETINGS, QUESTIONS, REMARKS))
    phrase = context.say(rng, [f"{template}[?|]" if templates is QUESTIONS else f"{template}[!|.||]" for template in templates])
    return Turn(phrase, context.state, context.event)

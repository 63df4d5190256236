"""Words that are no instruction in any world: greetings, questions, remarks and other topics."""

from __future__ import annotations

from random import Random

from sestra.data.grammar import Context, Turn

GREETINGS = (
    "[hi|hello|hey|howdy|greetings|good [morning|evening|afternoon|night|day]|yo|hiya] [there|everyone|agent|robot|friend|]",
    "[bye|goodbye|see you [later|soon|tomorrow]|take care|have a [nice|good|great|lovely] [day|evening|weekend|one]]",
    "[how are you|how are you doing|how is it going|how do you do|what's up|how have you been|nice to meet you] [today|]",
    "[thanks|thank you|thank you [so|very] much|many thanks|cheers|much appreciated] [|for your help|for that|again]",
    "[sorry|my bad|excuse me|pardon me|oops|never mind|forget it|forget about it|no worries|you are welcome|welcome back]",
    "[[great|good] job|well done|[nice|good] work|that was great|awesome|perfect|excellent|wonderful|cool|wow|bravo|amazing]",
    "[yes|no|maybe|okay|ok|sure|of course|certainly|yep|yeah|nope|right|exactly|indeed|i see|i know|fine|hmm|uh|um|lol|haha]",
)
QUESTIONS = (
    "[what is|what's] [your name|the weather [like|] [today|tomorrow|]|the time|today's date|the meaning of life]",
    "[what is|what's] [your favorite [color|food|song]|the capital of [france|spain|italy|japan]|the [news|score]]",
    "[what is|what's] [for [dinner|lunch|breakfast]|that|this|happening|wrong|new|going on [here|]|the matter]",
    "[who|what] [are you|made you|am i|is your [boss|creator|maker]|is the president|do you think|do you want]",
    "[where|how] [are you from|do you live|old are you|does [this|it] work|can i [help|start]|do i [start|use this|win]]",
    "[can|could|do] you [hear|understand|help|see|know|like|love|remember] me",
    "[what can you do|what should i [do|say|type|write]|what do i do [now|next]|what happened|what did you [do|say|just do]]",
    "[why|why not|how come|when|who|what|where|which one|how|really|is that so|are you sure|are we done|is it over|what now]",
    "[tell me [a joke|a story|about yourself|something]|do you speak [english|spanish|german|french]]",
    "[are you [a robot|human|real|there|ok]|why did you do that|what does [that|this|it] mean|does [this|that|it] work]",
    "is [this|that|it] [right|correct|a game|a test|working]",
)
REMARKS = (
    "[i am|i'm|we are] [hungry|tired|bored|happy|sad|confused|lost|done|finished|here|late|busy|cold|thirsty|sleepy|ready]",
    "[i|we] [like|love|hate|miss|enjoy|want|need] [pizza|music|coffee|you|this game|chocolate|my dog|football|a break]",
    "[i do not|i don't] [know|care|understand|like [this|that|it]|get it|think so|want [to|this|that]|remember]",
    "[it is|it's|the weather is|today is] [raining|sunny|cold|late|monday|my birthday|a nice day|snowing|hot|boring|fun]",
    "[play|sing|write|order|buy|book|read|call|send] [some music|a song|a poem|a pizza|a ticket|a taxi|my mother|an email]",
    "[open|search|turn on|find|check] [the news|the door|the lights|a restaurant|my messages|the radio|a movie|the internet]",
    "[the cat|my dog|the bird|my brother|the teacher|my friend] [is sleeping|ate my homework|likes fish|went home|is late]",
    "[the president|a car|the moon|the sun|my boss] [is very old|sings well|is beautiful|broke down|is far away|is on tv]",
    "[wait|hold on|one moment|just a second|give me a minute|let me think|stop|stop it|pause|quit|exit|help|cancel|enough]",
    "[that is all|that's it|the end|do nothing|nothing|leave it|leave everything|that's enough|no more|stay like that]",
    "[leave it as it is|leave everything as it is|keep everything as it is|[don't|do not] [do|touch|change] anything]",
    "[testing|test|one two three|asdf|blah blah|la la la|abc|foo bar|lorem ipsum|qwerty|hello world]",
)


def small_talk(context: Context, rng: Random) -> Turn:
    """Nothing that has to do with the world."""
    templates = rng.choice((GREETINGS, QUESTIONS, REMARKS))
    phrase = context.say(rng, [f"{template}[?|]" if templates is QUESTIONS else f"{template}[!|.||]" for template in templates])
    return Turn(phrase, context.state, context.event)

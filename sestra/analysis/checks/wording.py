"""Wording that the checks of several worlds share: politeness, misspellings, and sentences that are no instructions anywhere."""

from __future__ import annotations

from random import Random

NUMERALS = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th")

GREETINGS = (
    "hello", "hi", "hey there", "good morning", "good evening", "good night", "how do you do", "nice to meet you", "welcome back",
    "greetings from Berlin", "bye for now", "see you tomorrow", "thank you very much", "sorry about that",
)  # fmt: skip
OTHER_TOPICS = (
    "my sister lives in Toronto", "the train was late this morning", "I would like a cup of coffee", "what a boring film",
    "two plus two is four", "our dog barks at night", "it is snowing outside", "the election is next week",
    "I need a new pair of shoes", "she plays the piano every day", "we had soup for lunch", "his car broke down yesterday",
)  # fmt: skip
MISSPELT = {
    "add": ("addd",), "again": ("agian",), "and": ("adn",), "another": ("anohter",), "appears": ("appaers", "apears", "appers"),
    "beaker": ("beker", "beeker", "baeker", "beakr"), "between": ("betwen", "bewteen"), "blue": ("blu", "bule"),
    "brown": ("borwn",), "delete": ("delte", "deleet"), "disappears": ("dissapears", "disapears"), "empty": ("emtpy", "emty"),
    "figure": ("figur", "figrue"), "first": ("frist", "fisrt", "firts"), "fourth": ("foruth", "fouth", "forth"),
    "green": ("gren", "grren", "geren"), "hat": ("hatt",), "last": ("lsat", "laast"), "leaves": ("laeves", "leavs"),
    "left": ("lfet", "leftt"), "middle": ("midle", "middel"), "moves": ("moevs", "mvoes"), "orange": ("ornage", "ornge", "oragne"),
    "person": ("preson", "persn"), "pour": ("puor", "poru"), "purple": ("purpel", "puple", "pruple"),
    "remove": ("remvoe", "reomve", "remov"), "right": ("rigth", "rihgt"), "second": ("secnd", "secodn", "sceond"),
    "space": ("sapce",), "swap": ("sawp", "swpa"), "the": ("teh", "hte"), "third": ("tird", "thrid", "thrd"),
    "throw": ("trhow", "thorw"), "units": ("untis", "unitss"), "yellow": ("yelow", "yelloww"),
}  # fmt: skip
"""Words, and how they are mistyped."""


def misspelt(generator: Random, sentence: str) -> str:
    """The sentence with one of its words mistyped."""
    words = sentence.split()
    number = generator.choice([number for number, word in enumerate(words) if word in MISSPELT])
    return " ".join((*words[:number], generator.choice(MISSPELT[words[number]]), *words[number + 1 :]))


def framed(frames: tuple[str, ...], sentence: str) -> tuple[str, ...]:
    """A sentence in frames, which have a star in its place."""
    return tuple(frame.replace("*", sentence) for frame in frames)


POLITE = (
    "please *", "could you please *", "* please", "can you * for me?", "hi, would you kindly *", "ok, now *", "um, just *",
    "alright then, next *", "I'd like you to *", "now i want you to *, thanks", "let's * now", "so the next thing to do is to *",
)  # fmt: skip
"""Frames for imperatives."""

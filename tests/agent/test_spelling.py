"""Misspelt words, against the definition spelt out by brute force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestra.agent.spelling import Speller, distance
from sestra.agent.trace import Word
from sestra.data.vocabulary import SPECIAL, UNKNOWN, Vocabulary

WORDS = (
    "the",
    "beaker",
    "pour",
    "first",
    "yellow",
    "last",
    "left",
    "2nd",
    ",",
    "chemical",
    "rightmost",
    "leftmost",
    "1",
    "least",
    "beakers",
)
SPELLER = Speller(Vocabulary(WORDS))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("yelow", "yellow"),
        ("yellwo", "yellow"),
        ("frist", "first"),
        ("pourr", "pour"),
        ("paur", "pour"),
        ("beeker", "beaker"),  # "beakers" is farther
        ("chemcial", "chemical"),
        ("chmicall", "chemical"),  # two mistakes in a long word
        ("rigtmots", "rightmost"),
        ("beakerz", "beaker"),  # as close to "beakers", which is far rarer
    ],
)
def test_read_as_what_it_is_close_to(typed, meant):
    (word,), (number,) = SPELLER.read(typed)
    assert word == Word(typed, meant, known=True)
    assert number == WORDS.index(meant) + len(SPECIAL)


@pytest.mark.parametrize(
    "typed",
    [
        "teh",  # "the" is too short to be meant
        "yelw0",
        "3nd",
        "12",  # numerals
        "ylw",  # too far
        "yeloww",  # two mistakes in a short word
        "lest",  # "last", "left" and "least" are about as frequent
        "xightmost1",
        "glorpf",
        "желтый",
        "a" * 5000,
    ],
)
def test_stays_unknown(typed):
    (word,), (number,) = SPELLER.read(typed)
    assert word == Word(typed, "<unknown>", known=False)
    assert number == UNKNOWN


def test_known_words_are_never_changed():
    for word in WORDS:
        assert SPELLER.read(word) == ((Word(word, word, known=True),), (WORDS.index(word) + len(SPECIAL),))


def test_upper_case_and_unknown_punctuation():
    words, numbers = SPELLER.read("Pour, the YELOW; beaker!! (1) …")
    assert [word.text for word in words] == ["pour", ",", "the", "yelow", "beaker", "1"]
    assert Vocabulary(WORDS).decode(numbers) == ["pour", ",", "the", "yellow", "beaker", "1"]


def test_an_empty_vocabulary():
    assert Speller(Vocabulary(())).read("pour it") == (
        (Word("pour", "<unknown>", False), Word("it", "<unknown>", False)),
        (UNKNOWN, UNKNOWN),
    )


@pytest.mark.parametrize("typed", ["sit", "good", "morning", "every", "stop", "nothing", "least", "boil", "freeze"])
def test_english_words_are_no_misspellings(typed):
    speller = Speller(Vocabulary(("shit", "shirt", "gold", "moving", "very", "step", "clothing", "last", "foil", "freezer")))
    assert speller.correct(typed) is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("tird", "third"), ("forth", "fourth"), ("blu", "blue"), ("appaers", "appears"), ("moevs", "moves"), ("shrit", "shirt")],
)
def test_misspellings_that_people_typed(typed, meant):
    speller = Speller(Vocabulary(("shirt", "third", "fourth", "blue", "appears", "moves", "shit")))
    assert speller.correct(typed) == meant


def test_coarse_words_are_no_corrections():
    assert Speller(Vocabulary(("shit",))).correct("shitt") is None


@given(st.lists(st.text("abcd", min_size=1, max_size=9), unique=True, max_size=30), st.text("abcd", min_size=1, max_size=9))
def test_correction_is_the_closest_word(words, typed):
    allowed = 2 if len(typed) >= 7 else 1
    close = sorted((distance(typed, word), rank) for rank, word in enumerate(words, start=1) if len(word) >= 4)
    close = [(far, rank) for far, rank in close if far <= allowed and far == close[0][0]]
    clear = close and (len(close) == 1 or close[1][1] >= 2 * close[0][1])
    assert Speller(Vocabulary(tuple(words))).correct(typed) == (words[close[0][1] - 1] if clear else None)

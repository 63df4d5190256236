"""Words: how instructions become tokens and tokens numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sestra.data.vocabulary import BETWEEN, CURRENT, PAD, SPECIAL, UNKNOWN, Vocabulary, tokenize


@pytest.mark.parametrize(
    ("instruction", "tokens"),
    [
        ("Throw out the last beaker", ["throw", "out", "the", "last", "beaker"]),
        ("pour the 3rd one's content,then stop!", ["pour", "the", "3rd", "one's", "content", ",", "then", "stop", "!"]),
        ("the man's hat''s gone", ["the", "man's", "hat", "'", "'", "s", "gone"]),
        ("  leaves -- at 2/3  ", ["leaves", "-", "-", "at", "2", "/", "3"]),
        ("under_score", ["under", "_", "score"]),
        ("ÉCLAIR 红色", ["éclair", "红色"]),
        ("   ", []),
    ],
)
def test_tokens(instruction, tokens):
    assert tokenize(instruction) == tokens


@given(st.text())
def test_tokens_hold_every_character_but_blanks(text):
    """Nothing of an instruction is lost: what is not blank has a token."""
    assert "".join(tokenize(text)) == "".join(text.lower().split())


@given(st.text())
def test_tokens_do_not_depend_on_case_and_are_their_own_tokens(text):
    tokens = tokenize(text)
    assert tokenize(text.lower()) == tokens
    assert tokenize(" ".join(tokens)) == tokens


def test_vocabulary_orders_by_count_then_alphabet_and_leaves_out_the_rare():
    vocabulary = Vocabulary.of(["red red green", "Green red blue", "amber amber"])
    assert vocabulary.words == ("red", "amber", "green")
    assert len(vocabulary) == len(SPECIAL) + 3
    assert Vocabulary.of(["red red green"], at_least=1).words == ("red", "green")
    assert Vocabulary.of(["red red green"], at_least=3).words == ()


def test_encode_and_decode():
    vocabulary = Vocabulary(("red", "green"))
    assert vocabulary.encode("Green, red") == [5, UNKNOWN, 4]
    assert vocabulary.decode([4, 5, PAD, UNKNOWN, BETWEEN, CURRENT]) == ["red", "green", *SPECIAL]


def test_nobody_can_write_a_special_token():
    for name in SPECIAL:
        vocabulary = Vocabulary.of([f"{name} {name}"])
        assert not set(vocabulary.encode(name)) & {PAD, UNKNOWN, BETWEEN, CURRENT}

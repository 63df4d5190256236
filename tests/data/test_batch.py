"""Turns and batches: every instruction once, padded at the end, in an order that the seed decides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sestra.data.augment import drop_words
from sestra.data.batch import Example, batches, encode_turns, join_instructions, make_turns
from sestra.data.scone import Interaction
from sestra.data.synthetic import generate
from sestra.data.vocabulary import BETWEEN, CURRENT, PAD, SPECIAL, UNKNOWN, Vocabulary
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

TABLES = compile_world(get_world("scene"))
START = ("r_", *["__"] * 9)
MIDDLE = ("__", *["__"] * 9)
END = ("__", "b_", *["__"] * 8)
VOCABULARY = Vocabulary(("he", "leaves", "enters", "again"))


def turns_of(count: int):
    data = generate("scene", count, seed=3)
    vocabulary = Vocabulary.of((text for interaction in data for text in interaction.instructions), at_least=1)
    return encode_turns(data, vocabulary, TABLES)


def test_words_of_a_turn_are_those_of_all_instructions_up_to_it():
    data = [Interaction("a", (START, MIDDLE, END, START), ("he leaves", "He enters!", "again"))]
    turns = encode_turns(data, VOCABULARY, TABLES)
    he, leaves, enters, again = 4, 5, 6, 7
    assert turns.words.tolist() == [
        [CURRENT, he, leaves, PAD, PAD, PAD, PAD, PAD],
        [he, leaves, CURRENT, he, enters, UNKNOWN, PAD, PAD],
        [he, leaves, BETWEEN, he, enters, UNKNOWN, CURRENT, again],
    ]
    assert turns.lengths.tolist() == [3, 6, 8]
    assert turns.current.tolist() == [1, 3, 7]
    assert TABLES.decode(turns.initial) == [START, MIDDLE, END]
    assert TABLES.decode(turns.goal) == [MIDDLE, END, START]
    assert turns.turn.tolist() == [0, 1, 2]
    assert turns.interaction.tolist() == [0, 0, 0]


def test_turns_with_an_unknown_state_are_left_out_but_their_words_are_not():
    data = [
        Interaction("a", (START, None, END), ("he leaves", "he enters")),
        Interaction("b", (START, MIDDLE, None, START), ("he leaves", "he enters", "again")),
        Interaction("c", (START, None, END, START), ("he leaves", "he enters", "again")),
    ]
    turns = encode_turns(data, VOCABULARY, TABLES)
    assert turns.interaction.tolist() == [1, 2]
    assert turns.turn.tolist() == [0, 2]
    assert turns.words[1].tolist() == [4, 5, BETWEEN, 4, 6, CURRENT, 7]


def test_select_drops_padding_that_nobody_needs():
    turns = turns_of(4)
    shortest = turns.lengths.argsort()[:3]
    chosen = turns.select(shortest)
    assert chosen.words.shape == (3, int(turns.lengths[shortest].max()))
    assert np.array_equal(chosen.initial, turns.initial[shortest])
    assert len(turns.select(np.array([], np.int64))) == 0


def test_instructions_are_joined():
    assert join_instructions(["ab"], "|", ">") == [">", "a", "b"]
    assert join_instructions(["ab", "c", "de"], "|", ">") == ["a", "b", "|", "c", ">", "d", "e"]


def test_examples_are_padded_and_their_last_state_is_repeated():
    short, long = Example([[5, 6]], [START], MIDDLE), Example([[5], [6], [7, 4]], [START, MIDDLE, END], START, interaction=3, whole=False)
    turns = make_turns([short, long], TABLES)
    assert turns.words.tolist() == [[CURRENT, 5, 6, PAD, PAD, PAD], [5, BETWEEN, 6, CURRENT, 7, 4]]
    assert turns.current.tolist() == [1, 4]
    assert [TABLES.decode(history) for history in turns.history] == [[START] * 3, [START, MIDDLE, END]]
    assert TABLES.decode(turns.initial) == [START, END]
    assert (turns.interaction.tolist(), turns.whole.tolist()) == ([0, 3], [True, False])
    assert make_turns([short], TABLES, turns=5).history.shape == (1, 5, TABLES.slots)
    assert make_turns([], TABLES).words.shape == (0, 0)


TURNS = turns_of(40)
KEYS = set(zip(TURNS.interaction.tolist(), TURNS.turn.tolist(), strict=True))


@given(size=st.integers(1, 250), seed=st.none() | st.integers(0, 2**31), bucket=st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_an_epoch_has_every_turn_once(size, seed, bucket):
    found = list(batches(TURNS, size, None if seed is None else np.random.default_rng(seed).permutation, bucket))
    keys = [key for batch in found for key in zip(batch.interaction.tolist(), batch.turn.tolist(), strict=True)]
    assert len(keys) == len(TURNS) == 200
    assert set(keys) == KEYS
    assert len(found) == -(-len(TURNS) // size) or bucket * size < len(TURNS)
    assert all(1 <= len(batch) <= size for batch in found)
    for batch in found:
        rows = batch.interaction * 5 + batch.turn
        assert batch.words.shape[1] == int(batch.lengths.max())
        assert np.array_equal(TURNS.words[rows][:, : batch.words.shape[1]], batch.words)
        assert np.array_equal(TURNS.goal[rows], batch.goal)


def order(seed: int, epochs: int = 1) -> list[list[int]]:
    permutation = np.random.default_rng(seed).permutation
    return [(batch.interaction * 5 + batch.turn).tolist() for _ in range(epochs) for batch in batches(TURNS, 20, permutation)]


def test_order_is_the_seeds():
    assert order(1) == order(1)
    assert order(1) != order(2)
    two = order(1, epochs=2)
    assert two[:10] == order(1)
    assert two[10:] != two[:10]


def test_without_permutations_the_order_is_that_of_length():
    lengths = [batch.lengths.tolist() for batch in batches(TURNS, 20)]
    assert [length for batch in lengths for length in batch] == sorted(TURNS.lengths.tolist())


@pytest.mark.parametrize("seed", range(3))
def test_little_is_padded(seed):
    """Turns of a batch are about as long as one another."""
    padded = sum(batch.words.size for batch in batches(TURNS, 20, np.random.default_rng(seed).permutation))
    assert padded < 1.25 * int(TURNS.lengths.sum())


def test_batches_of_random_order_have_turns_of_every_length():
    """Sorted by length, a batch has mostly turns with the same number; drawn at random, it has all five."""
    random, sorted_by_length = (
        [len(set(batch.turn.tolist())) for batch in batches(TURNS, 20, np.random.default_rng(1).permutation, bucket)] for bucket in (1, 50)
    )
    assert min(random) >= 4
    assert sum(sorted_by_length) / len(sorted_by_length) < 3.5


def test_dropped_words_are_unknown_and_marks_stay():
    turns = turns_of(3)
    assert np.array_equal(drop_words(turns, np.zeros(turns.words.shape, np.bool_)).words, turns.words)
    every = drop_words(turns, np.ones(turns.words.shape, np.bool_)).words
    special = turns.words < len(SPECIAL)
    assert np.array_equal(every[special], turns.words[special])
    assert (every[~special] == UNKNOWN).all()
    dropped = np.random.default_rng(1).random(turns.words.shape) < 0.5
    some = drop_words(turns, dropped).words
    assert np.array_equal(some == UNKNOWN, (dropped & ~special) | (turns.words == UNKNOWN))
    assert np.array_equal(some[~dropped], turns.words[~dropped])

"""Turns as arrays: the one way in which interactions and contexts become what a policy is given."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sestra.data.scone import Interaction, State
from sestra.data.vocabulary import BETWEEN, CURRENT, PAD, Vocabulary
from sestra.worlds.tables import Flags, Integers, Tables

Token = TypeVar("Token")


@dataclass(frozen=True)
class Turns:
    """A batch of instructions, each with what an agent knows when it begins and the goal state that it should reach.

    The words are those of all instructions up to this one, with BETWEEN between earlier ones and CURRENT before this one.
    """

    words: Integers  # [batch, words], padded at the end
    lengths: Integers  # [batch]: number of words that are not padding
    current: Integers  # [batch]: where this instruction begins, after CURRENT
    history: Integers  # [batch, turns, slots]: the states in which the turns up to this one begin, then the last of them again
    goal: Integers  # [batch, slots]
    turn: Integers  # [batch]: 0 for the first instruction of an interaction
    interaction: Integers  # [batch]: index of the interaction
    whole: Flags  # [batch]: whether all states of the interaction are known

    def __len__(self) -> int:
        return len(self.words)

    @property
    def initial(self) -> Integers:
        """The states in which these turns begin."""
        return self.history[np.arange(len(self)), self.turn]  # [batch, slots]

    def starting_from(self, history: Integers) -> Turns:
        """The same instructions after another history of states."""
        return dataclasses.replace(self, history=history)

    def select(self, rows: Integers) -> Turns:
        """Some of the turns, without the padding that only others needed."""
        chosen = Turns(**{field.name: getattr(self, field.name)[rows] for field in dataclasses.fields(self)})
        return dataclasses.replace(chosen, words=chosen.words[:, : chosen.lengths.max(initial=0)])


@dataclass(frozen=True)
class Example:
    """One turn before it becomes part of a batch: all instructions and states up to it, and its goal."""

    instructions: Sequence[Sequence[int]]
    """Token ids; the last instruction is this turn's."""
    states: Sequence[State]
    """In which the turns up to this one begin."""
    goal: State
    interaction: int = 0
    whole: bool = True


def join_instructions(instructions: Sequence[Sequence[Token]], between: Token, current: Token) -> list[Token]:
    """All instructions of an interaction as one sequence, with ``between`` between earlier ones and ``current`` before the last.

    >>> join_instructions(["ab", "c", "de"], "|", ">")
    ['a', 'b', '|', 'c', '>', 'd', 'e']
    """
    *earlier, last = instructions
    joined: list[Token] = []
    for tokens in earlier:
        joined += [between, *tokens] if joined else tokens
    return [*joined, current, *last]


def make_turns(examples: Sequence[Example], tables: Tables, turns: int | None = None) -> Turns:
    """The examples as a batch; ``turns`` is how many states a history has, by default as many as the longest needs."""
    words = [join_instructions(example.instructions, BETWEEN, CURRENT) for example in examples]
    longest = max(map(len, words), default=0)
    turns = max((len(example.states) for example in examples), default=0) if turns is None else turns
    histories = [[*example.states, *[example.states[-1]] * (turns - len(example.states))] for example in examples]
    return Turns(
        words=np.array([[*row, *[PAD] * (longest - len(row))] for row in words], np.int64).reshape(len(words), longest),
        lengths=np.array([len(row) for row in words], np.int64),
        current=np.array([len(row) - len(example.instructions[-1]) for row, example in zip(words, examples, strict=True)], np.int64),
        history=tables.encode(state for history in histories for state in history).reshape(len(examples), turns, tables.slots),
        goal=tables.encode(example.goal for example in examples),
        turn=np.array([len(example.states) - 1 for example in examples], np.int64),
        interaction=np.array([example.interaction for example in examples], np.int64),
        whole=np.array([example.whole for example in examples], np.bool_),
    )


def concatenate(first: Turns, second: Turns) -> Turns:
    """The turns of both; the interactions of the second are numbered after those of the first."""
    words, turns = (max(first.words.shape[1], second.words.shape[1]), max(first.history.shape[1], second.history.shape[1]))

    def padded(each: Turns) -> Turns:
        more = turns - each.history.shape[1]
        return dataclasses.replace(
            each,
            words=np.pad(each.words, ((0, 0), (0, words - each.words.shape[1])), constant_values=PAD),
            history=np.concatenate([each.history, np.repeat(each.history[:, -1:], more, 1)], 1),
        )

    second = dataclasses.replace(second, interaction=second.interaction + first.interaction.max(initial=-1) + 1)
    both = padded(first), padded(second)
    return Turns(**{field.name: np.concatenate([getattr(each, field.name) for each in both]) for field in dataclasses.fields(Turns)})


def encode_turns(interactions: Sequence[Interaction], vocabulary: Vocabulary, tables: Tables) -> Turns:
    """Every instruction whose start and goal are known, in order."""
    examples = []
    for number, interaction in enumerate(interactions):
        tokens, whole = [vocabulary.encode(instruction) for instruction in interaction.instructions], None not in interaction.states
        for last, goal in enumerate(interaction.states[1:], start=1):
            start = interaction.states[last - 1]
            if start is not None and goal is not None:
                examples.append(Example(tokens[:last], _known(interaction.states[:last], start), goal, number, whole))
    return make_turns(examples, tables, max((len(interaction.instructions) for interaction in interactions), default=0))


def _known(states: Sequence[State | None], last: State) -> list[State]:
    """The states; one that nobody annotated is taken to be as the next one is."""
    known = [last]
    for state in reversed(states[:-1]):
        known.append(known[-1] if state is None else state)
    return known[::-1]


Permutation = Callable[[int], Integers]
"""Draws a random order of that many things."""


LENGTH_BUCKET = 50
"""In how many batches turns in random order are sorted by length."""


def batches(turns: Turns, size: int, permutation: Permutation | None = None, bucket: int = LENGTH_BUCKET) -> Iterator[Turns]:
    """All turns, ``size`` at a time: in random order if there is a source of permutations, else in order of length.

    Turns in random order are sorted by length within ``bucket`` batches, and those batches shuffled, so that little is padded. The words
    are those of all turns so far, so a batch is then mostly of turns with the same number; with a bucket of 1 it is drawn at random.
    """
    if permutation is None:
        for rows in _split(turns.lengths.argsort(kind="stable"), size):
            yield turns.select(rows)
        return
    for chunk in _split(permutation(len(turns)), size * bucket):
        in_order = _split(chunk[turns.lengths[chunk].argsort(kind="stable")], size)
        for number in permutation(len(in_order)).tolist():
            yield turns.select(in_order[number])


def _split(rows: Integers, size: int) -> list[Integers]:
    return [rows[first : first + size] for first in range(0, len(rows), size)]

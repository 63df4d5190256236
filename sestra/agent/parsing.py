"""What a person gives an agent, checked, and as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sestra.agent.spelling import Speller
from sestra.agent.trace import Context, Word
from sestra.data.batch import Example, Turns, join_instructions, make_turns
from sestra.data.vocabulary import tokenize
from sestra.errors import InputError, shortened
from sestra.worlds.tables import Tables

LONGEST_TEXT, MOST_WORDS, MOST_EARLIER_WORDS = 20_000, 1_000, 5_000
"""Of a state or an instruction, in characters; of an instruction; of all earlier instructions of an interaction together."""

LONGEST_MESSAGE = 320


@dataclass(frozen=True)
class Reading:
    """A context as the policy is given it."""

    instruction: str
    words: tuple[Word, ...]
    """Those of the instruction."""
    token_ids: list[tuple[int, ...]]
    """Of all instructions, this one last."""
    labels: list[str | None]
    """The words of all instructions as they were typed, with None for each delimiter between instructions."""
    states: list[tuple[Any, ...]]
    """In which the turns so far began."""

    @property
    def understood(self) -> bool:
        """Whether any word of the instruction is known."""
        return any(word.known and word.text[0].isalnum() for word in self.words)


@dataclass(frozen=True)
class Reader:
    """Reads contexts for a world and a vocabulary; an error's message begins with ``place``."""

    tables: Tables
    speller: Speller

    def read(self, context: Context, place: str = "") -> Reading:
        states, instructions = context.states, context.instructions
        if isinstance(states, str) or isinstance(instructions, str):
            raise InputError(f"{place}the states or instructions are one text; expected a list of texts of each")
        if not instructions or len(states) != len(instructions):
            given = f"{len(states)} states and {len(instructions)} instructions"
            raise InputError(f"{place}{given}; expected as many of each and at least one, the last of each being those of now")
        counts = [count_words(instruction, f"{place}instruction {number}: ") for number, instruction in enumerate(instructions, start=1)]
        if sum(counts[:-1]) > MOST_EARLIER_WORDS:
            raise InputError(
                f"{place}more than {MOST_EARLIER_WORDS:,} words in {len(instructions) - 1} earlier instructions; begin a new interaction"
            )
        read = [self.speller.read(instruction) for instruction in instructions]
        labels = join_instructions([[word.text for word in words] for words, _ in read], None, None)
        parsed = [self.state(state, f"{place}state {count}: ") for count, state in enumerate(states, start=1)]
        return Reading(instructions[-1], read[-1][0], [ids for _, ids in read], labels, parsed)

    def words(self, instruction: str, place: str) -> tuple[tuple[Word, ...], tuple[int, ...]]:
        """The instruction's words, and their places in the vocabulary."""
        count_words(instruction, place)
        return self.speller.read(instruction)

    def state(self, text: str, place: str) -> tuple[Any, ...]:
        world = self.tables.world
        _check_text(text, place, f"a state of {world.name} as text")
        try:
            return world.parse(text)
        except InputError as error:
            said = str(error)  # which may repeat a state of any length
            raise type(error)(place + (said if len(said) <= LONGEST_MESSAGE else f"{said[:150]} … {said[-150:]}")) from error


def count_words(instruction: str, place: str = "") -> int:
    """How many words and marks there are; InputError, which begins with ``place``, if none of them is a word or they are too many.

    Quick, whatever it is given: spelling, which is not, comes after it.
    """
    _check_text(instruction, place, "an instruction such as 'throw out the first one'")
    tokens = tokenize(instruction)
    if not any(token[0].isalnum() for token in tokens):
        said = repr(shortened(instruction))
        raise InputError(f"{place}{said} has no word in it; write what to do, such as 'throw out the first one'")
    if len(tokens) > MOST_WORDS:
        raise InputError(f"{place}{len(tokens):,} words are too many; an instruction has at most {MOST_WORDS:,}")
    return len(tokens)


def _check_text(text: Any, place: str, expected: str) -> None:
    if not isinstance(text, str):
        raise InputError(f"{place}{shortened(repr(text))} is not text; expected {expected}")
    if len(text) > LONGEST_TEXT:
        raise InputError(f"{place}{len(text):,} characters are too many; give at most {LONGEST_TEXT:,}")


def as_turns(readings: Sequence[Reading], tables: Tables) -> Turns:
    """A batch; the goals, which nobody knows, are the initial states."""
    return make_turns([Example(reading.token_ids, reading.states, reading.states[-1]) for reading in readings], tables)

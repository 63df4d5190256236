"""What a user gives an agent, checked against the limits and encoded for the policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sestra.agent.limits import MAX_INSTRUCTION_LENGTH, MAX_WORDS, max_state_length
from sestra.agent.spelling import Speller
from sestra.agent.trace import Context, Word
from sestra.data.batch import Example, Turns, join_instructions, make_turns
from sestra.data.vocabulary import tokenize
from sestra.errors import InputError, shortened
from sestra.worlds.tables import Tables

MAX_MESSAGE_LENGTH = 320
MAX_ACTIONS = 1_000


@dataclass(frozen=True)
class ParsedContext:
    """A context as the policy takes it."""

    instruction: str
    words: tuple[Word, ...]
    """Those of the current instruction."""
    token_ids: list[tuple[int, ...]]
    """Of all instructions, the current one last."""
    labels: list[str | None]
    """The words of all instructions as the user typed them, with None for each delimiter between instructions."""
    states: list[tuple[Any, ...]]
    """The start states of the turns so far."""
    actions: list[int]
    """The indices of the actions that are given."""

    @property
    def understood(self) -> bool:
        """Whether any word of the current instruction is known."""
        return any(word.known and word.text[0].isalnum() for word in self.words)


@dataclass(frozen=True)
class Parser:
    """Parses contexts for one world and one vocabulary; every error message begins with ``place``."""

    tables: Tables
    speller: Speller

    def parse(self, context: Context, place: str = "") -> ParsedContext:
        states, instructions = context.states, context.instructions
        if isinstance(states, str) or isinstance(instructions, str):
            raise InputError(f"{place}the states or instructions are one text; expected a list of texts of each")
        if not instructions or len(states) != len(instructions):
            given = f"{len(states)} states and {len(instructions)} instructions"
            raise InputError(f"{place}{given}; expected as many of each and at least one, the last of each being the current one")
        check_instructions(instructions, place)
        read = [self.speller.read(instruction) for instruction in instructions]
        labels = join_instructions([[word.text for word in words] for words, _ in read], None, None)
        parsed = [self.state(state, f"{place}state {number}: ") for number, state in enumerate(states, start=1)]
        return ParsedContext(instructions[-1], read[-1][0], [ids for _, ids in read], labels, parsed, self.actions(context, place))

    def actions(self, context: Context, place: str) -> list[int]:
        world = self.tables.world
        if len(context.actions) > MAX_ACTIONS:
            raise InputError(f"{place}{len(context.actions):,} actions are given; expected at most {MAX_ACTIONS:,}")
        try:
            return [world.action_indices[world.parse_action(action)] for action in context.actions]
        except InputError as error:
            raise InputError(f"{place}{error}") from error

    def state(self, text: str, place: str) -> tuple[Any, ...]:
        world = self.tables.world
        _check_text(text, max_state_length(world), place, f"a state of {world.name} as text")
        try:
            return world.parse(text)
        except InputError as error:
            message = str(error)  # which may repeat the whole state
            raise type(error)(place + (message if len(message) <= MAX_MESSAGE_LENGTH else f"{message[:150]} … {message[-150:]}")) from error


def check_instructions(instructions: Sequence[str], place: str = "") -> None:
    """Raise InputError for an instruction without a word, or for too many words altogether; it is fast, so it comes before spelling."""
    check_word_count(sum(count_words(each, f"{place}instruction {number}: ") for number, each in enumerate(instructions, start=1)), place)


def check_word_count(count: int, place: str = "") -> None:
    if count > MAX_WORDS:
        raise InputError(f"{place}{count:,} words in all instructions together; expected at most {MAX_WORDS:,}; start a new interaction")


def count_words(instruction: str, place: str = "") -> int:
    """The number of tokens; InputError if the instruction is too long or has no word."""
    _check_text(instruction, MAX_INSTRUCTION_LENGTH, place, "an instruction such as 'throw out the first one'")
    tokens = tokenize(instruction)
    if not any(token[0].isalnum() for token in tokens):
        raise InputError(f"{place}{shortened(instruction)!r} has no word in it; write what to do, such as 'throw out the first one'")
    return len(tokens)


def _check_text(text: Any, longest: int, place: str, expected: str) -> None:
    if not isinstance(text, str):
        raise InputError(f"{place}{shortened(repr(text))} is not text; expected {expected}")
    if len(text) > longest:
        raise InputError(f"{place}{len(text):,} characters are too many; expected at most {longest:,}")


def as_turns(contexts: Sequence[ParsedContext], tables: Tables) -> Turns:
    """A batch; the goals, which are unknown, are the initial states."""
    return make_turns([Example(context.token_ids, context.states, context.states[-1]) for context in contexts], tables)

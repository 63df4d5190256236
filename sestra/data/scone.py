"""SCONE's tab-separated files: read strictly, all errors of a file at once, and written back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sestra.errors import InputError
from sestra.io import write_text
from sestra.worlds import WORLDS, StateError, World

State = tuple[Any, ...]

UNKNOWN = "?"
"""How ``train-orig`` writes a state that was not annotated."""
SPLITS = ("train", "dev", "test", "train-orig")
MAX_LINE_LENGTH = 100_000

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")  # all control characters but the tab
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
"""Characters without width, and those that change the direction of the text: what is read is not what is seen."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_PROBLEM = 400


@dataclass(frozen=True)
class Interaction:
    """A start state and instructions, each with the state that it leads to (None where it is unknown)."""

    id: str
    states: tuple[State | None, ...]
    instructions: tuple[str, ...]

    def turns(self) -> Iterator[tuple[str, State, State]]:
        """Each instruction whose start and goal are both known, with them."""
        for instruction, start, goal in zip(self.instructions, self.states, self.states[1:], strict=False):
            if start is not None and goal is not None:
                yield instruction, start, goal


class DataError(InputError):
    """What is wrong with a file, one problem per line, each with its place."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def read(path: str | Path, world: World[Any]) -> list[Interaction]:
    """Every interaction of the file; raises DataError with all that is wrong in it.

    Lines end in LF or CRLF; the last one need not end.
    """
    interactions, problems = [], []
    for number, line in enumerate(_lines(Path(path)), start=1):
        try:
            interactions.append(parse_line(line, world))
        except DataError as error:  # of the line, without its place
            problems += [f"{path}:{number}: {_shorten(problem)}" for problem in error.problems]
    if problems:
        raise DataError(problems)
    return interactions


def write(path: str | Path, world: World[Any], interactions: Iterable[Interaction]) -> None:
    """Write the interactions in the same format; the file appears whole or not at all."""
    write_text(path, "".join(f"{format_line(interaction, world)}\n" for interaction in interactions))


def format_line(interaction: Interaction, world: World[Any]) -> str:
    """The interaction as a line of a file, without its end."""
    states = [UNKNOWN if state is None else world.format(state) for state in interaction.states]
    turns = [field for turn in zip(interaction.instructions, states[1:], strict=True) for field in turn]
    return "\t".join([interaction.id, states[0], *turns])


def world_of(path: str | Path) -> str:
    """The world that a file's name begins with, as in ``alchemy-train.tsv``."""
    names = WORLDS.names()
    for name in names:
        if Path(path).name.startswith((f"{name}-", f"{name}.")):
            return name
    raise InputError(f"{path}: the name does not begin with a world ({', '.join(names)}); give the world with --world")


def _lines(path: Path) -> list[bytes]:
    """The file's lines without their ends; a file of blanks has none to offer and is refused."""
    if not os.path.isfile(path):
        what = "is not a regular file" if os.path.exists(path) else "no such file"
        raise DataError([f"{path}: {what}; give one tab-separated file, or get the data with 'sestra data download'"])
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError([f"{path}: cannot be read ({error.strerror}); check the path and its permissions"]) from error
    if not content.strip():
        raise DataError([f"{path}: is empty; expected one interaction per line"])
    return [line.removesuffix(b"\r") for line in content.removesuffix(b"\n").split(b"\n")]


def _decode(line: bytes) -> str:
    """The line's text, free of anything that an editor would not show."""
    if len(line) > MAX_LINE_LENGTH:
        raise DataError([f"a line of {len(line):,} bytes; expected at most {MAX_LINE_LENGTH:,}; is this a SCONE file?"])
    if line.startswith(_BYTE_ORDER_MARK):
        raise DataError(["the line begins with a byte-order mark; save the file as UTF-8 without one"])
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError([f"byte {error.start + 1} of the line ({line[error.start]:#04x}) is not UTF-8; save the file as UTF-8"]) from error
    if found := _CONTROL.search(text):
        raise DataError([f"control character {found[0]!r} at character {found.start() + 1}; expected text between single tabs; delete it"])
    if found := _INVISIBLE.search(text):
        raise DataError([f"invisible character U+{ord(found[0]):04X} at character {found.start() + 1}; delete it"])
    return text


def parse_line(content: bytes, world: World[Any]) -> Interaction:
    """The interaction of a line without its end; raises DataError with all that is wrong in it, without the place."""
    line = _decode(content)
    if not line.strip():
        raise DataError(["the line is blank; delete it"])
    fields = line.split("\t")
    if len(fields) < 4 or len(fields) % 2:
        expected = "4, 6, 8, ... with a tab between them (identifier, start state, then an instruction and a state per turn)"
        raise DataError([f"{len(fields)} columns; expected {expected}; look for a missing or an extra tab"])
    identifier, instructions = fields[0], fields[2::2]
    problems = [] if identifier.strip() else ["column 1: the identifier is empty; give the interaction a name"]
    states: list[State | None] = []
    for column, text in zip(range(2, len(fields) + 1, 2), fields[1::2], strict=True):
        try:
            if text == UNKNOWN and column in (2, len(fields)):
                raise StateError(
                    f"the state is unknown ({UNKNOWN!r}); the first and the last must be known, only those between them need not be"
                )
            states.append(None if text == UNKNOWN else world.parse(text))
        except StateError as error:
            problems.append(f"column {column}: {error}")
    for column, text in zip(range(3, len(fields) + 1, 2), instructions, strict=True):
        if not text.strip():
            problems.append(f"column {column}: the instruction is empty; write one, or delete it together with its state")
    if problems:
        raise DataError(problems)
    return Interaction(identifier, tuple(states), tuple(instructions))


def _shorten(problem: str) -> str:
    """The problem without the middle of a long value; the advice at its end stays."""
    half = _LONGEST_PROBLEM // 2
    return problem if len(problem) <= _LONGEST_PROBLEM else f"{problem[:half]} ... {problem[-half:]}"

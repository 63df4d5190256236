"""What to train and evaluate on: interactions that were given, data files where they are found, else what the world's grammar generates."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sestra.data import locate, scone
from sestra.data.scone import Interaction, format_line
from sestra.data.synthetic import splits
from sestra.errors import InputError, shortened
from sestra.worlds import World, get_world

GENERATED = "generated"
GIVEN = "given in Python"
Data = str | Path | Sequence[Interaction] | None
"""A folder with files such as ``alchemy-train.tsv``, one such file whatever its name, or interactions; None: SCONE where it is found, else
generated interactions."""


@dataclass(frozen=True)
class Source:
    """Where interactions came from, so that a result names its data."""

    name: str
    """A file's name, ``generated`` and the split's name, or ``given in Python``."""
    sha256: str

    @property
    def generated(self) -> bool:
        return self.name.startswith(GENERATED)


def load(world: str | World[Any], split: str, data: Data = None, *, generated: bool = False) -> tuple[list[Interaction], Source]:
    """The split's interactions; they are generated only on request, or if no data was given and the cache has none."""
    known = get_world(world)
    if data is not None and not isinstance(data, str | Path):
        interactions = _checked(data, known)
        return interactions, Source(GIVEN, _checksum(interactions, known))
    if data and Path(data).is_file() and not generated:
        path = Path(data)
        return _from_file(path, scone.read(path, known))
    folder = None if generated else locate.find(Path(data) if data else None)
    if folder is not None and (data or any(name == known.name for name, _ in locate.files(folder))):
        return _from_file(folder / f"{known.name}-{split}.tsv", locate.read_split(known, split, folder))
    made = splits(known)
    if split not in made:
        raise InputError(
            f"no data of {known.name} was found, and generated data has no split {split!r} (only {', '.join(made)}); {locate.HOW_TO_GET_IT}"
        )
    return made[split], Source(f"{GENERATED} {split}", _checksum(made[split], known))


def _from_file(path: Path, interactions: list[Interaction]) -> tuple[list[Interaction], Source]:
    if not any(True for interaction in interactions for _ in interaction.turns()):
        raise InputError(f"{path}: no instruction's start and goal are both known; expected some that are")
    return interactions, Source(path.name, hashlib.sha256(path.read_bytes()).hexdigest())


def _checksum(interactions: Sequence[Interaction], world: World[Any]) -> str:
    return hashlib.sha256("".join(f"{format_line(interaction, world)}\n" for interaction in interactions).encode()).hexdigest()


def _checked(data: Sequence[Interaction], world: World[Any]) -> list[Interaction]:
    """The interactions, checked as those of a file are."""
    problems: list[str] = []
    interactions: list[Interaction] = []
    contents = set(world.contents)
    for number, given in enumerate(data):
        if not isinstance(given, Interaction):
            raise InputError(f"data[{number}] is {shortened(repr(given))}; expected a sestra.data.scone.Interaction")
        if len(given.states) != len(given.instructions) + 1:
            counts = f"{len(given.states)} states and {len(given.instructions)} instructions"
            problems.append(f"data[{number}]: {counts}; expected one state more than instructions")
        elif wrong := [state for state in given.states if state is not None and not _is_state(state, world.slots, contents)]:
            expected = f"a tuple of {world.slots} contents, as {world.name}'s method 'parse' gives it"
            problems.append(f"data[{number}]: {shortened(repr(wrong[0]))} is not a state; expected {expected}")
        else:
            try:
                interactions.append(scone.parse_line(format_line(given, world).encode(), world))
            except scone.DataError as error:
                problems += [f"data[{number}]: {problem}" for problem in error.problems]
    if problems:
        raise scone.DataError(problems)
    return interactions


def _is_state(state: Any, slots: int, contents: set[Any]) -> bool:
    try:
        return isinstance(state, tuple) and len(state) == slots and contents.issuperset(state)
    except TypeError:  # something that no set can hold
        return False

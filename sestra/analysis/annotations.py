"""References and labels that a person annotated, and how well the program agrees with them.

The files are in ``results/annotations``, with their guideline. They hold ids and labels, not the data, so the split must be at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from sestra.analysis.mentions import references
from sestra.analysis.references import Kind, Reference, To
from sestra.data.scone import Interaction
from sestra.errors import InputError
from sestra.io import build, read_json
from sestra.worlds import World

Half = Literal["rules", "held out"]
"""Which interactions the program's rules may be corrected by, and which are for measuring alone."""
HALVES: tuple[Half, ...] = get_args(Half)
Label = Literal["right", "wrong", "ambiguous"]
Place = tuple[str, int]
"""An interaction's id, and a turn, counted from 0."""


@dataclass(frozen=True)
class _Reference:
    kind: Kind
    to: To
    age: int


@dataclass(frozen=True)
class _Turn:
    references: list[dict[str, Any]]
    label: Label


@dataclass(frozen=True)
class _Annotated:
    id: str
    half: Half
    turns: list[dict[str, Any]]


@dataclass(frozen=True)
class _File:
    world: str
    split: str
    seed: int
    """Of the draw of the interactions."""
    interactions: list[dict[str, Any]]


@dataclass(frozen=True)
class Annotation:
    """What a person read in one instruction."""

    half: Half
    references: tuple[Reference, ...]
    label: Label


Annotations = Mapping[Place, Annotation]


def read(path: Path, world: World[Any], split: str, interactions: Sequence[Interaction]) -> dict[Place, Annotation]:
    """The annotations of the file, by place; raises InputError unless they are of these interactions."""
    file: _File = build(_File, read_json(path), str(path))
    if (file.world, file.split) != (world.name, split):
        raise InputError(f"{path}: annotates {file.world}'s {file.split}; expected {world.name}'s {split}")
    known = {each.id: each for each in interactions}
    found: dict[Place, Annotation] = {}
    for number, values in enumerate(file.interactions):
        place = f"{path}: interactions[{number}]"
        one: _Annotated = build(_Annotated, values, place)
        if one.id not in known:
            raise InputError(f"{place}: there is no interaction {one.id!r} in the split; annotate the same data")
        if len(one.turns) != len(known[one.id].instructions):
            raise InputError(f"{place}: has {len(one.turns)} turns; {one.id} has {len(known[one.id].instructions)}")
        for turn, given in enumerate(one.turns):
            made: _Turn = build(_Turn, given, f"{place}: turns[{turn}]")
            read_here = [build(_Reference, each, f"{place}: turns[{turn}]: references") for each in made.references]
            if wrong := [each.age for each in read_here if not 1 <= each.age <= turn]:
                raise InputError(f"{place}: turns[{turn}]: age is {wrong[0]}; expected a number of turns from 1 to {turn}")
            found[one.id, turn] = Annotation(one.half, tuple(Reference(each.kind, each.to, "", each.age) for each in read_here), made.label)
    return found


@dataclass(frozen=True)
class Agreement:
    """How often a program and a person say yes, to the same questions."""

    both: int
    program: int
    """Where only the program does."""
    person: int
    """Where only the person does."""
    neither: int | None = None
    """None where the number of questions is open."""

    @property
    def precision(self) -> float | None:
        return self.both / (self.both + self.program) if self.both + self.program else None

    @property
    def recall(self) -> float | None:
        return self.both / (self.both + self.person) if self.both + self.person else None

    @property
    def kappa(self) -> float | None:
        """Cohen's: the agreement beyond chance, as a fraction of the most that is possible."""
        if self.neither is None:
            return None
        total = self.both + self.program + self.person + self.neither
        yes = (self.both + self.program) * (self.both + self.person)
        no = (self.neither + self.person) * (self.neither + self.program)
        by_chance = (yes + no) / total**2 if total else 1.0
        return ((self.both + self.neither) / total - by_chance) / (1 - by_chance) if by_chance < 1 else None

    def to_json(self) -> dict[str, Any]:
        shown = {name: None if (value := getattr(self, name)) is None else round(value, 3) for name in ("precision", "recall", "kappa")}
        return {"both": self.both, "program": self.program, "person": self.person, "neither": self.neither, **shown}


def agreement(
    world: World[Any],
    annotations: Annotations,
    interactions: Sequence[Interaction],
    half: Half,
    disputed: AbstractSet[Place] | None,
    errors: AbstractSet[Place],
) -> dict[str, Agreement]:
    """In one half: whether instructions refer back, each type of reference, their ages, and labels that are wrong or ambiguous.

    Of references and their ages, as many agree as have the same type, or type and age, in the same instruction. Labels are compared
    everywhere, and where the agent erred, which is where they are the cause of an error.
    """
    program = {
        (each.id, turn): found for each in interactions if (each.id, 0) in annotations for turn, found in enumerate(references(world, each))
    }
    places = [place for place, each in annotations.items() if each.half == half]
    later = [place for place in places if place[1] > 0]
    found = {"refers back": _yes_or_no([(bool(program[place]), bool(annotations[place].references)) for place in later])}
    found["references"] = _common([(_types(program[place]), _types(annotations[place].references)) for place in later])
    found["references with their ages"] = _common([(_aged(program[place]), _aged(annotations[place].references)) for place in later])
    present = dict.fromkeys(kind for place in later for kind in (*_types(annotations[place].references), *_types(program[place])))
    for kind in sorted(present):
        both = [
            ([one for one in _types(program[place]) if one == kind], [one for one in _types(annotations[place].references) if one == kind])
            for place in later
        ]
        found[kind] = _common(both)
    if disputed is not None:
        doubts = {place: (place in disputed, annotations[place].label != "right") for place in places}
        found["wrong or ambiguous labels"] = _yes_or_no([*doubts.values()])
        found["the same, of the agent's errors"] = _yes_or_no([both for place, both in doubts.items() if place in errors])
    return found


def _types(found: Sequence[Reference]) -> list[str]:
    return [f"{each.kind}, {each.to}" for each in found]


def _aged(found: Sequence[Reference]) -> list[str]:
    return [f"{each.kind}, {each.to}, {each.age}" for each in found]


def _yes_or_no(answers: Sequence[tuple[bool, bool]]) -> Agreement:
    """Of the program's and the person's answers."""
    return Agreement(*(answers.count(both) for both in ((True, True), (True, False), (False, True), (False, False))))


def _common(pairs: Sequence[tuple[list[str], list[str]]]) -> Agreement:
    """Of the program's and the person's lists, one pair per instruction."""
    both = sum(min(ours.count(each), theirs.count(each)) for ours, theirs in pairs for each in {*ours})
    return Agreement(both, sum(len(ours) for ours, _ in pairs) - both, sum(len(theirs) for _, theirs in pairs) - both)

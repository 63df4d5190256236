"""What to train and evaluate on: data files where they are found, else interactions that the world's grammar generates."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sestra.data import locate
from sestra.data.scone import Interaction, format_line
from sestra.data.synthetic import splits
from sestra.errors import InputError
from sestra.worlds import World, get_world

GENERATED = "generated"


@dataclass(frozen=True)
class Source:
    """Where interactions came from, so that a result names its data."""

    name: str
    """A file's name, or ``generated`` and the split's."""
    sha256: str

    @property
    def generated(self) -> bool:
        return self.name.startswith(GENERATED)


def load(world: str | World[Any], split: str, data: Path | None = None, *, generated: bool = False) -> tuple[list[Interaction], Source]:
    """The split's interactions; they are generated only on request, or if no folder was given and the cache has none."""
    folder = None if generated else locate.find(data)
    if folder is not None:
        interactions, path = locate.read_split(world, split, folder), folder / f"{get_world(world).name}-{split}.tsv"
        if not any(True for interaction in interactions for _ in interaction.turns()):
            raise InputError(f"{path}: no instruction's start and goal are both known; expected some that are")
        return interactions, Source(path.name, hashlib.sha256(path.read_bytes()).hexdigest())

    made = splits(world)
    if split not in made:
        raise InputError(f"SCONE was not found, and generated data has no split {split!r} (only {', '.join(made)}); {locate.HOW_TO_GET_IT}")
    lines = "".join(f"{format_line(interaction, get_world(world))}\n" for interaction in made[split])
    return made[split], Source(f"{GENERATED} {split}", hashlib.sha256(lines.encode()).hexdigest())

"""Types of flags that several commands share, with what the help shows for them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import tyro

from sestra.data.scone import SPLITS
from sestra.errors import InputError
from sestra.io import to_json
from sestra.worlds import WORLDS

_WORLDS = f"{{{','.join(WORLDS.names())},FILE.py:CLASS}}"
_DATA = "A folder with files such as alchemy-train.tsv, or one file; by default SCONE_DATA, the user's cache, else generated interactions."

WorldName = Annotated[str, tyro.conf.arg(metavar=_WORLDS)]
OptionalWorldName = Annotated[str | None, tyro.conf.arg(metavar=_WORLDS, help_behavior_hint="")]
SplitName = Annotated[str, tyro.conf.arg(metavar=f"{{{','.join(SPLITS)}}}")]
File = Annotated[Path, tyro.conf.arg(metavar="FILE")]
Folder = Annotated[Path, tyro.conf.arg(metavar="FOLDER")]
OptionalFile = Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")]
OptionalFolder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")]
OptionalNumber = Annotated[int | None, tyro.conf.arg(metavar="NUMBER", help_behavior_hint="")]
Caution = Annotated[
    float | None,
    tyro.conf.arg(
        metavar="CONFIDENCE",
        help="Instructions that the agent is less confident about are not followed: 0 follows all. By default the agent's own.",
        help_behavior_hint="",
    ),
]
OptionalText = Annotated[str | None, tyro.conf.arg(metavar="TEXT", help_behavior_hint="")]
Switch = Annotated[bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help_behavior_hint="")]
DataFolder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", help=_DATA, help_behavior_hint="")]
Json = Annotated[bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help="Print one JSON object instead of text.", help_behavior_hint="")]
Svg = Annotated[Path | None, tyro.conf.arg(metavar="FILE", help="Also write the states as a picture (SVG).", help_behavior_hint="")]
Png = Annotated[Path | None, tyro.conf.arg(metavar="FILE", help="Also write the states as a picture (PNG).", help_behavior_hint="")]


def check_suffix(flag: str, path: Path | None, suffix: str) -> None:
    """Raise InputError unless the name of a file to write, if there is one, ends as it must."""
    if path is not None and path.suffix.lower() != suffix:
        raise InputError(f"{flag} {path}: expected a name that ends in {suffix}")


def print_json(value: Mapping[str, Any]) -> None:
    """What every ``--json`` flag prints: one object on one line."""
    sys.stdout.write(f"{to_json(value)}\n")

"""Where the data files are: the folder that was given, else SCONE_DATA, else the user's cache."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from sestra.data.scone import SPLITS, Interaction, read
from sestra.errors import InputError
from sestra.worlds import World, get_world

VARIABLE = "SCONE_DATA"
HOW_TO_GET_IT = (
    f"get the data with 'sestra data download', or say where it is with --data FOLDER or the environment variable {VARIABLE}; "
    "'sestra data generate' writes interactions of its own"
)


def cache_folder() -> Path:
    """The platform's folder for what can be fetched again: XDG_CACHE_HOME where it is set, else what each system has."""
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if chosen.is_absolute():  # the XDG specification has relative paths ignored
        return chosen / "sestra"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "sestra" / "cache"
    try:
        home = Path.home()
    except RuntimeError as error:
        raise InputError("this account has no home folder to keep data in; set XDG_CACHE_HOME to a folder of yours") from error
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "sestra"


def default_folder() -> Path:
    """Where 'sestra data download' puts SCONE unless another folder is given."""
    return cache_folder() / "scone"


def find(data: Path | None = None) -> Path | None:
    """The folder with SCONE's files, or None where none was given and the cache has none.

    A folder that was named, by ``data`` or SCONE_DATA, must have them: it is never skipped silently.
    """
    for origin, folder in (("--data", data), (VARIABLE, os.environ.get(VARIABLE))):
        if folder:
            if not files(folder := Path(folder)):
                what = "has no SCONE file" if os.path.isdir(folder) else "is not a folder"
                raise InputError(f"{folder} ({origin}): {what}; expected files such as alchemy-train.tsv in it; {HOW_TO_GET_IT}")
            return folder
    folder = default_folder()
    return folder if files(folder) else None


def files(folder: Path) -> dict[tuple[str, str], Path]:
    """The files in the folder by world and split: those called ``<world>-<split>.tsv``."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    matches = [match for name in names if (match := re.fullmatch(rf"(.+)-({'|'.join(SPLITS)})\.tsv", name))]
    found = {(match[1], match[2]): folder / match[0] for match in matches if os.path.isfile(folder / match[0])}
    return {key: found[key] for key in sorted(found, key=lambda key: (key[0], SPLITS.index(key[1])))}


def read_split(world: str | World[Any], split: str, data: Path | None = None) -> list[Interaction]:
    """The interactions of one split, from wherever the data is found."""
    known = get_world(world)
    if split not in SPLITS:
        raise InputError(f"unknown split {split!r}; expected one of {', '.join(SPLITS)}")
    folder = find(data)
    if folder is None:
        raise InputError(f"SCONE was not found: no --data, no {VARIABLE}, and nothing in {default_folder()}; {HOW_TO_GET_IT}")
    path = files(folder).get((known.name, split))
    if path is None:
        there = ", ".join(sorted(path.name for path in files(folder).values()))
        raise InputError(f"{folder}: has no {known.name}-{split}.tsv; expected one of {there}; get the rest with 'sestra data download'")
    return read(path, known)

"""``sestra new world NAME``: a folder to begin a world of one's own in. It is a copy of ``starter`` with another name."""

from __future__ import annotations

import keyword
import os
import re
import secrets
import shlex
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from sestra.cli.options import OptionalFolder
from sestra.errors import InputError, shortened
from sestra.worlds import WORLDS

STARTER = Path(__file__).parent / "starter"
NAME = "shelf"
"""What the world in the starter is called, in its files and in their names."""
FILES = ("__init__.py", "world.py", "test_world.py", f"data/{NAME}-train.tsv", f"data/{NAME}-dev.tsv")


def class_name(name: str) -> str:
    """The name of the world's class.

    >>> class_name("toy_kitchen")
    'ToyKitchen'
    """
    return "".join(part.capitalize() for part in name.split("_"))


@dataclass(frozen=True)
class New:
    """Begin a world of your own: write a folder with commented rules, interactions to train on, and a test that passes."""

    what: tyro.conf.Positional[Literal["world"]]
    """What to begin."""
    name: tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="NAME")]]
    """Its name, such as kitchen."""
    to: OptionalFolder = None
    """The folder to write; by default one with the world's name. It must not exist yet."""

    def run(self) -> int:
        check_name(self.name)
        folder = self.to or Path(self.name)
        write_starter(self.name, folder)
        train = ["--world", f"{folder / 'world.py'}:{class_name(self.name)}", "--data", str(folder / "data"), "--out", f"runs/{self.name}"]
        sys.stdout.write(
            f"{folder}: a world of four boxes that works; make it yours in {folder / 'world.py'}. Then try:\n"
            f"  {shlex.join(['pytest', str(folder)])}\n"
            f"  {shlex.join(['sestra', 'train', *train])}\n"
            f"  sestra serve --agent runs/{self.name}\n"
        )
        return 0


def check_name(name: str) -> None:
    """Raise InputError unless the name can be that of a world, of its files and of a Python package."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) > 40:
        expected = "expected at most 40 lower-case letters, digits and single underscores, a letter first, such as kitchen"
        raise InputError(f"{shortened(repr(name))} is no name for a world; {expected}")
    if name in WORLDS.names():
        raise InputError(f"{name!r} is a world already ({', '.join(WORLDS.names())}); choose another name")
    if keyword.iskeyword(name) or name in sys.stdlib_module_names:
        raise InputError(f"{name!r} is a word or a module of Python; choose another name, such as my_{name}")


def write_starter(name: str, folder: Path) -> None:
    """All files or none: they are written beside the folder, which then gets its name."""
    if os.path.lexists(folder):
        raise InputError(f"{folder}: exists already; choose another name, or another folder with --to")
    unfinished = folder.with_name(f".{folder.name}.{secrets.token_hex(8)}.part")
    try:
        for file in FILES:
            text = (STARTER / file).read_text(encoding="utf-8").replace(NAME, name).replace(NAME.capitalize(), class_name(name))
            target = unfinished / file.replace(NAME, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        unfinished.rename(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror or error}); choose another folder with --to") from error
    finally:
        with suppress(OSError):
            shutil.rmtree(unfinished)

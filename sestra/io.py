"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sestra.errors import InputError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A path beside the given one to write to; it takes the given one's place when all is written, and disappears if something fails.

    A symbolic link is followed; anything that is there and is not an ordinary file is left alone.
    """
    path = Path(path)
    if "\0" in str(path):
        raise InputError(f"{str(path)!r}: cannot be written (a null byte in its name); give another name")
    place = Path(os.path.realpath(path))
    if os.path.isdir(place) or not path.name:
        raise InputError(f"{path}: is a directory; give the name of a file to write")
    if os.path.lexists(place) and not os.path.isfile(place):
        raise InputError(f"{path}: is not an ordinary file; give the name of one, or of a file that does not exist yet")
    temporary = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(place)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); choose a folder that exists, is writable and has space"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    write_text(path, to_json(value, indent=2) + "\n")


def to_json(value: Any, indent: int | None = None) -> str:
    """As JSON text; a number that is none, such as the accuracy of no trials, is null."""
    return json.dumps(_finite(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); is this the right folder?") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not JSON ({error}); the file is damaged, use another one") from error

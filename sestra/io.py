"""Reading and writing files: JSON, dataclasses as JSON, folders, and replacing a file so that a reader never sees half of it."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import secrets
import stat
import time
import types
import typing
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from sestra.errors import InputError, shortened

MAX_TEXT = 4 << 20
"""Bytes of a file of text that is read whole."""
MAX_DEPTH = 20
"""Levels of nesting in a JSON file."""
ABANDONED_AFTER = 3600.0
"""Seconds after which an unfinished file that another process left is deleted; it was killed."""


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside the given one to write to; on success it replaces the given one, on failure it is deleted.

    A symbolic link is replaced, and what it points to is left alone; whatever else exists and is not an ordinary file is refused, and so is
    a file of the operating system. After a loss of power the file is the old one or the new one.
    """
    path = Path(path)
    if "\0" in str(path):
        raise InputError(f"{str(path)!r}: cannot be written (a null byte in its name); give another name")
    if os.path.isdir(path) or not path.name:
        raise InputError(f"{path}: is a directory; give the name of a file to write")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path}: is not an ordinary file; give the name of one, or of a file that does not exist yet")
    if os.path.lexists(path) and is_system_folder(path.parent):
        raise InputError(f"{path}: belongs to the operating system; give the name of another file")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        remove_unfinished_files(path.parent, f"{path.name}.", older_than=ABANDONED_AFTER)
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # not through a link that somebody else has put there
        yield temporary
        _sync(temporary)
        temporary.replace(path)
        if os.name == "posix":
            _sync(path.parent)  # else the new name may be lost with the power, though the file is not
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); choose a folder that exists, is writable and has space"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr", "/System", "/Library", "/private/etc")
NOT_SYSTEM = ("/dev/shm", "/usr/local", "/usr/src")  # noqa: S108
"""Folders in those where people put files of their own."""


def is_system_folder(folder: Path) -> bool:
    """Whether files in the folder belong to the operating system."""
    place = folder.resolve()
    windows = os.environ.get("SYSTEMROOT") if os.name == "nt" else None
    system = any(place.is_relative_to(each) for each in (*SYSTEM, *filter(None, [windows])))
    return system and not any(place.is_relative_to(each) for each in NOT_SYSTEM)


def _sync(path: Path) -> None:
    """Wait until the file, or the names in the folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_unfinished_files(folder: Path, prefix: str = "", older_than: float = 0.0) -> None:
    """Remove what a killed process had begun to write in the folder, of files whose names begin so, and links of such names."""
    for name in os.listdir(folder):
        place = folder / name
        if name.startswith(f".{prefix}") and name.endswith(".part") and (place.is_symlink() or place.is_file()):
            with suppress(FileNotFoundError):  # another process may have come first
                if time.time() - place.lstat().st_mtime >= older_than:
                    place.unlink()


def write_text(path: str | Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    write_text(path, to_json(value, indent=2) + "\n")


def to_json(value: Any, indent: int | None = None) -> str:
    """As JSON text."""
    return json.dumps(plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """The value as JSON holds it: a dataclass is an object of its fields, a tuple is a list, NaN and infinity are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


def make_folder(path: Path, advice: str = "choose another folder") -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be made ({error.strerror}); {advice}") from error


def read_bytes(path: Path, limit: int, advice: str = "use another one") -> bytes:
    """The content of an ordinary file of at most so many bytes: nothing is read of a larger one, of a device or of a pipe."""
    try:
        known = path.stat()
        if not stat.S_ISREG(known.st_mode):
            raise InputError(f"{path}: is not an ordinary file; {advice}")
        if known.st_size > limit:
            raise InputError(f"{path}: has {known.st_size:,} bytes; expected at most {limit:,}; {advice}")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); is this the right folder?") from error


def read_json(path: Path) -> Any:
    return parse_json(read_bytes(path, MAX_TEXT), path)


def parse_json(content: bytes, path: Path) -> Any:
    """What the file at the path holds, if it is not nested deeply and can be written as JSON again."""
    try:
        value = json.loads(content)
        if _depth(value) > MAX_DEPTH:
            raise InputError(f"{path}: is nested more than {MAX_DEPTH} levels deep; the file is damaged, use another one")
        to_json(value).encode()  # half a surrogate pair cannot be written again
    except InputError:
        raise
    except (RecursionError, ValueError) as error:  # a number of thousands of digits is a ValueError
        raise InputError(f"{path}: is not JSON ({shortened(str(error), 100)}); the file is damaged, use another one") from error
    return value


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level and depth <= MAX_DEPTH:
        depth += 1
        level = [part for each in level for part in (each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())]
    return depth


def build(kind: type[Any], values: Any, place: str) -> Any:
    """A dataclass from what JSON holds, each field checked against its annotation."""
    if not isinstance(values, dict):
        raise InputError(f"{place}: {shortened(repr(values))} stands where an object with the fields of {kind.__name__} was expected")
    hints = {name: hint for name, hint in typing.get_type_hints(kind).items() if typing.get_origin(hint) is not typing.ClassVar}
    unknown = sorted(set(values) - set(hints))
    if unknown:
        expected = ", ".join(hints) or "none"
        raise InputError(
            f"{place}: unknown field {shortened(unknown[0])!r}; expected some of {expected}; was it written by another version?"
        )
    checked = {}
    for name, value in values.items():
        hint = hints[name]
        if dataclasses.is_dataclass(hint):
            checked[name] = build(typing.cast("type[Any]", hint), value, f"{place}: {name}")
        elif not _fits(value, hint):
            raise InputError(f"{place}: {name} is {shortened(repr(value))}; expected {getattr(hint, '__name__', hint)}")
        else:
            checked[name] = tuple(value) if isinstance(value, list) and typing.get_origin(hint) is not list else value
    try:
        return kind(**checked)
    except TypeError as error:  # a field without a default is missing
        raise InputError(f"{place}: {error}; the file is damaged, use another one") from error


def _fits(value: Any, hint: Any) -> bool:
    """Whether the value is as the annotation says."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        fits = any(_fits(value, option) for option in parts)
    elif origin is Literal:
        fits = value in parts
    elif origin is tuple:
        parts = parts[:1] * len(value) if isinstance(value, list | tuple) and parts[-1] is ... else parts
        fits = isinstance(value, list | tuple) and len(value) == len(parts) and all(map(_fits, value, parts))
    elif origin is list:
        fits = isinstance(value, list) and all(_fits(each, parts[0]) for each in value)
    elif origin is dict:
        fits = isinstance(value, dict) and all(_fits(key, parts[0]) and _fits(each, parts[1]) for key, each in value.items())
    elif hint is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = hint is Any or (isinstance(value, hint) and (hint is bool or not isinstance(value, bool)))
    return fits

"""Reading and writing files: JSON, dataclasses as JSON, folders, and replacing a file so that a reader never sees half of it."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import types
import typing
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from sestra.errors import InputError, shortened


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside the given one to write to; on success it replaces the given one, on failure it is deleted.

    A symbolic link is followed; whatever exists and is not an ordinary file is refused.
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


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); is this the right folder?") from error
    except (RecursionError, ValueError) as error:  # a number of thousands of digits is a ValueError
        raise InputError(f"{path}: is not JSON ({shortened(str(error), 100)}); the file is damaged, use another one") from error


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
            checked[name] = tuple(value) if isinstance(value, list) else value
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
    elif origin is dict:
        fits = isinstance(value, dict) and all(_fits(key, parts[0]) and _fits(each, parts[1]) for key, each in value.items())
    elif hint is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = hint is Any or (isinstance(value, hint) and (hint is bool or not isinstance(value, bool)))
    return fits

"""Settings as frozen dataclasses: their ranges, how JSON becomes one, and which of them are rarely needed."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, Literal

from sestra.errors import InputError, check_number


def setting(default: Any, *within: float, rare: bool = False) -> Any:
    """A field with a default, the range that its values must lie in, and whether few people change it.

    ``sestra train --help`` leaves the flags of rare ones out, ``--help-all`` shows them.
    """
    return dataclasses.field(default=default, metadata={"within": within, "rare": rare})


RESERVED = ("name", "version", "out", "resume", "data", "json", "tensorboard")
"""Names that a setting of a policy or learner cannot have: they are flags of ``sestra train``, or stand for the plug-in itself."""


def is_plugin(found: Any) -> bool:
    """Whether it is a frozen dataclass whose fields have defaults, and names that no flag of ``sestra train`` has."""
    if not isinstance(found, type) or not dataclasses.is_dataclass(found) or not vars(found)["__dataclass_params__"].frozen:
        return False
    fields = dataclasses.fields(found)
    return not any(each.default is each.default_factory is dataclasses.MISSING or each.name in RESERVED for each in fields)


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def check_ranges(settings: Any) -> None:
    """Raise InputError for a number outside of its field's range."""
    for each in dataclasses.fields(settings):
        if each.metadata.get("within"):
            check_number(flag(each.name), getattr(settings, each.name), *each.metadata["within"], whole=isinstance(each.default, int))


def build(kind: type[Any], values: Any, place: str) -> Any:
    """A dataclass from what JSON holds, each field checked against its annotation."""
    if not isinstance(values, dict):
        raise InputError(f"{place}: {values!r} stands where an object with the fields of {kind.__name__} was expected")
    hints = {name: hint for name, hint in typing.get_type_hints(kind).items() if typing.get_origin(hint) is not typing.ClassVar}
    unknown = sorted(set(values) - set(hints))
    if unknown:
        expected = ", ".join(hints) or "none"
        raise InputError(f"{place}: unknown field {unknown[0]!r}; expected some of {expected}; was it written by another version?")
    checked = {}
    for name, value in values.items():
        hint = hints[name]
        if dataclasses.is_dataclass(hint):
            checked[name] = build(typing.cast("type[Any]", hint), value, f"{place}: {name}")
        elif not _fits(value, hint):
            raise InputError(f"{place}: {name} is {value!r}; expected {getattr(hint, '__name__', hint)}")
        else:
            checked[name] = tuple(value) if isinstance(value, list) else value
    try:
        return kind(**checked)
    except TypeError as error:  # a field without a default is missing
        raise InputError(f"{place}: {error}; the file is damaged, use another one") from error


def _fits(value: Any, hint: Any) -> bool:
    if typing.get_origin(hint) is Literal:
        return value in typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        return any(_fits(value, option) for option in typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        kinds = typing.get_args(hint)
        kinds = kinds[:1] * len(value) if isinstance(value, list | tuple) and kinds[-1] is ... else kinds
        return isinstance(value, list | tuple) and len(value) == len(kinds) and all(map(_fits, value, kinds))
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))

"""Settings as frozen dataclasses: their ranges, and which of them are rarely needed."""

from __future__ import annotations

import dataclasses
from typing import Any

from sestra.errors import check_number


def setting(default: Any, *within: float, rare: bool = False) -> Any:
    """A field with a default, the range that its values must lie in, and whether few people change it.

    ``sestra train --help`` leaves the flags of rare ones out, ``--help-all`` shows them.
    """
    return dataclasses.field(default=default, metadata={"within": within, "rare": rare})


RESERVED = ("name", "version", "out", "resume", "data", "json", "tensorboard", "checkpoint_minutes", "device")
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

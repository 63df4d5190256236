"""Errors that are the input's fault, not the program's: shown as a message, without a traceback."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, get_args


class InputError(ValueError):
    """Something from outside (a file, a flag, a request) is not as expected; the message says what to do."""


def shortened(text: str, most: int = 60) -> str:
    """A value from outside, short enough for a message.

    >>> shortened("throw out the first one", 10)
    'throw out…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def check_number(name: str, value: Any, low: float, high: float = math.inf, *, whole: bool = True) -> None:
    """Raise InputError unless the value is a number in the range; ``name`` is that of a flag, with its dashes, or of an argument."""
    kind: type[Any] = Integral if whole else Real
    if isinstance(value, bool) or not isinstance(value, kind) or not low <= value <= high:
        allowed = f"of at least {low:,}" if high == math.inf else f"from {low:,} to {high:,}"
        raise InputError(f"{_given(name, value)} expected a {'whole ' * whole}number {allowed}")


def check_choice(name: str, value: object, choices: Any) -> None:
    """Raise InputError unless the value is one of a ``Literal``'s."""
    if value not in get_args(choices):
        raise InputError(f"{_given(name, value)} expected one of {', '.join(map(repr, get_args(choices)))}")


def _given(name: str, value: object) -> str:
    return f"{name} {shortened(str(value))}:" if name.startswith("--") else f"{name}={shortened(repr(value))};"

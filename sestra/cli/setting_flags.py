"""Flags made from settings: one per field of the configuration's dataclasses; the text under a field is its flag's help."""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap
from collections.abc import Sequence
from typing import Any

from sestra.learning.settings import flag


def given(arguments: Sequence[str], *names: str) -> dict[str, str]:
    """The values of flags on which other flags and their defaults depend; if they cannot be read, tyro will say why."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    for name in names:
        parser.add_argument(flag(name), dest=name)
    try:
        found, _ = parser.parse_known_args(list(arguments))
    except argparse.ArgumentError:
        return {}
    return {name: value for name, value in vars(found).items() if value is not None}


def field_help(kind: type[Any]) -> dict[str, str]:
    """The text under each field of a dataclass; none where the source is not at hand."""
    try:
        [parsed] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError, SyntaxError):
        return {}
    assert isinstance(parsed, ast.ClassDef)
    texts = {}
    for above, below in zip(parsed.body, parsed.body[1:], strict=False):
        if isinstance(above, ast.AnnAssign) and isinstance(above.target, ast.Name) and isinstance(below, ast.Expr):
            texts[above.target.id] = str(ast.literal_eval(below.value))
    return texts

"""The trained agents that ship with the package, one folder each."""

from __future__ import annotations

import os
from pathlib import Path

from sestra.errors import InputError, shortened

HERE = Path(__file__).parent
PAPERS = "sestra"
"""Ends the names of the paper's own agents, which are the best for a world that has no better one."""


def names() -> list[str]:
    """The agents that ship with the package; a world's own name means the best one for it."""
    shipped = {path.parent.name for path in HERE.glob("*/config.json")}
    return sorted(shipped | {name.removesuffix(f"-{PAPERS}") for name in shipped})


def find(name: str | Path) -> Path:
    """The folder of the shipped agent of that name, or of a run; a run of the same name is found as ``./name`` or as a Path."""
    if isinstance(name, str) and name in names():
        best = HERE / name
        return best if (best / "config.json").exists() else HERE / f"{name}-{PAPERS}"
    if os.path.exists(Path(name) / "config.json"):  # unlike Path's, it answers whatever the name is
        return Path(name)
    shipped = f"one of {', '.join(names())}" if names() else "a pretrained name (none ship with this version)"
    raise InputError(f"{shortened(str(name), 200)}: neither the folder of a run (there is no config.json in it) nor {shipped}")

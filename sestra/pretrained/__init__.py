"""The trained agents that ship with the package, one folder each."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
PAPERS = "sestra"
"""Ends the names of the paper's own agents, which are the best for a world that has no better one."""


def names() -> list[str]:
    """The agents that ship with the package; a world's own name means the best one for it."""
    shipped = {path.parent.name for path in HERE.glob("*/agent.json")}
    return sorted(shipped | {name.removesuffix(f"-{PAPERS}") for name in shipped})


def find(name: object) -> Path | None:
    """The folder of the shipped agent of that name; a folder of the same name is meant by ``./name`` or a Path."""
    if not isinstance(name, str) or name not in names():
        return None
    best = HERE / name
    return best if (best / "agent.json").exists() else HERE / f"{name}-{PAPERS}"

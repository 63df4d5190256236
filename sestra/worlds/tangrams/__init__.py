"""Tangrams: what its states are written with; the modules beside this one are the world's parts."""

from functools import cache

SHAPES = "01234"


@cache
def common(row: str, other: str) -> str:
    """The longest row of figures that stand in both in the same order."""
    if not row or not other:
        return ""
    if row[-1] == other[-1]:
        return common(row[:-1], other[:-1]) + row[-1]
    return max(common(row[:-1], other), common(row, other[:-1]), key=len)

"""What becomes of a row of figures."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def without(row: str, indices: Collection[int]) -> str:
    """The row when the figures at these indices are gone."""
    return "".join(figure for index, figure in enumerate(row) if index not in indices)


def swapped(row: str, first: int, second: int) -> str:
    """The row when two figures have changed places."""
    figures = list(row)
    figures[first], figures[second] = figures[second], figures[first]
    return "".join(figures)


def inserted(row: str, figure: str, index: int) -> str:
    """The row when a figure has come in at that index."""
    return row[:index] + figure + row[index:]


def moved(row: str, index: int, to: int) -> str:
    """The row when a figure stands at another index and the others have closed up."""
    return inserted(without(row, {index}), row[index], to)


def remove_deed(row: str, indices: Sequence[int]) -> str:
    """Removing, done to other figures."""
    return without(row, indices)


def swap_deed(row: str, indices: Sequence[int]) -> str | None:
    """Swapping, done to other figures."""
    return swapped(row, *indices) if len(indices) == 2 else None


def to_front_deed(row: str, indices: Sequence[int]) -> str | None:
    """Moving to the front, done to another figure."""
    return moved(row, indices[0], 0) if len(indices) == 1 else None


def to_end_deed(row: str, indices: Sequence[int]) -> str | None:
    """Moving to the end, done to another figure."""
    return moved(row, indices[0], len(row) - 1) if len(indices) == 1 else None


def is_part(row: str, of: str) -> bool:
    """Whether the figures of a row stand in another one in the same order."""
    return [figure for figure in of if figure in row] == list(row)

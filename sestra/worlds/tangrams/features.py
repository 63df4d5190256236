"""The features of Tangrams' figures."""

from __future__ import annotations

import numpy as np

from sestra.worlds.base import Edit, World
from sestra.worlds.features import ObjectFeatures, one_hot
from sestra.worlds.tangrams.world import SHAPES


def features(world: World[str]) -> ObjectFeatures:
    """The figures of a row: the position of each, counted from the left and from the right, and the length of the row.

    No feature says which figure it is, since nobody speaks of that; whether it is in the row decides which edits are about it. One that
    keeps its position has not changed, whatever the others do.
    """
    rows = []
    for content in world.contents:
        places = [content.find(shape) + 1 for shape in SHAPES]  # 0: not in the row
        rows.append([[place, len(content) + 1 - place if place else 0, len(content)] for place in places])
    distinct, ids = np.unique(one_hot([row for content in rows for row in content]), axis=0, return_inverse=True)
    positions = np.array([[place for place, *_ in row] for row in rows])  # [contents, figures]
    score_ids = np.array([[_score_id(content, edit) for edit in world.edits] for content in world.contents])
    attributes = np.empty((len(rows), 0), np.int64)  # the row is the only slot
    return ObjectFeatures(ids.reshape(positions.shape), distinct, len(SHAPES) + 1, score_ids, positions, positions, attributes)


def _score_id(content: str, edit: Edit) -> int:
    """A figure scores its insertion at each position, then its removal."""
    each = len(SHAPES) + 1
    position = int(edit.arguments[0]) - 1
    if edit.kind == "insert":
        return SHAPES.index(edit.arguments[1]) * each + position
    return SHAPES.index(content[position]) * each + each - 1 if position < len(content) else len(SHAPES) * each

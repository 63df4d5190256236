"""What the object policy knows of a world: which objects a slot holds, their features, and which object's score an edit has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sestra.worlds.base import World


@dataclass(frozen=True)
class ObjectFeatures:
    """A slot holds one or more objects; their features, and the object that an edit changes, depend on the slot's content alone."""

    feature_ids: NDArray[np.int64]  # [contents, objects]: the row of ``features`` that describes each object
    features: NDArray[np.float32]  # [feature ids, features]: zeros and ones
    edits: int
    """How many edits each object scores."""
    score_ids: NDArray[np.int64]  # [contents, edits of the world]: index in a slot's [objects * edits] scores; past the last: none
    positions: NDArray[np.int64]  # [contents, objects]: where in the slot each object is drawn, from 1; 0 if it is absent
    object_states: NDArray[np.int64]  # [contents, objects]: a number that differs after a turn that changed the object; 0 if it is absent
    attributes: NDArray[np.int64]  # [contents, attributes]: by which slots are counted, such as the colour of the shirt; 0 for none
    amounts: NDArray[np.int64] | None = None  # [contents]: how much the slot holds, in worlds where one may hold more than another

    @property
    def objects(self) -> int:
        """Objects per slot."""
        return int(self.feature_ids.shape[1])


def object_features(world: World[Any]) -> ObjectFeatures:
    """The world's own, else one object per slot, for which every content is a feature."""
    return world.features() or one_object_per_slot(world, np.eye(len(world.contents), dtype=np.float32))


def one_object_per_slot(
    world: World[Any],
    features: NDArray[np.float32],
    attributes: NDArray[np.int64] | None = None,
    amounts: NDArray[np.int64] | None = None,
) -> ObjectFeatures:
    """With features ``[contents, features]``; the object's edits are the slot's. Without attributes, slots are counted by their content."""
    contents = np.arange(len(features))[:, None]  # [contents, 1]
    score_ids = np.tile(np.arange(len(world.edits)), (len(features), 1))  # [contents, edits]
    attributes = contents if attributes is None else attributes
    return ObjectFeatures(contents, features, len(world.edits), score_ids, np.ones_like(contents), contents, attributes, amounts)


def one_hot(rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Each column of whole numbers as zeros and ones, side by side."""
    return np.concatenate([np.eye(max(column) + 1, dtype=np.float32)[list(column)] for column in zip(*rows, strict=True)], 1)

"""What the object policy knows of a place: the colour of its box, and whether there is one."""

from __future__ import annotations

import numpy as np

from sestra.worlds import World
from sestra.worlds.features import ObjectFeatures, one_hot, one_object_per_slot
from sestra_boxes import EMPTY


def features(world: World[str]) -> ObjectFeatures:
    """Boxes are counted among all boxes, and among those of the same colour."""
    rows = [[number, int(content != EMPTY)] for number, content in enumerate(world.contents)]
    return one_object_per_slot(world, one_hot(rows), np.array(rows))

"""The features of Alchemy's beakers."""

from __future__ import annotations

import numpy as np

from sestra.worlds.alchemy.world import CAPACITY, COLOURS
from sestra.worlds.base import World
from sestra.worlds.features import ObjectFeatures, one_hot, one_object_per_slot


def features(world: World[str]) -> ObjectFeatures:
    """A beaker: the colour of each unit, how many units, the top unit's colour, and the colour of all units if they have one.

    Beakers are counted among those that are not empty, and among those of the same colour, from left to right and by how much they hold.
    """
    number = {colour: place for place, colour in enumerate(COLOURS, start=1)}
    rows = []
    for content in world.contents:
        units = [number[unit] for unit in content]
        top, only = (units or [0])[-1], units[0] if len(set(units)) == 1 else 0
        rows.append([*units, *[0] * (CAPACITY - len(units)), len(units), top, only])
    attributes = np.array([[int(size > 0), only] for *_, size, _, only in rows])  # [contents, 2]
    amounts = np.array([size for *_, size, _, _ in rows])  # [contents]
    return one_object_per_slot(world, one_hot(rows), attributes, amounts)

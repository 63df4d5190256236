"""The features of Scene's positions."""

from __future__ import annotations

import numpy as np

from sestra.worlds.base import World
from sestra.worlds.features import ObjectFeatures, one_hot, one_object_per_slot
from sestra.worlds.scene.world import COLOURS, NONE


def features(world: World[str]) -> ObjectFeatures:
    """A position of the stage: shirt, hat, and whether anyone is there; people are counted, and those with the same shirt or hat."""
    number = {letter: place for place, letter in enumerate((NONE, *COLOURS))}
    rows = [[number[content[0]], number[content[1]], int(content[0] != NONE)] for content in world.contents]
    return one_object_per_slot(world, one_hot(rows), np.array(rows))

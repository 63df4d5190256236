"""Tangrams: what its states are written with; the modules beside this one are the world's parts."""

SHAPES = "01234"

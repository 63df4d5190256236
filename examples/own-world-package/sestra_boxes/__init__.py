"""A shelf with coloured boxes: what its states are written with."""

COLOURS = {"b": "blue", "g": "green", "r": "red", "y": "yellow"}
EMPTY = "_"
PLACES = 5

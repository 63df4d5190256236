"""Alchemy: what its states are written with; the modules beside this one are the world's parts."""

COLOURS = {"b": "brown", "g": "green", "o": "orange", "p": "purple", "r": "red", "y": "yellow"}
CAPACITY = 4
"""The most units in a beaker."""
BEAKERS = 7

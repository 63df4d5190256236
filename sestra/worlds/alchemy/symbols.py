"""What Alchemy's states are written with."""

COLOURS = {"b": "brown", "g": "green", "o": "orange", "p": "purple", "r": "red", "y": "yellow"}
CAPACITY = 4
"""The most units in a beaker."""
BEAKERS = 7

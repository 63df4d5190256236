"""Scene: what its states are written with; the modules beside this one are the world's parts."""

COLOURS = {"b": "blue", "g": "green", "o": "orange", "p": "purple", "r": "red", "y": "yellow"}
NONE = "_"
"""No shirt, or no hat."""
POSITIONS = 10


def distance(content: str, goal: str) -> int:
    """The number of edits between two positions: one for a shirt or hat that comes or goes, two for one that changes its colour."""
    return sum((now != wanted) + (now != wanted and NONE not in (now, wanted)) for now, wanted in zip(content, goal, strict=True))

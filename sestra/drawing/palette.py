"""The colours of the drawings.

Chosen to differ in lightness as well as in hue, so that they stay apart for colour-blind readers too; where a colour means something its
letter stands on it, in an ink with a contrast of at least 4.5 to 1 (WCAG 2, level AA).
"""

from __future__ import annotations

INK = "#1b1b1f"
PAPER = "#ffffff"
QUIET = "#5b6472"
"""Numbers and captions that should not shout."""
RULE = "#c9d0da"
CARD = "#fbfcfe"
"""The background of every drawing, which makes it readable on a light page and on a dark one."""
SHADE = "#eef2f7"
CHANGED = "#2563c9"
CHANGED_FILL = "#e3edfd"

NAMED = {
    "blue": "#4aa3ea",
    "brown": "#5c3413",
    "green": "#27ae7c",
    "orange": "#f28e1c",
    "purple": "#6a3aa2",
    "red": "#dc2f43",
    "yellow": "#fbe45c",
}

SEVERAL = (
    "#4aa3ea",
    "#f28e1c",
    "#27ae7c",
    "#dc2f43",
    "#6a3aa2",
    "#fbe45c",
    "#1590a3",
    "#e78ab4",
    "#5c3413",
    "#93a136",
    "#33468f",
    "#9aa5b1",
)
"""Colours for things that have none of their own, the most different ones first."""


def colour_of(text: str, number: int) -> str:
    """The colour that the text names, such as that of "a red book"; else the one with that number, counted from 0."""
    named = [NAMED[word] for word in text.lower().replace("_", " ").split() if word in NAMED]
    return named[0] if named else mix(SEVERAL[number % len(SEVERAL)], PAPER, 0.45 * (number // len(SEVERAL) % 2))


def ink_on(fill: str) -> str:
    """Dark or white, whichever reads better on the fill."""
    return max(INK, PAPER, key=lambda ink: contrast(ink, fill))


def contrast(a: str, b: str) -> float:
    """WCAG's contrast ratio of two colours, from 1 to 21."""
    dark, light = sorted((_luminance(a), _luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def mix(colour: str, other: str, part: float) -> str:
    """The colour with a part of the other in it."""
    channels = (round(a + (b - a) * part) for a, b in zip(rgb(colour), rgb(other), strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (channel / 255 for channel in rgb(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

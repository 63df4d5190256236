"""An example, and actions in words."""

from __future__ import annotations

from sestra.data.examples import Example, Phrases
from sestra_boxes import COLOURS

PHRASES = Phrases(
    examples=(
        Example(
            "Tidying up",
            "1:r 2:_ 3:g 4:_ 5:_",
            (
                ("put a blue box on the far right", "1:r 2:_ 3:g 4:_ 5:b"),
                ("swap it with the red one", "1:b 2:_ 3:g 4:_ 5:r"),
                ("remove the green box", "1:b 2:_ 3:_ 4:_ 5:r"),
            ),
        ),
    ),
    instruction="put a red box on the first place",
    referring=("put it back", "remove it"),
    actions={"take": "takes the box on place {place} away", "put": "puts a {what} box on place {place}"},
    names=COLOURS,
)

"""Examples and phrases of Tangrams."""

from __future__ import annotations

from sestra.data.examples import Example, Phrases
from sestra.worlds.tangrams.drawing import FIGURES

PHRASES = Phrases(
    examples=(
        Example(
            "Five in a row",
            "1:4 2:0 3:2 4:1 5:3",
            (
                ("remove the last figure", "1:4 2:0 3:2 4:1"),
                ("swap the first and third figures", "1:2 2:0 3:4 4:1"),
                ("undo step 2", "1:4 2:0 3:2 4:1"),
                ("delete the second figure", "1:4 2:2 3:1"),
                ("add the figure removed in step 1 to the front", "1:3 2:4 3:2 4:1"),
            ),
        ),
    ),
    instruction="swap the first two figures",
    referring=("undo the last step", "put it back", "swap them again"),
    actions={"insert": "puts {what}, at place {place}", "remove": "takes the figure at place {place} away"},
    names={digit: f"figure {digit}, the {figure.name}" for digit, figure in FIGURES.items()},
)

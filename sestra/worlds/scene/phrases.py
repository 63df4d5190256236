"""Examples and phrases of Scene."""

from __future__ import annotations

from sestra.data.examples import Example, Phrases
from sestra.worlds.scene.world import COLOURS

PHRASES = Phrases(
    examples=(
        Example(
            "Five in a row",
            "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:__",
            (
                ("a man in a yellow shirt appears on the far right", "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:y_"),
                ("the man in the blue hat moves to the left end", "1:rb 2:__ 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:y_"),
                ("the man in green moves to the left of the man in yellow", "1:rb 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:g_ 10:y_"),
                ("he leaves", "1:rb 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:y_"),
                ("the man in yellow takes the blue hat", "1:r_ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:yb"),
            ),
        ),
    ),
    instruction="the person in green leaves",
    referring=("he moves to the left end", "they trade hats", "he leaves"),
    actions={
        "appear_person": "puts a person in {what} at place {place}",
        "appear_hat": "puts a hat in {what} at place {place}",
        "remove_person": "takes the person away from place {place}",
        "remove_hat": "takes the hat away from place {place}",
    },
    names=COLOURS,
)

"""Examples and phrases of Alchemy."""

from __future__ import annotations

from sestra.data.examples import Example, Phrases
from sestra.worlds.alchemy.world import COLOURS

PHRASES = Phrases(
    examples=(
        Example(
            "Five in a row",
            "1:g 2:_ 3:oo 4:_ 5:yy 6:p 7:rr",
            (
                ("throw out the last beaker", "1:g 2:_ 3:oo 4:_ 5:yy 6:p 7:_"),
                ("pour the orange beaker into the purple one", "1:g 2:_ 3:_ 4:_ 5:yy 6:poo 7:_"),
                ("it turns brown", "1:g 2:_ 3:_ 4:_ 5:yy 6:bbb 7:_"),
                ("throw out one unit of it", "1:g 2:_ 3:_ 4:_ 5:yy 6:bb 7:_"),
                ("do the same with the yellow one", "1:g 2:_ 3:_ 4:_ 5:y 6:bb 7:_"),
            ),
        ),
        Example(
            "The paper's",
            "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_",
            (
                ("throw out first beaker", "1:_ 2:_ 3:p 4:_ 5:y 6:oo 7:_"),
                ("pour sixth beaker into last one", "1:_ 2:_ 3:p 4:_ 5:y 6:_ 7:oo"),
                ("it turns brown", "1:_ 2:_ 3:p 4:_ 5:y 6:_ 7:bb"),
            ),
        ),
    ),
    instruction="throw out the first beaker",
    referring=("throw it out", "mix it", "it turns brown"),
    actions={"pop": "takes a unit out of beaker {place}", "push": "adds {what} to beaker {place}"},
    names=COLOURS,
)

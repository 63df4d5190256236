"""A tiny world for tests: three lamps, each dark, red or green; and simple instructions in it."""

from __future__ import annotations

from random import Random

from sestra.data.scone import Interaction
from sestra.worlds import Edit, StateError, World
from sestra.worlds.base import parse_numbered

NUMBERS = ("one", "two", "three")
COLOURS = {"r": "red", "g": "green"}


class Lamps(World[str]):
    """Ten actions: ``light n c`` (only where it is dark), ``out n`` (only where it is not), and STOP."""

    name = "lamps"
    slots = 3
    contents = ("_", "r", "g")
    edits = (Edit("light", ("r",)), Edit("light", ("g",)), Edit("out"))

    def edit(self, content: str, edit: Edit) -> str | None:
        if edit.kind == "out":
            return None if content == "_" else "_"
        return edit.arguments[0] if content == "_" else None

    def distance(self, content: str, goal: str) -> int:
        return 0 if content == goal else 2 - ("_" in (content, goal))

    def parse(self, text: str) -> tuple[str, ...]:
        state = tuple(parse_numbered(text, self.name, self.slots))
        if not set(state) <= set(self.contents):
            raise StateError(f"{text!r} is not a state of lamps")
        return state

    def format(self, state: tuple[str, ...]) -> str:
        return " ".join(f"{number}:{lamp}" for number, lamp in enumerate(state, start=1))


def interactions(count: int, *, seed: int, turns: int = 2) -> list[Interaction]:
    """Each instruction is one action: "light two green", "put out three", or "put it out" for the lamp just lit."""
    rng = Random(seed)
    return [_interaction(rng, f"lamps-{number}", turns) for number in range(count)]


def _interaction(rng: Random, identifier: str, turns: int) -> Interaction:
    states, instructions, lit = [tuple(rng.choice(Lamps.contents) for _ in range(3))], [], None
    for _ in range(turns):
        state = list(states[-1])
        lamp = rng.randrange(3) if lit is None or rng.random() < 0.7 else lit
        if state[lamp] == "_":
            state[lamp] = rng.choice(tuple(COLOURS))
            instructions.append(f"light {NUMBERS[lamp]} {COLOURS[state[lamp]]}")
            lit = lamp
        else:
            instructions.append("put it out" if lamp == lit else f"put out {NUMBERS[lamp]}")
            state[lamp] = "_"
            lit = None
        states.append(tuple(state))
    return Interaction(identifier, tuple(states), tuple(instructions))

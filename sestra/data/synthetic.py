"""Interactions written by a grammar: what to train on where SCONE is absent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random

from sestra.data.grammar import Context, Grammar, Turn, finish
from sestra.data.grammars import GRAMMARS
from sestra.data.scone import Interaction
from sestra.errors import InputError, check_number
from sestra.worlds import get_world

MOST_INTERACTIONS = 1_000_000
MOST_TURNS = 100
MOST_ATTEMPTS = 1000
TRAIN, DEV = 2000, 200


def generate(world: str, count: int, *, seed: int, turns: int = 5, prefix: str = "generated") -> list[Interaction]:
    """That many interactions, the same for the same seed; those of a smaller count are the first of a larger one."""
    return list(stream(world, count, seed=seed, turns=turns, prefix=prefix))


def stream(world: str, count: int, *, seed: int, turns: int = 5, prefix: str = "generated") -> Iterator[Interaction]:
    """The same interactions, one at a time."""
    check_number("count", count, 1, MOST_INTERACTIONS)
    if not isinstance(prefix, str) or not prefix.strip() or not prefix.isprintable():
        raise InputError(f"prefix {prefix!r} cannot begin an identifier; expected printable text without tabs or line ends")
    contexts = islice(annotated(world, seed=seed, turns=turns), count)
    return (_interaction(context, f"{prefix}-{number}") for number, context in enumerate(contexts))


def splits(world: str, seed: int = 0) -> dict[str, list[Interaction]]:
    """A train and a dev set that share no interaction."""
    check_number("seed", seed, 0)
    train = generate(world, TRAIN, seed=2 * seed, prefix="generated-train")
    seen = {(interaction.states[0], interaction.instructions) for interaction in train}
    others = (_interaction(context, "") for context in annotated(world, seed=2 * seed + 1))
    unseen = islice((other for other in others if (other.states[0], other.instructions) not in seen), DEV)
    return {"train": train, "dev": [replace(other, id=f"generated-dev-{number}") for number, other in enumerate(unseen)]}


def annotated(world: str, *, seed: int, turns: int = 5) -> Iterator[Context]:
    """The same interactions without end, with what the grammar knows of each turn: its event and its discourse phenomena."""
    grammar = _grammar(world)
    check_number("seed", seed, 0)
    check_number("turns", turns, 1, MOST_TURNS)
    return _endless(grammar, world, Random(f"{world} {seed}"), turns)


def _endless(grammar: Grammar, world: str, rng: Random, turns: int) -> Iterator[Context]:
    while True:
        context = grammar.start(rng)
        for _ in range(turns):
            context = context.then(next_turn(grammar, world, context, rng))
        yield context


def next_turn(grammar: Grammar, world: str, context: Context, rng: Random) -> Turn:
    """A meaning drawn by its weight, of those that apply and change the state."""
    meanings, weights = list(grammar.MEANINGS), list(grammar.MEANINGS.values())
    for _ in range(MOST_ATTEMPTS):
        turn = rng.choices(meanings, weights)[0](context, rng)
        if turn is not None and turn.state != context.state:
            return replace(turn, instruction=finish(context, turn.instruction, rng))
    raise InputError(
        f"the grammar of {world} found nothing to say after {len(context.turns)} turns; give it a meaning that applies in every state"
    )


def _interaction(context: Context, identifier: str) -> Interaction:
    return Interaction(identifier, context.states, tuple(turn.instruction.words for turn in context.turns))


def _grammar(world: str) -> Grammar:
    name = get_world(world).name
    if name not in GRAMMARS:
        raise InputError(
            f"world {name!r} has no grammar to generate from; there are {', '.join(GRAMMARS)}; add one in sestra.data.grammars"
        )
    return GRAMMARS[name]

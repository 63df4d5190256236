"""Instructions as tensors: every turn of a list of interactions, and batches of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sestra.data.scone import Interaction, State
from sestra.data.vocabulary import BETWEEN, CURRENT, PAD, SPECIAL, UNKNOWN, Vocabulary
from sestra.worlds.tables import Tables


@dataclass(frozen=True)
class Turns:
    """A batch of instructions, each with what an agent knows when it begins and the goal state that it should reach.

    The words are those of all instructions up to this one, with BETWEEN between earlier ones and CURRENT before this one.
    """

    words: Tensor  # [batch, words], padded at the end
    lengths: Tensor  # [batch]: number of words that are not padding
    current: Tensor  # [batch]: where this instruction begins, after CURRENT
    history: Tensor  # [batch, turns, slots]: the states in which the turns up to this one begin, then the last of them again
    goal: Tensor  # [batch, slots]
    turn: Tensor  # [batch]: 0 for the first instruction of an interaction
    interaction: Tensor  # [batch]: index of the interaction
    whole: Tensor  # [batch]: whether all states of the interaction are known

    def __len__(self) -> int:
        return len(self.words)

    @property
    def initial(self) -> Tensor:
        """The states in which these turns begin."""
        return self.history[torch.arange(len(self)), self.turn]  # [batch, slots]

    def starting_from(self, history: Tensor) -> Turns:
        """The same instructions after another course of states."""
        return dataclasses.replace(self, history=history)

    def select(self, rows: Tensor) -> Turns:
        """Some of the turns, without the padding that only others needed."""
        chosen = Turns(**{field.name: getattr(self, field.name)[rows] for field in dataclasses.fields(self)})
        longest = int(chosen.lengths.max()) if len(rows) else 0
        return dataclasses.replace(chosen, words=chosen.words[:, :longest])


def encode_turns(interactions: Sequence[Interaction], vocabulary: Vocabulary, tables: Tables) -> Turns:
    """Every instruction whose start and goal are known, in order."""
    words, current, histories, goal, turn, index, whole = [], [], [], [], [], [], []
    turns = max((len(interaction.instructions) for interaction in interactions), default=0)
    for number, interaction in enumerate(interactions):
        earlier: list[int] = []
        for position, instruction in enumerate(interaction.instructions):
            before, after = interaction.states[position : position + 2]
            tokens = vocabulary.encode(instruction)
            if before is not None and after is not None:
                words.append([*earlier, CURRENT, *tokens])
                current.append(len(earlier) + 1)
                histories.append(_history(interaction.states[: position + 1], before, turns))
                goal.append(after)
                turn.append(position)
                index.append(number)
                whole.append(None not in interaction.states)
            earlier += [BETWEEN, *tokens] if earlier else tokens
    return Turns(
        words=pad(words),
        lengths=torch.tensor([len(row) for row in words]),
        current=torch.tensor(current),
        history=tables.encode(state for history in histories for state in history).view(len(histories), turns, tables.slots),
        goal=tables.encode(goal),
        turn=torch.tensor(turn),
        interaction=torch.tensor(index),
        whole=torch.tensor(whole, dtype=torch.bool),
    )


def _history(states: Sequence[State | None], last: State, turns: int) -> list[State]:
    """The states, filled up with the last one; one that nobody annotated is taken to be as the next one is."""
    known = [last] * turns
    for place in reversed(range(len(states))):
        state = states[place]
        known[place] = known[min(place + 1, turns - 1)] if state is None else state
    return known


def forget_words(turns: Turns, share: float, generator: torch.Generator) -> Turns:
    """The turns with a share of their words, at random, as if nobody had heard of them."""
    forgotten = (torch.rand(turns.words.shape, generator=generator) < share) & (turns.words >= len(SPECIAL))
    return dataclasses.replace(turns, words=turns.words.masked_fill(forgotten, UNKNOWN))


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """The rows as one tensor, padded at the end."""
    longest = max(map(len, rows), default=0)
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.long).view(len(rows), longest)


def batches(turns: Turns, size: int, generator: torch.Generator | None = None, bucket: int = 50) -> Iterator[Turns]:
    """All turns, ``size`` at a time: shuffled if a generator is given, else in order of length.

    Shuffled turns are sorted by length within ``bucket`` batches, and those batches shuffled, so that little is padded.
    """
    if generator is None:
        for rows in turns.lengths.argsort(stable=True).split(size):
            yield turns.select(rows)
        return
    for chunk in torch.randperm(len(turns), generator=generator).split(size * bucket):
        in_order = chunk[turns.lengths[chunk].argsort(stable=True)].split(size)
        for number in torch.randperm(len(in_order), generator=generator).tolist():
            yield turns.select(in_order[number])

"""What other programs import: an agent that follows instructions and tells what it did.

agent = Agent.from_pretrained("alchemy")
trace = agent.follow("1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_", ["throw out first beaker", "pour sixth beaker into last one"])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from sestra import pretrained
from sestra.agent.explain import tell
from sestra.agent.parsing import Reader, as_turns
from sestra.agent.spelling import Speller
from sestra.agent.trace import Context, Trace, Turn
from sestra.data.batch import Turns
from sestra.errors import InputError
from sestra.learning.config import TrainConfig
from sestra.learning.decoding import beam_search, forced, greedy, sampled
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import roll_out
from sestra.learning.run_folder import Trained, load_trained
from sestra.learning.speculative import roll_out_speculatively
from sestra.worlds import WORLDS, World
from sestra.worlds.tables import Integers

__all__ = ["Agent", "Context", "How", "Interaction"]

How = Literal["greedy", "sample", "beam"]
"""Take the most probable action at every step, draw each from the policy's distribution, or search for the most probable execution."""
TOGETHER = 256
"""The most turns in one call of the policy."""


@dataclass(frozen=True)
class Manner:
    """How actions are chosen."""

    how: How
    beam: int
    horizon: int
    generator: torch.Generator

    @classmethod
    def of(cls, how: How, beam: int, horizon: int, seed: int | None) -> Manner:
        """Checked, and with a generator; without a seed, one that nobody can foresee."""
        if how not in get_args(How):
            raise InputError(f"how={how!r}; expected one of {', '.join(map(repr, get_args(How)))}")
        _check_number("beam", beam, 1, 100)
        _check_number("horizon", horizon, 1, 1_000)
        generator = torch.Generator()
        if seed is None:
            generator.seed()
        else:
            _check_number("seed", seed, 0, 2**63 - 1)
            generator.manual_seed(seed)
        return cls(how, beam, horizon, generator)


class Agent:
    """A trained policy with its world and vocabulary."""

    def __init__(self, trained: Trained, name: str, card: str = "") -> None:
        self.name = name
        self.card = card
        self.config: TrainConfig = trained.config
        self.world: World[Any] = trained.tables.world
        self._trained = trained
        self._tables = trained.tables
        self._policy: Policy = trained.policy
        self._reader = Reader(trained.tables, Speller(trained.vocabulary))

    @classmethod
    def from_pretrained(cls, name: str | Path) -> Agent:
        """The agent of that name that ships with the package, or the one in an exported folder or a run's folder."""
        folder = pretrained.find(name)
        called = str(name) if folder.path.parent == pretrained.HERE else folder.path.resolve().name
        return cls(load_trained(folder), called, pretrained.read_card(folder))

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the agent as a folder that ``from_pretrained`` reads, its weights in half precision."""
        pretrained.write(self._trained, Path(folder), self.card)

    def __repr__(self) -> str:
        return f"<Agent {self.name!r} for {self.world.name}>"

    def follow(
        self,
        state: str,
        instructions: Sequence[str],
        how: How = "greedy",
        beam: int = 4,
        seed: int | None = None,
        horizon: int | None = None,
    ) -> Trace:
        """Execute the instructions one after the other, each from where the one before it ended."""
        return self.follow_many([(state, instructions)], how, beam, seed, horizon)[0]

    def follow_many(
        self,
        interactions: Sequence[tuple[str, Sequence[str]]],
        how: How = "greedy",
        beam: int = 4,
        seed: int | None = None,
        horizon: int | None = None,
    ) -> list[Trace]:
        """The same for many interactions, each a start state and its instructions: a turn of all of them at a time."""
        manner = self._manner(how, beam, seed, horizon)
        for number, (state, instructions) in enumerate(interactions, start=1):
            self._check_interaction(state, instructions, f"interaction {number}: " if len(interactions) > 1 else "")
        begun = [self._begin(state, manner) for state, _ in interactions]
        for turn in range(max((len(instructions) for _, instructions in interactions), default=0)):
            going = [(each, given[turn]) for each, (_, given) in zip(begun, interactions, strict=True) if turn < len(given)]
            taken = self._take([each.context(instruction) for each, instruction in going], manner)
            for (each, _), done in zip(going, taken, strict=True):
                each.turns.append(done)
        return [each.trace for each in begun]

    def take_turns(
        self,
        contexts: Sequence[Context],
        how: How = "greedy",
        beam: int = 4,
        seed: int | None = None,
        horizon: int | None = None,
    ) -> list[Turn]:
        """One turn of each, in one call of the policy; if one of them is wrong, none is taken (see ``check``)."""
        return self._take(contexts, self._manner(how, beam, seed, horizon))

    def check(self, context: Context) -> None:
        """Raise InputError if no turn can be taken in that context."""
        self._reader.read(context)

    def start(self, state: str, how: How = "greedy", beam: int = 4, seed: int | None = None, horizon: int | None = None) -> Interaction:
        """An interaction that is given its instructions one at a time."""
        return self._begin(state, self._manner(how, beam, seed, horizon))

    def _begin(self, state: str, manner: Manner) -> Interaction:
        return Interaction(self, self.world.format(self._reader.state(state, "start state: ")), manner)

    def _manner(self, how: How, beam: int, seed: int | None, horizon: int | None) -> Manner:
        return Manner.of(how, beam, self.config.rollout.execution_horizon if horizon is None else horizon, seed)

    def _check_interaction(self, state: str, instructions: Sequence[str], place: str) -> None:
        self._reader.state(state, f"{place}start state: ")
        if isinstance(instructions, str):
            raise InputError(f"{place}the instructions are one text; expected a list of texts, such as [{instructions[:40]!r}]")
        for number, instruction in enumerate(instructions, start=1):
            self._reader.words(instruction, f"{place}instruction {number}: ")

    @torch.inference_mode()
    def _take(self, contexts: Sequence[Context], manner: Manner) -> list[Turn]:
        several = len(contexts) > 1
        readings = [self._reader.read(each, f"context {number}: " if several else "") for number, each in enumerate(contexts, start=1)]
        taken: list[Turn] = []
        for first in range(0, len(readings), TOGETHER):
            some = readings[first : first + TOGETHER]
            turns = as_turns(some, self._tables)
            understood = torch.tensor([reading.understood for reading in some])  # [batch]
            taken += tell(self._policy, self._tables, some, turns, self._execute(turns, understood, manner))
        return taken

    def _execute(self, turns: Turns, understood: Tensor, manner: Manner) -> Execution:
        """What the policy chooses; nothing where no word was understood."""
        choose = sampled(manner.generator) if manner.how == "sample" else greedy
        if manner.how == "beam":
            choose = forced(beam_search(self._policy, self._tables, turns, manner.horizon, manner.beam))

        def choose_if_understood(logits: Tensor, states: Integers, step: int) -> Tensor:
            return torch.where(understood, choose(logits, states, step), self._tables.stop)  # [batch]

        if manner.how == "greedy" and len(turns) == 1:
            return roll_out_speculatively(self._policy, self._tables, turns, manner.horizon, choose_if_understood)
        return roll_out(self._policy, self._tables, turns, manner.horizon, choose_if_understood, return_attention=True)


class Interaction:
    """Instructions given one at a time, each from where the one before it ended; ``Agent.start`` makes one."""

    def __init__(self, agent: Agent, start: str, manner: Manner) -> None:
        self.agent = agent
        self.start = start
        self.turns: list[Turn] = []
        self._manner = manner

    @property
    def state(self) -> str:
        """The state now."""
        return self.turns[-1].end if self.turns else self.start

    @property
    def trace(self) -> Trace:
        return Trace(self.agent.world.name, self.start, tuple(self.turns), WORLDS.reference(type(self.agent.world)))

    def context(self, instruction: str) -> Context:
        """What the agent knows when it is given the instruction now."""
        turns = self.turns
        return Context((*(turn.start for turn in turns), self.state), (*(turn.instruction for turn in turns), instruction))

    def do(self, instruction: str) -> Turn:
        """Follow an instruction."""
        [turn] = self.agent._take([self.context(instruction)], self._manner)
        self.turns.append(turn)
        return turn

    def undo(self) -> Turn:
        """Take the last turn back; the agent forgets that it was asked."""
        if not self.turns:
            raise InputError("there is no turn to undo; the interaction is at its start")
        return self.turns.pop()


def _check_number(name: str, value: int, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InputError(f"{name}={value!r}; expected a whole number from {low:,} to {high:,}")

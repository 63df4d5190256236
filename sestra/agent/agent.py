"""What other programs import: an agent that follows instructions and explains what it did.

agent = Agent.from_pretrained("alchemy")
trace = agent.follow("1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_", ["throw out first beaker", "pour sixth beaker into last one"])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import torch
from torch import Tensor

from sestra import pretrained
from sestra.agent import hub
from sestra.agent.decoding import Decoding, DecodingOptions
from sestra.agent.explain import explain
from sestra.agent.parsing import Parser, as_turns, check_instructions
from sestra.agent.session import Session
from sestra.agent.spelling import Speller
from sestra.agent.trace import Context, Trace, Turn
from sestra.data.batch import Turns
from sestra.errors import InputError, shortened
from sestra.learning import export
from sestra.learning.config import TrainConfig
from sestra.learning.decoding import beam_search, forced, greedy, sampled
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import roll_out
from sestra.learning.run_folder import RunFolder, Trained, load_trained
from sestra.learning.speculative import roll_out_speculatively
from sestra.worlds import World
from sestra.worlds.tables import Integers

TakeTurns = Callable[[Sequence[Context]], list[Turn]]

MAX_BATCH = 256
"""The most turns in one call of the policy."""


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
        self._parser = Parser(trained.tables, Speller(trained.vocabulary))

    @classmethod
    def from_pretrained(cls, name: str | Path, *, revision: str | None = None, cache_dir: str | Path | None = None) -> Agent:
        """The agent of that name that ships with the package, the one in an exported folder or a run's folder, or one on the hub.

        ``owner/name``, if there is no such folder, is a repository of the Hugging Face hub; ``revision`` is its branch, tag or commit, and
        ``cache_dir`` the folder for what is downloaded, by default the hub's own.
        """
        if hub.is_repository(name):
            folder = RunFolder(hub.download(str(name), revision, cache_dir))
            return cls(load_trained(folder), str(name), export.read_card(folder))
        for option, value in (("revision", revision), ("cache_dir", cache_dir)):
            if value is not None:
                raise InputError(f"{shortened(str(name))}: has no {option}, since it is not a repository of the hub; leave {option} out")
        folder = RunFolder.find(name)
        called = str(name) if folder.path.parent == pretrained.HERE else folder.path.resolve().name
        return cls(load_trained(folder), called, export.read_card(folder))

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the agent as a folder that ``from_pretrained`` reads, its weights in half precision."""
        export.write_agent(self._trained, Path(folder), self.card)

    def push_to_hub(
        self,
        repository: str,
        *,
        private: bool = False,
        branch: str | None = None,
        commit_message: str = "An agent of sestra",
        token: str | None = None,
    ) -> str:
        """Save the agent in a repository of the Hugging Face hub, which is created if there is none; the address of the commit."""
        with TemporaryDirectory() as folder:
            self.save_pretrained(folder)
            return hub.push(Path(folder), repository, private=private, branch=branch, commit_message=commit_message, token=token)

    def __repr__(self) -> str:
        return f"<Agent {self.name!r} for {self.world.name}>"

    def follow(self, state: str, instructions: Sequence[str], **decoding: Unpack[DecodingOptions]) -> Trace:
        """Execute the instructions one after the other, each from where the one before it ended."""
        return self.follow_many([(state, instructions)], **decoding)[0]

    def follow_many(self, interactions: Sequence[tuple[str, Sequence[str]]], **decoding: Unpack[DecodingOptions]) -> list[Trace]:
        """The same for many interactions, each a start state and its instructions: one turn of all of them at a time."""
        for number, (state, instructions) in enumerate(interactions, start=1):
            self._check_interaction(state, instructions, f"interaction {number}: " if len(interactions) > 1 else "")
        take_turns = self._decoder(decoding)
        sessions = [self._session(state, take_turns) for state, _ in interactions]
        for turn in range(max((len(instructions) for _, instructions in interactions), default=0)):
            going = [(session, given[turn]) for session, (_, given) in zip(sessions, interactions, strict=True) if turn < len(given)]
            taken = take_turns([session.context(instruction) for session, instruction in going])
            for (session, _), done in zip(going, taken, strict=True):
                session.turns.append(done)
        return [session.trace for session in sessions]

    def take_turns(self, contexts: Sequence[Context], **decoding: Unpack[DecodingOptions]) -> list[Turn]:
        """One turn of each, in one call of the policy; if one of the contexts is wrong, no turn is taken (see ``check``)."""
        return self._decoder(decoding)(contexts)

    def check(self, context: Context) -> None:
        """Raise InputError if no turn can be taken in that context."""
        self._parser.parse(context)

    def start(self, state: str, **decoding: Unpack[DecodingOptions]) -> Session:
        """An interaction that is given its instructions one at a time."""
        return self._session(state, self._decoder(decoding))

    def _session(self, state: str, take_turns: TakeTurns) -> Session:
        start = self.world.format(self._parser.state(state, "start state: "))
        return Session(self.world, start, lambda context: take_turns([context])[0])

    def _decoder(self, options: DecodingOptions) -> TakeTurns:
        """Takes turns with these options; all its random draws are from one generator."""
        decoding, generator = Decoding(**options), torch.Generator()
        if decoding.seed is None:
            generator.seed()
        else:
            generator.manual_seed(decoding.seed)
        return partial(self._take, decoding=decoding, generator=generator)

    def _check_interaction(self, state: str, instructions: Sequence[str], place: str) -> None:
        self._parser.state(state, f"{place}start state: ")
        if isinstance(instructions, str):
            raise InputError(f"{place}the instructions are one text; expected a list of texts, such as [{instructions[:40]!r}]")
        check_instructions(instructions, place)

    @torch.inference_mode()
    def _take(self, contexts: Sequence[Context], decoding: Decoding, generator: torch.Generator) -> list[Turn]:
        several = len(contexts) > 1
        parsed = [self._parser.parse(each, f"context {number}: " if several else "") for number, each in enumerate(contexts, start=1)]
        taken: list[Turn] = []
        for first in range(0, len(parsed), MAX_BATCH):
            some = parsed[first : first + MAX_BATCH]
            turns = as_turns(some, self._tables)
            understood = torch.tensor([context.understood for context in some])  # [batch]
            taken += explain(self._policy, self._tables, some, turns, self._execute(turns, understood, decoding, generator))
        return taken

    def _execute(self, turns: Turns, understood: Tensor, decoding: Decoding, generator: torch.Generator) -> Execution:
        """What the policy chooses; nothing where no word was understood."""
        horizon = self.config.rollout.execution_horizon if decoding.horizon is None else decoding.horizon
        choose = sampled(generator) if decoding.how == "sample" else greedy
        if decoding.how == "beam":
            choose = forced(beam_search(self._policy, self._tables, turns, horizon, decoding.beam))

        def choose_if_understood(logits: Tensor, states: Integers, step: int) -> Tensor:
            return torch.where(understood, choose(logits, states, step), self._tables.stop)  # [batch]

        if decoding.how == "greedy" and len(turns) == 1:
            return roll_out_speculatively(self._policy, self._tables, turns, horizon, choose_if_understood)
        return roll_out(self._policy, self._tables, turns, horizon, choose_if_understood, return_attention=True)

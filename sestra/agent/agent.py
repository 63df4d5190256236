"""What other programs import: an agent that follows instructions and explains what it did.

agent = Agent.from_pretrained("alchemy")
trace = agent.follow("1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_", ["throw out first beaker", "pour sixth beaker into last one"])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import numpy as np

from sestra import pretrained
from sestra.agent import folder as agent_folder
from sestra.agent import hub
from sestra.agent.decoding import after, beam_search, forced, greedy, roll_out, sampled
from sestra.agent.execution import Execution
from sestra.agent.explain import explain
from sestra.agent.folder import About
from sestra.agent.options import Decoding, DecodingOptions
from sestra.agent.parsing import Parser, as_turns, check_instructions
from sestra.agent.runtime import Runtime
from sestra.agent.session import Session
from sestra.agent.spelling import Speller
from sestra.agent.trace import Context, Trace, Turn
from sestra.agent.understanding import Understanding
from sestra.data.batch import Turns
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError, shortened
from sestra.worlds import World
from sestra.worlds.tables import Flags, Integers, Tables

TakeTurns = Callable[[Sequence[Context]], list[Turn]]

MAX_BATCH = 16
"""The most turns in one call of the networks: with more, longer instructions leave more padding than they save calls."""


class Agent:
    """Trained networks with their world and vocabulary."""

    batch_size = 128
    """How many executions side by side are fastest."""

    def __init__(self, runtime: Runtime, tables: Tables, vocabulary: Vocabulary, about: About, name: str, card: str = "") -> None:
        self.name, self.card, self.about = name, card, about
        self.tables, self.vocabulary = tables, vocabulary
        self.world: World[Any] = tables.world
        self._runtime = runtime
        self._parser = Parser(tables, Speller(vocabulary))
        self._understanding = Understanding(runtime, tables, about.calibration)
        self.caution = about.calibration.caution
        """Instructions that it is less confident about are not followed, unless a call says otherwise."""
        self._folder: Path | None = None

    @classmethod
    def from_pretrained(cls, name: str | Path, *, revision: str | None = None, cache_dir: str | Path | None = None) -> Agent:
        """The agent of that name that ships with the package, the one in an exported folder or a run's folder, or one on the hub.

        ``owner/name``, if there is no such folder, is a repository of the Hugging Face hub; ``revision`` is its branch, tag or commit, and
        ``cache_dir`` the folder for what is downloaded, by default the hub's own.
        """
        if hub.is_repository(name):
            path, called = hub.download(str(name), revision, cache_dir), str(name)
        else:
            for option, value in (("revision", revision), ("cache_dir", cache_dir)):
                if value is not None:
                    raise InputError(
                        f"{shortened(str(name))}: has no {option}, since it is not a repository of the hub; leave {option} out"
                    )
            path = agent_folder.find(name)
            called = str(name) if path.parent == pretrained.HERE else Path(name).resolve().name
        contents = agent_folder.read(path)
        try:
            runtime = contents.runtime()
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        agent = cls(runtime, contents.tables, contents.vocabulary, contents.about, called, contents.card)
        agent._folder = path
        return agent

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the agent as a folder that ``from_pretrained`` reads."""
        if self._folder is None:
            raise InputError("this agent was not loaded from a folder, so that there are no graphs to save; export the run that it is of")
        agent_folder.write(Path(folder), self.about, self.vocabulary, agent_folder.read(self._folder).networks, self.card)

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

    def members(self) -> list[Agent]:
        """Agents of one network each, with the networks of this one."""
        if self._folder is None:
            raise InputError("this agent was not loaded from a folder, so that its networks are not known one by one")
        contents = agent_folder.read(self._folder)
        alone = [replace(contents, networks=(network,)) for network in contents.networks]
        return [Agent(each.runtime(), self.tables, self.vocabulary, self.about, self.name) for each in alone]

    @property
    def shipped(self) -> bool:
        """Whether it comes with the package."""
        return self._folder is not None and self._folder.parent == pretrained.HERE

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
        decoding = Decoding(**options)
        return partial(self._take, decoding=decoding, generator=np.random.default_rng(decoding.seed))

    def _check_interaction(self, state: str, instructions: Sequence[str], place: str) -> None:
        self._parser.state(state, f"{place}start state: ")
        if isinstance(instructions, str):
            raise InputError(f"{place}the instructions are one text; expected a list of texts, such as [{instructions[:40]!r}]")
        check_instructions(instructions, place)

    def _take(self, contexts: Sequence[Context], decoding: Decoding, generator: np.random.Generator) -> list[Turn]:
        several = len(contexts) > 1
        parsed = [self._parser.parse(each, f"context {number}: " if several else "") for number, each in enumerate(contexts, start=1)]
        in_order = sorted(range(len(parsed)), key=lambda number: len(parsed[number].labels))  # so that little is padded
        taken: dict[int, Turn] = {}
        for first in range(0, len(parsed), MAX_BATCH):
            numbers = in_order[first : first + MAX_BATCH]
            some = [parsed[number] for number in numbers]
            idle = np.array([not (context.understood or context.actions) for context in some])  # [batch]: where no word was understood
            longest = max(len(context.actions) for context in some)
            given = np.array(
                [[*context.actions, *[-1] * (longest - len(context.actions))] for context in some], np.int64
            )  # [batch, longest]
            turns = as_turns(some, self.tables)
            horizon = self.about.horizon if decoding.horizon is None else decoding.horizon
            caution = self.caution if decoding.caution is None else decoding.caution
            execution = self._execute(turns, idle, given, horizon, decoding, generator)
            execution, verdicts = self._understanding.judge(some, turns, execution, horizon, caution)
            taken |= dict(zip(numbers, explain(self.tables, some, execution, verdicts), strict=True))
        return [taken[number] for number in range(len(parsed))]

    def _execute(
        self, turns: Turns, idle: Flags, given: Integers, horizon: int, decoding: Decoding, generator: np.random.Generator
    ) -> Execution:
        """What the networks choose, after the actions that are given."""
        choose = then = sampled(generator) if decoding.how == "sample" else greedy
        if decoding.how == "beam":
            choose = forced(beam_search(self._runtime, self.tables, turns, horizon, decoding.beam))
        if given.size:
            choose = after(given, choose, then)
        return roll_out(self._runtime, self.tables, turns, horizon, choose, idle=idle, attention=True)

    # What evaluation needs (``sestra.agent.evaluation.Evaluated``).

    @property
    def world_reference(self) -> str:
        return self.about.world

    @property
    def verbosity(self) -> float:
        return self.about.verbosity

    @property
    def training(self) -> dict[str, Any]:
        return self.about.training

    def execute(self, turns: Turns) -> Execution:
        """Execute each turn's instruction greedily."""
        return roll_out(self._runtime, self.tables, turns, self.about.horizon, greedy)

"""Sequence-level knowledge distillation (Kim and Rush, 2016): a policy learns from where a trained agent's executions end.

What an ensemble makes of an instruction is often better than the annotation, and how often its executions end in a state says how certain
it is. The teacher executes each instruction a few times before training; an epoch then draws the goals of turns from what it reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sestra import pretrained
from sestra.agent import folder as agent_folder
from sestra.agent.decoding import roll_out, sampled
from sestra.agent.runtime import Runtime
from sestra.data.batch import batches, encode_turns
from sestra.data.scone import Interaction
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.learning.config import TrainConfig
from sestra.learning.settings import flag
from sestra.worlds.tables import Integers, Tables

DISTILLATION_WEIGHT = 0.7
"""How often the goal of a turn is the teacher's; else it is the annotated one."""
EXECUTIONS = 4
"""How often the teacher executes each instruction; its actions are sampled."""
BATCH_SIZE = 128


@dataclass(frozen=True)
class Teacher:
    runtime: Runtime
    tables: Tables
    vocabulary: Vocabulary
    horizon: int
    checksum: str
    """Of its networks; a resumed run checks that the teacher is the same."""

    @classmethod
    def load(cls, name: str, world: str) -> Teacher:
        """The agent of that name; its world must be the run's."""
        contents = agent_folder.read(find(name, "teacher"))
        if contents.about.world != world:
            raise InputError(f"--teacher {name}: is an agent for {contents.about.world}, but the run is in {world}; name one for {world}")
        return cls(contents.runtime(), contents.tables, contents.vocabulary, contents.about.horizon, contents.checksum)

    def goals(self, interactions: Sequence[Interaction]) -> Integers:
        """Where its executions end, ``[executions, turns, slots]``; the turns are those of ``encode_turns``."""
        turns, generator = encode_turns(interactions, self.vocabulary, self.tables), np.random.default_rng(0)
        back = turns.lengths.argsort(kind="stable").argsort()  # batches come in order of length
        return np.stack(
            [
                np.concatenate(
                    [
                        roll_out(self.runtime, self.tables, batch, self.horizon, sampled(generator)).final
                        for batch in batches(turns, BATCH_SIZE)
                    ]
                )[back]
                for _ in range(EXECUTIONS)
            ]
        )


def with_absolute_names(config: TrainConfig) -> TrainConfig:
    """The settings with the absolute paths of agents; those that ship with the package keep their names."""
    names = {each: _absolute(getattr(config, each), each) for each in ("teacher", "init_from") if getattr(config, each)}
    return config.changed(**names)


def _absolute(name: str, setting: str) -> str:
    return name if find(name, setting).parent == pretrained.HERE else str(Path(name).resolve())


def find(name: str, setting: str) -> Path:
    """The folder of an agent that a setting names."""
    try:
        return agent_folder.find(name)
    except InputError as error:
        raise InputError(f"{flag(setting)} {error}") from error

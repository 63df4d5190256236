"""Agents for tests, none of them trained: one with random weights, one that is told its actions word by word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from lamps import Lamps
from small_networks import random_network

from sestra.agent import Agent
from sestra.agent import folder as agent_folder
from sestra.agent.execution import AttentionMap
from sestra.agent.folder import About
from sestra.agent.runtime import Encoded, Step, mean_log_probs
from sestra.data.batch import Turns
from sestra.data.synthetic import generate
from sestra.data.vocabulary import SPECIAL, Vocabulary
from sestra.worlds import get_world
from sestra.worlds.tables import Integers, compile_world

if TYPE_CHECKING:
    from sestra.learning.policies.attention_config import AttentionConfig
    from sestra.learning.run_folder import Trained

STATES = {
    "alchemy": "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_",
    "scene": "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:__",
    "tangrams": "1:0 2:1 3:2 4:3 5:4",
}


def words_of(world: str) -> Vocabulary:
    """The words of some generated interactions."""
    return Vocabulary.of((text for interaction in generate(world, 40, seed=5) for text in interaction.instructions), at_least=1)


def write_random_agent(folder: Path, world: str = "alchemy", *, networks: int = 1, seed: int = 7) -> Path:
    """The folder of an agent with random weights; ``sestra join`` takes it for one of a run."""
    tables, vocabulary = compile_world(get_world(world)), words_of(world)
    training: dict[str, Any] = {
        "learner": "none", "seed": seed, "chosen": {"epoch": 0}, "config": {"policy": {"name": "random"}}, "parameters": 5,
        "data": {"name": f"{world}-train.tsv", "sha256": "0" * 64, "generated": True},
    }  # fmt: skip
    graphs = [random_network(tables, len(vocabulary), seed=seed + number) for number in range(networks)]
    agent_folder.write(folder, About(world, 8, 0.1, training), vocabulary, graphs, "# A card\n")
    return folder


@cache
def random_agent(world: str = "alchemy", *, networks: int = 1, seed: int = 7) -> Agent:
    folder = Path(_FOLDERS.name) / f"{networks}-{seed}" / f"random-{world}"
    return Agent.from_pretrained(write_random_agent(folder, world, networks=networks, seed=seed))


_FOLDERS = TemporaryDirectory()  # until the process ends, since agents are saved from the folders that they were loaded from


def random_trained(world: str = "alchemy", policy: AttentionConfig | None = None, *, seed: int = 7, scale: float = 0.6) -> Trained:
    """A policy in training with random weights, those of STOP larger than others, so that some of its executions end."""
    import torch

    from sestra.learning.config import TrainConfig
    from sestra.learning.policies.attention import AttentionPolicy
    from sestra.learning.policies.attention_config import AttentionConfig
    from sestra.learning.run_folder import Trained

    tables, vocabulary = compile_world(get_world(world)), words_of(world)
    policy = policy or AttentionConfig(embedding=4, hidden=6)
    network = AttentionPolicy(policy, tables, vocabulary).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
        network.kind_weights.weight[-1] *= 4
    config = TrainConfig(world=world, policy=policy).changed(execution_horizon=8)
    return Trained(config, vocabulary, tables, network, {"epoch": 0})


class Obedient:
    """Takes the actions that the instruction's words name, such as "light1r", then STOP; looks at the word that it obeys.

    Whatever it takes has a score of 3, the action after it in the world's order one of 2, and all others 0.
    """

    tables = compile_world(Lamps())
    words = tuple(str(action).replace(" ", "") for action in tables.world.actions)

    def encode(self, turns: Turns) -> list[Encoded]:
        actions = turns.words - len(SPECIAL)  # the vocabulary is the actions in their order; unknown words and marks are below 0
        return [Encoded((actions, turns.lengths), (turns.current,))]

    def step(self, encoded: Sequence[Encoded], states: Integers, previous: Integers, *, attention: bool = False) -> Step:
        [((actions, lengths), (place,))] = encoded
        rows, columns = np.arange(len(actions)), np.arange(actions.shape[1])
        now = actions[rows, np.minimum(place, actions.shape[1] - 1)]
        now = np.where((place >= lengths) | (now < 0), self.tables.stop, now)
        logits = np.zeros((len(now), self.tables.actions), np.float32)
        logits[rows, (now + 1) % self.tables.actions] = 2
        logits[rows, now] = 3
        looked = (columns == place[:, None]).astype(np.float32)[:, None]
        places = np.where(columns < lengths[:, None], columns, -1)
        maps = {"obeyed": AttentionMap("words", looked, places)} if attention else {}
        return Step(mean_log_probs([logits]), [Encoded((actions, lengths), (place + 1,))], maps)


def obedient_agent() -> Agent:
    """In the world of lamps, which has to be registered."""
    runtime = Obedient()
    return Agent(runtime, runtime.tables, Vocabulary(runtime.words), About("lamps", 5, 0.0), "obedient")

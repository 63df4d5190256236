"""Agents that have learnt nothing, for tests that ask how answers travel and not how good they are."""

from __future__ import annotations

from functools import cache

import torch

from sestra.agent import Agent
from sestra.data.synthetic import generate
from sestra.data.vocabulary import Vocabulary
from sestra.learning.config import preset
from sestra.learning.run_folder import Trained
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world


@cache
def untrained(world: str) -> Agent:
    """An agent with fresh weights that knows the words of some generated interactions."""
    config = preset("paper", world, "sestra")
    words = Vocabulary.of(instruction for interaction in generate(world, 100, seed=0) for instruction in interaction.instructions)
    tables = compile_world(get_world(world))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        policy = config.policy.build(tables, words).eval()
    return Agent(Trained(config, words, tables, policy, {"epoch": 0}), f"{world}-untrained")

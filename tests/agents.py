"""Agents for tests, none of them trained: one with random weights, one that is told its actions word by word."""

from __future__ import annotations

from pathlib import Path

import torch
from lamps import Lamps

from sestra.agent import Agent
from sestra.data.synthetic import generate
from sestra.data.vocabulary import Vocabulary
from sestra.learning import export
from sestra.learning.config import TrainConfig
from sestra.learning.policies.attention import AttentionPolicy
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.policies.base import AttentionMap, Encoded, Inputs, Policy, ReportsAttention, Step
from sestra.learning.run_folder import Trained
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

SMALL = AttentionConfig(embedding=4, hidden=6)
STATES = {
    "alchemy": "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_",
    "scene": "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:__",
    "tangrams": "1:0 2:1 3:2 4:3 5:4",
}


def random_trained(world: str = "alchemy", policy: AttentionConfig = SMALL, *, seed: int = 7, scale: float = 0.6) -> Trained:
    """A policy with random weights, those of STOP larger than others, so that some of its executions end."""
    tables = compile_world(get_world(world))
    vocabulary = Vocabulary.of((text for interaction in generate(world, 40, seed=5) for text in interaction.instructions), at_least=1)
    network = AttentionPolicy(policy, tables, vocabulary).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
        network.kind_weights.weight[-1] *= 4
    config = TrainConfig(world=world, policy=policy).changed(execution_horizon=8)
    return Trained(config, vocabulary, tables, network, {"epoch": 0})


def random_agent(world: str = "alchemy", policy: AttentionConfig = SMALL, *, seed: int = 7) -> Agent:
    return Agent(random_trained(world, policy, seed=seed), f"random-{world}", "# A card\n")


def write_random_agent(folder: Path, world: str = "alchemy") -> Path:
    """An exported folder."""
    export.write_agent(random_trained(world), folder, "# A card\n")
    return folder


class Obedient(Policy, ReportsAttention):
    """Takes the actions that the instruction's words name, such as "light1r", then STOP; looks at the word that it obeys.

    Whatever it takes has a score of 3, the action after it in the world's order one of 2, and all others 0.
    """

    tables = compile_world(Lamps())
    words = tuple(str(action).replace(" ", "") for action in tables.world.actions)

    def encode(self, inputs: Inputs) -> Encoded:
        actions = inputs.words - 4  # the vocabulary is the actions in their order; unknown words and marks are below 0
        return Encoded((actions, inputs.lengths), (inputs.current,))

    def step(self, memory, carry, states, previous, *, return_attention=False):
        actions, lengths = memory
        (place,) = carry
        last = place >= lengths
        now = actions.gather(1, place.clamp(max=actions.shape[1] - 1).unsqueeze(1)).squeeze(1)
        now = torch.where(last | (now < 0), self.tables.stop, now)
        logits = torch.zeros(len(now), self.tables.actions)
        rows = torch.arange(len(now))
        logits[rows, (now + 1) % self.tables.actions] = 2.0
        logits[rows, now] = 3.0
        looked = (torch.arange(actions.shape[1]) == place.unsqueeze(1)).float().unsqueeze(1)
        return Step(logits, (place + 1,), {"obeyed": looked})

    def attention(self, inputs, execution):
        places = torch.arange(inputs.words.shape[1]).expand(len(inputs.words), -1)
        weights = torch.stack([step["obeyed"] for step in execution.attention])
        return {"obeyed": AttentionMap("words", weights, places.masked_fill(places >= inputs.lengths.unsqueeze(1), -1))}


def obedient_agent() -> Agent:
    """In the world of lamps, which has to be registered."""
    policy = Obedient()
    return Agent(
        Trained(TrainConfig(world="lamps").changed(execution_horizon=5), Vocabulary(policy.words), policy.tables, policy, {}), "obedient"
    )

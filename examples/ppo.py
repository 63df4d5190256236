"""Another library's learner in a world of sestra: MaskablePPO of sb3-contrib on ``sestra/Tangrams-v0``.

    pip install sestra torch sb3-contrib
    python examples/ppo.py --steps 200000 --out results/ppo.json

PPO learns from the rewards of the actions that it takes; SESTRA observes the reward of every action in the states that it visits.
``python benchmarks/environment_steps.py`` trains SESTRA with as many environment steps.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from sestra.data.synthetic import splits
from sestra.envs import InstructionEnv

WORLD, ENVIRONMENTS, SIZE = "tangrams", 16, 64


class Encoder(BaseFeaturesExtractor):
    """A GRU over the words of the last instruction and of this one, beside the contents of all slots, at first and now."""

    def __init__(self, space: gymnasium.spaces.Dict) -> None:
        slots, contents = space["current"].nvec.size, int(space["current"].nvec[0])
        super().__init__(space, features_dim=SIZE + 2 * slots * 16)
        self.words = nn.Embedding(int(space["instruction"].high[0]) + 1, SIZE, padding_idx=0)
        self.gru, self.contents = nn.GRU(SIZE, SIZE, batch_first=True), nn.Embedding(contents, 16)
        self.contents_of = lambda one_hot: one_hot.view(-1, slots, contents) @ self.contents.weight  # SB3 gives one-hot vectors

    def forward(self, observed: dict[str, Tensor]) -> Tensor:
        instruction, history = observed["instruction"].long(), observed["history"].long()  # [batch, length], [batch, earlier, length]
        turn = (history[:, :, 0] > 0).sum(1)  # [batch]
        last = history[torch.arange(len(turn)), (turn - 1).clamp(min=0)]  # [batch, length]
        words = torch.cat([last, instruction], 1).flip(1)  # [batch, 2 * length]: backwards, so that the first words come last
        order = (words > 0).int().argsort(stable=True)  # padding first
        _, hidden = self.gru(self.words(words.gather(1, order)[:, -30:]))
        return torch.cat([hidden[0], *(self.contents_of(observed[name]).flatten(1) for name in ("initial", "current"))], 1)


def accuracy(model: MaskablePPO, env: InstructionEnv) -> float:
    """Percent of the examples' instructions that are executed correctly."""
    right = 0
    for example in range(len(env.task.first)):
        observation, info = env.reset(options={"example": example})
        over = False
        while not over:
            action, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=True)
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        right += info["success"]
    return 100 * right / len(env.task.first)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--out", type=Path, default=Path("ppo.json"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    settings = {"policy_kwargs": {"features_extractor_class": Encoder}, "n_steps": 128, "batch_size": 256, "n_epochs": 4, "ent_coef": 0.01}
    environments = make_vec_env(f"sestra.envs:sestra/{WORLD.capitalize()}-v0", ENVIRONMENTS, seed=1)
    model = MaskablePPO("MultiInputPolicy", environments, gamma=0.9, learning_rate=1e-3, seed=1, **settings)
    began = time.perf_counter()
    model.learn(options.steps)
    seconds, train = time.perf_counter() - began, environments.envs[0].unwrapped
    dev = InstructionEnv(WORLD, interactions=splits(WORLD)["dev"], vocabulary=train.vocabulary)
    record = {"steps": model.num_timesteps, "seconds": round(seconds), "dev_inst": round(accuracy(model, dev), 1)}
    options.out.write_text(json.dumps(record) + "\n")

"""What can be observed in the states that a batch of executions visited, beyond the actions that were taken there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sestra.data.batch import Turns
from sestra.learning.config import RolloutConfig
from sestra.learning.decoding import sampled
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import roll_out
from sestra.worlds.reward import rewards
from sestra.worlds.tables import Integers, Tables


@dataclass
class Exploration:
    """One batch of executions; what is observed is ``[steps, batch, actions]``."""

    policy: Policy
    tables: Tables
    turns: Turns
    horizon: int
    execution: Execution
    settings: RolloutConfig
    generator: torch.Generator
    observations: int = 0
    """How many rewards, or actions of an oracle, have been observed."""

    def rewards(self) -> Tensor:
        """The immediate reward of every action."""
        self.observations += int(self.execution.alive.sum()) * self.tables.actions
        return torch.from_numpy(self._rewards(self.execution.states.numpy(), self.turns.goal))

    def oracle_actions(self) -> Tensor:
        """1 for the next action of a demonstration, 0 for all others."""
        self.observations += int(self.execution.alive.sum())
        states = self.execution.states.numpy()  # [steps, batch, slots]
        actions = self.tables.oracle_action(states, np.broadcast_to(self.turns.goal, states.shape))  # [steps, batch]
        return torch.nn.functional.one_hot(torch.from_numpy(actions), self.tables.actions)

    @torch.no_grad()
    def branch_returns(self, reference_fraction: float) -> Tensor:
        """The sum of the rewards from one step of each execution on, drawn at random, if each action is taken there; 0 in all other steps.

        What follows the action is sampled from the policy, or, for a fraction of the roll-outs, follows a demonstration.
        """
        execution, actions = self.execution, self.tables.actions
        steps, batch = execution.actions.shape
        branch = (torch.rand(batch, generator=self.generator) * execution.lengths).long()  # [batch]
        copies = torch.arange(batch).repeat_interleave(actions)  # [batch * actions]: of each execution one per action
        goals, at, rolled_in = self.turns.goal[copies.numpy()], branch[copies], execution.actions[:, copies]
        tried = torch.arange(actions).repeat(batch)  # [batch * actions]
        by_reference = torch.rand(len(copies), generator=self.generator) < reference_fraction  # [batch * actions]
        sample = sampled(self.generator)

        def choose(logits: Tensor, states: Integers, step: int) -> Tensor:
            after = torch.where(by_reference, torch.from_numpy(self.tables.oracle_action(states, goals)), sample(logits, states, step))
            before = rolled_in[min(step, steps - 1)]
            return torch.where(at == step, tried, torch.where(at > step, before, after))  # [batch * actions]

        rolled_out = roll_out(self.policy, self.tables, self.turns, self.horizon, choose, copies=actions)
        received = torch.from_numpy(self._rewards(rolled_out.states.numpy(), goals))  # [longest, batch * actions, actions]
        received = received.gather(-1, rolled_out.actions.unsqueeze(-1)).squeeze(-1)  # [longest, batch * actions]
        counted = rolled_out.alive & (torch.arange(len(received)).unsqueeze(1) >= at)  # [longest, batch * actions]
        self.observations += int(counted.sum())
        returns = torch.zeros(steps, batch, actions)
        returns[branch, torch.arange(batch)] = (received * counted).sum(0).view(batch, actions)
        return returns

    def _rewards(self, states: Integers, goals: Integers) -> NDArray[np.float32]:
        settings = self.settings
        last = np.arange(len(states))[:, None] == self.horizon - 1  # [steps, 1]
        return rewards(
            self.tables,
            states,
            np.broadcast_to(goals, states.shape),
            verbosity=settings.verbosity,
            shaping=settings.shaping,
            at_horizon=last if settings.horizon_penalty else False,
        )

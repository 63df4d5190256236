"""Knowledge distillation (Hinton et al., 2015): a policy learns from a trained agent's distributions, beside the rewards.

What an ensemble predicts for an instruction is often better than the annotation, and its probabilities say how certain it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sestra import pretrained
from sestra.data.batch import Turns
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.learning import checkpoint
from sestra.learning.config import TrainConfig
from sestra.learning.decoding import forced
from sestra.learning.execution import Execution
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import roll_out
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.worlds.tables import Tables

DISTILLATION_WEIGHT = 0.7
"""Weight of the likelihood of the teacher's choices in the objective; the learner's own objective has the rest."""
IMPOSSIBLE = -1e3
"""Log-probabilities below it are of actions that the policy cannot take, whatever it learns."""


@dataclass(frozen=True)
class Teacher:
    policy: Policy
    tables: Tables
    checksum: str
    """Of its weights; a resumed run checks that the teacher is the same."""

    @classmethod
    def of(cls, config: TrainConfig, vocabulary: Vocabulary) -> Teacher | None:
        """The teacher that the configuration names, if any; its world and vocabulary must be the run's."""
        if not config.teacher:
            return None
        folder = _find(config.teacher)
        trained, checksum = load_trained(folder), checkpoint.checksum(folder.model)
        for what, theirs, ours in (("world", trained.config.world, config.world), ("vocabulary", trained.vocabulary, vocabulary)):
            if theirs != ours:
                raise InputError(f"--teacher {config.teacher}: has another {what} than this run; name one trained on the same data")
        return cls(trained.policy, trained.tables, checksum)

    def likelihood(self, turns: Turns, execution: Execution) -> Tensor:
        """The student's expected log-probability of the teacher's choice in every visited state, ``[steps, batch]``."""
        with torch.no_grad():
            same_actions = roll_out(self.policy, self.tables, turns, len(execution.actions), forced(execution.actions.T))
            probabilities = same_actions.log_probs.exp()  # [steps, batch, actions]
        return (probabilities * execution.log_probs.clamp(min=IMPOSSIBLE)).sum(-1)  # [steps, batch]


def absolute_name(name: str) -> str:
    """The name of a teacher that ships with the package as it is, of any other the absolute path."""
    folder = _find(name)
    return name if folder.path.parent == pretrained.HERE else str(folder.path.resolve())


def _find(name: str) -> RunFolder:
    try:
        return RunFolder.find(name)
    except InputError as error:
        raise InputError(f"--teacher {error}") from error

"""A teacher: a trained agent whose choices another policy learns from, beside the rewards.

What several networks make of an instruction together is often better than its annotation, and it says how sure one can be: an ensemble
distilled into one network (Hinton et al., 2015).
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
from sestra.learning.learners.base import mean_over_steps
from sestra.learning.policies.base import Policy
from sestra.learning.rollout import roll_out
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.worlds.tables import Tables

IMPOSSIBLE = -1e3
"""Log-probabilities below it are of actions that the learner could never take, whatever it learns."""


@dataclass(frozen=True)
class Teacher:
    policy: Policy
    tables: Tables
    checksum: str
    """Of its weights, by which a run that is resumed knows it again."""

    @classmethod
    def of(cls, config: TrainConfig, vocabulary: Vocabulary) -> Teacher | None:
        """The one that a run asks for, if it does; it must know the run's world and words."""
        if not config.teacher:
            return None
        folder = _find(config.teacher)
        trained, checksum = load_trained(folder), checkpoint.checksum(folder.model)
        for what, theirs, ours in (("world", trained.config.world, config.world), ("vocabulary", trained.vocabulary, vocabulary)):
            if theirs != ours:
                raise InputError(f"--teacher {config.teacher}: has another {what} than this run; name one trained on the same data")
        return cls(trained.policy, trained.tables, checksum)

    def agreement(self, turns: Turns, execution: Execution) -> Tensor:
        """The likelihood of the teacher's choices in the states that executions visited: the mean log-probability, ``[batch]``."""
        with torch.no_grad():
            asked = roll_out(self.policy, self.tables, turns, len(execution.actions), forced(execution.actions.T))
            choices = asked.log_probs.exp()  # [steps, batch, actions]
        return mean_over_steps((choices * execution.log_probs.clamp(min=IMPOSSIBLE)).sum(-1), execution)


def in_full(name: str) -> str:
    """The name of a teacher that ships as it is, the path of any other in full, so that it is found from anywhere."""
    folder = _find(name)
    return name if folder.path.parent == pretrained.HERE else str(folder.path.resolve())


def _find(name: str) -> RunFolder:
    try:
        return pretrained.find(name)
    except InputError as error:
        raise InputError(f"--teacher {error}") from error

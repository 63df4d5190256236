"""Knowledge distillation (Hinton et al., 2015): a policy learns from a trained agent's distributions, beside the rewards.

What an ensemble predicts for an instruction is often better than the annotation, and its probabilities say how certain it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from sestra import pretrained
from sestra.agent import folder as agent_folder
from sestra.agent.decoding import forced, roll_out
from sestra.agent.runtime import Runtime
from sestra.data.batch import Turns
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.learning.config import TrainConfig
from sestra.learning.execution import Execution
from sestra.worlds.tables import Tables

DISTILLATION_WEIGHT = 0.7
"""Weight of the likelihood of the teacher's choices in the objective; the learner's own objective has the rest."""
IMPOSSIBLE = -1e3
"""Log-probabilities below it are of actions that the policy cannot take, whatever it learns."""


@dataclass(frozen=True)
class Teacher:
    runtime: Runtime
    tables: Tables
    checksum: str
    """Of its networks; a resumed run checks that the teacher is the same."""

    @classmethod
    def of(cls, config: TrainConfig, vocabulary: Vocabulary) -> Teacher | None:
        """The teacher that the configuration names, if any; its world and vocabulary must be the run's."""
        if not config.teacher:
            return None
        contents = agent_folder.read(_find(config.teacher))
        for what, theirs, ours in (("world", contents.about.world, config.world), ("vocabulary", contents.vocabulary, vocabulary)):
            if theirs != ours:
                raise InputError(f"--teacher {config.teacher}: has another {what} than this run; name one trained on the same data")
        return cls(contents.runtime(), contents.tables, contents.checksum)

    def likelihood(self, turns: Turns, execution: Execution) -> Tensor:
        """The student's expected log-probability of the teacher's choice in every visited state, ``[steps, batch]``."""
        same_actions = roll_out(self.runtime, self.tables, turns, len(execution.actions), forced(execution.actions.T.numpy()))
        probabilities = torch.from_numpy(same_actions.log_probs).exp()  # [steps, batch, actions]
        return (probabilities * execution.log_probs.clamp(min=IMPOSSIBLE)).sum(-1)  # [steps, batch]


def absolute_name(name: str) -> str:
    """The name of a teacher that ships with the package as it is, of any other the absolute path."""
    return name if _find(name).parent == pretrained.HERE else str(Path(name).resolve())


def _find(name: str) -> Path:
    try:
        return agent_folder.find(name)
    except InputError as error:
        raise InputError(f"--teacher {error}") from error

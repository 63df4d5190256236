"""Learners, one objective a file, and the registry that makes one from a configuration."""

from __future__ import annotations

from collections.abc import Callable

from sestra.learning.config import LearnerName, TrainConfig
from sestra.learning.learners.base import Learner
from sestra.learning.learners.best_action import BestAction
from sestra.learning.learners.contextual_bandit import ContextualBandit
from sestra.learning.learners.policy_gradient import PolicyGradient
from sestra.learning.learners.sestra import Sestra
from sestra.learning.learners.supervised import Supervised

LEARNERS: dict[LearnerName, Callable[[TrainConfig], Learner]] = {
    "sestra": lambda config: Sestra(config.entropy),
    "policy-gradient": lambda config: PolicyGradient(config.entropy),
    "contextual-bandit": lambda config: ContextualBandit(config.entropy),
    "supervised": lambda _: Supervised(),
    "best-action": lambda config: BestAction(config.robust),
}

__all__ = ["LEARNERS", "BestAction", "ContextualBandit", "Learner", "PolicyGradient", "Sestra", "Supervised"]

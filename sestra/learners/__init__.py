"""Learners, one objective a file, and the registry that makes one from a configuration."""

from __future__ import annotations

from collections.abc import Callable

from sestra.config import LearnerName, TrainConfig
from sestra.learners.base import Learner
from sestra.learners.best_action import BestAction
from sestra.learners.contextual_bandit import ContextualBandit
from sestra.learners.policy_gradient import PolicyGradient
from sestra.learners.sestra import Sestra
from sestra.learners.supervised import Supervised

LEARNERS: dict[LearnerName, Callable[[TrainConfig], Learner]] = {
    "sestra": lambda config: Sestra(config.entropy),
    "policy-gradient": lambda config: PolicyGradient(config.entropy),
    "contextual-bandit": lambda config: ContextualBandit(config.entropy),
    "supervised": lambda _: Supervised(),
    "best-action": lambda config: BestAction(config.robust),
}

__all__ = ["LEARNERS", "BestAction", "ContextualBandit", "Learner", "PolicyGradient", "Sestra", "Supervised"]

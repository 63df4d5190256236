"""Learners by name."""

from __future__ import annotations

import dataclasses
from typing import Any

from sestra.learning.learners.base import Learner
from sestra.registry import Registry


def _fits(found: Any) -> bool:
    attributes = ("objective", "uses_demonstrations", "on_policy")
    return isinstance(found, type) and dataclasses.is_dataclass(found) and all(hasattr(found, name) for name in attributes)


LEARNERS: Registry[type[Learner]] = Registry(
    "learner",
    "sestra.learners",
    {
        "sestra": "sestra.learning.learners.sestra:Sestra",
        "policy-gradient": "sestra.learning.learners.policy_gradient:PolicyGradient",
        "contextual-bandit": "sestra.learning.learners.contextual_bandit:ContextualBandit",
        "supervised": "sestra.learning.learners.supervised:Supervised",
        "best-action": "sestra.learning.learners.best_action:BestAction",
    },
    _fits,
    "a frozen dataclass with a method objective(execution, rewards) and the attributes uses_demonstrations and on_policy",
)

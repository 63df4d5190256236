"""Learners by name."""

from __future__ import annotations

from typing import Any

from sestra.learning.learners.base import Learner
from sestra.learning.settings import RESERVED, is_plugin
from sestra.registry import Registry


def _fits(found: Any) -> bool:
    attributes = ("objective", "uses_demonstrations", "on_policy")
    return is_plugin(found) and all(hasattr(found, name) for name in attributes)


LEARNERS: Registry[type[Learner]] = Registry(
    "learner",
    "sestra.learners",
    {
        "sestra": "sestra.learning.learners.sestra:Sestra",
        "policy-gradient": "sestra.learning.learners.policy_gradient:PolicyGradient",
        "contextual-bandit": "sestra.learning.learners.contextual_bandit:ContextualBandit",
        "supervised": "sestra.learning.learners.supervised:Supervised",
        "best-action": "sestra.learning.learners.best_action:BestAction",
        "actor-critic": "sestra.learning.learners.actor_critic:ActorCritic",
        "mean-actor-critic": "sestra.learning.learners.mean_actor_critic:MeanActorCritic",
        "sestra-estimator": "sestra.learning.learners.sestra_estimator:SestraEstimator",
        "dagger": "sestra.learning.learners.dagger:Dagger",
        "lols": "sestra.learning.learners.lols:Lols",
    },
    _fits,
    f"a frozen dataclass of settings with defaults, none called {', '.join(RESERVED)}, with a method objective(execution, rewards) and the "
    "attributes uses_demonstrations and on_policy",
)

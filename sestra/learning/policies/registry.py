"""Policies by name; what is registered is a policy's configuration, which builds it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from sestra.learning.settings import RESERVED, is_plugin
from sestra.registry import Registry

if TYPE_CHECKING:
    from sestra.data.vocabulary import Vocabulary
    from sestra.learning.policies.base import Policy
    from sestra.worlds.tables import Tables


class PolicyConfig(Protocol):
    """A frozen dataclass whose fields are the policy's settings, each with a default. Its module does not import torch.

    Optional: a method ``check()`` that raises InputError for values that make no sense, and two class attributes. ``presets`` are settings
    of training that suit the policy, by learner, with those for every learner under ``""`` (there, ``learner`` is the usual learner).
    ``readings`` are settings by the name of a preset, 'paper' or 'authors', that belong to this policy there.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def build(self, tables: Tables, vocabulary: Vocabulary) -> Policy:
        """A policy with fresh weights for a world and the words that it knows."""


def _fits(found: Any) -> bool:
    return is_plugin(found) and callable(getattr(found, "build", None))


POLICIES: Registry[type[PolicyConfig]] = Registry(
    "policy",
    "sestra.policies",
    {
        "attention": "sestra.learning.policies.attention_config:AttentionConfig",
        "objects": "sestra.learning.policies.objects.config:ObjectConfig",
    },
    _fits,
    f"a frozen dataclass of settings with defaults, none called {', '.join(RESERVED)}, and a method build(tables, vocabulary)",
)

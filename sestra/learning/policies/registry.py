"""Policies, one network a file, and how one is made from its configuration."""

from __future__ import annotations

from sestra.data.vocabulary import Vocabulary
from sestra.learning.config import ObjectConfig, PolicyConfig
from sestra.learning.policies.attention import AttentionPolicy
from sestra.learning.policies.ensemble import Ensemble
from sestra.learning.policies.objects.policy import ObjectPolicy
from sestra.worlds.tables import Tables

__all__ = ["AttentionPolicy", "Ensemble", "ObjectPolicy", "make_policy"]


def make_policy(config: PolicyConfig, tables: Tables, vocabulary: Vocabulary) -> AttentionPolicy | ObjectPolicy:
    """A policy with fresh weights, for a world and the words that it knows."""
    if isinstance(config, ObjectConfig):
        return ObjectPolicy(config, tables, vocabulary)
    return AttentionPolicy(config, tables, vocabulary)

"""Policies, one network a file, and how one is made from its configuration."""

from __future__ import annotations

from sestra.config import ObjectConfig, PolicyConfig
from sestra.data.text import Vocabulary
from sestra.policies.attention import AttentionPolicy
from sestra.policies.ensemble import Ensemble
from sestra.policies.objects import ObjectPolicy
from sestra.worlds.tables import Tables

__all__ = ["AttentionPolicy", "Ensemble", "ObjectPolicy", "make_policy"]


def make_policy(config: PolicyConfig, tables: Tables, vocabulary: Vocabulary) -> AttentionPolicy | ObjectPolicy:
    """A policy with fresh weights, for a world and the words that it knows."""
    if isinstance(config, ObjectConfig):
        return ObjectPolicy(config, tables, vocabulary)
    return AttentionPolicy(config, tables, len(vocabulary))

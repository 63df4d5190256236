"""Policies, one network a file, and how one is made from its configuration."""

from __future__ import annotations

from sestra.config import ObjectConfig, PolicyConfig
from sestra.policies.attention import AttentionPolicy
from sestra.policies.ensemble import Ensemble
from sestra.policies.objects import ObjectPolicy
from sestra.worlds.tables import Tables

__all__ = ["AttentionPolicy", "Ensemble", "ObjectPolicy", "make_policy"]


def make_policy(config: PolicyConfig, tables: Tables, words: int) -> AttentionPolicy | ObjectPolicy:
    """A policy with fresh weights, for a world and a number of known words."""
    if isinstance(config, ObjectConfig):
        return ObjectPolicy(config, tables, words)
    return AttentionPolicy(config, tables, words)

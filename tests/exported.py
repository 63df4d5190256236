"""Policies as ONNX Runtime executes them."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from sestra.agent.folder import Graphs
from sestra.agent.runtime import Ensemble, Network
from sestra.data.vocabulary import Vocabulary
from sestra.learning.export import random_turns
from sestra.learning.graphs import export_policy
from sestra.learning.policies.base import Policy
from sestra.worlds.tables import Tables


def graphs_of(policy: Policy, tables: Tables, vocabulary: Vocabulary, structure: Hashable) -> Graphs:
    """The policy's graphs; tracing takes seconds for the first policy of a structure, and no time for the others."""
    generator = np.random.default_rng(0)
    first, second = (random_turns(tables, vocabulary, *sizes, generator) for sizes in ((3, 3, 4), (5, 4, 6)))
    return export_policy(policy.eval().requires_grad_(False), first, second, tables.actions, structure)


def network_of(policy: Policy, tables: Tables, vocabulary: Vocabulary, structure: Hashable) -> Network:
    graphs = graphs_of(policy, tables, vocabulary, structure)
    return Network(graphs.encode, graphs.step, "the exported policy")


def runtime_of(policy: Policy, tables: Tables, vocabulary: Vocabulary, structure: Hashable) -> Ensemble:
    """An agent's runtime with one network."""
    return Ensemble([network_of(policy, tables, vocabulary, structure)])

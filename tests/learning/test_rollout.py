"""Rollouts keep nothing: what is encoded stays as it is, and gradients do not depend on how the batch was computed."""

from __future__ import annotations

import copy

import pytest
import torch
from lamps import Lamps, interactions
from plain_policy import PlainPolicy

from sestra.data.batch import encode_turns
from sestra.data.vocabulary import Vocabulary
from sestra.learning.decoding import forced
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.policies.base import Inputs, Policy
from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.rollout import roll_out
from sestra.worlds.tables import Tables

TABLES = Tables(Lamps())
DATA = interactions(6, seed=1)
VOCABULARY = Vocabulary.of((text for each in DATA for text in each.instructions), at_least=1)
TURNS = encode_turns(DATA, VOCABULARY, TABLES)
HORIZON = 4
MAKE = {
    "plain": lambda: PlainPolicy(TABLES, VOCABULARY, 8),
    "attention": lambda: AttentionConfig(embedding=4, hidden=6).build(TABLES, VOCABULARY),
    "objects": lambda: ObjectConfig(embedding=6, size=16, heads=2, dropout=0.0).build(TABLES, VOCABULARY),
}


@pytest.fixture(params=MAKE)
def policy(request) -> Policy:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return MAKE[request.param]().train()


def some_actions(seed: int) -> torch.Tensor:
    """Executions of every length, ``[batch, horizon]``."""
    actions = torch.randint(TABLES.stop, (len(TURNS), HORIZON), generator=torch.Generator().manual_seed(seed))
    for row in range(len(TURNS)):
        actions[row, (row + seed) % (HORIZON + 1) :] = TABLES.stop
    return actions


def total(policy: Policy, seed: int, **settings) -> torch.Tensor:
    execution = roll_out(policy, TABLES, TURNS, HORIZON, forced(some_actions(seed)), **settings)
    weights = torch.randn(execution.log_probs.shape, generator=torch.Generator().manual_seed(seed))
    return (execution.log_probs * weights)[execution.alive].sum()


def gradients(policy: Policy, *totals: torch.Tensor) -> dict[str, torch.Tensor]:
    names, parameters = zip(*policy.named_parameters(), strict=True)
    found = torch.autograd.grad(sum(totals), parameters, retain_graph=True, allow_unused=True)
    return {name: gradient for name, gradient in zip(names, found, strict=True) if gradient is not None}


def test_two_rollouts_from_one_encoding_learn_as_from_fresh_ones(policy, monkeypatch):
    """Each alone, in any order, and both together: nothing is kept between calls."""
    fresh = {seeds: gradients(policy, *(total(policy, seed) for seed in seeds)) for seeds in ((1,), (2,), (1, 2))}
    encoded = policy.encode(Inputs.of(TURNS))
    monkeypatch.setattr(policy, "encode", lambda _inputs: encoded)
    first, second, again = (total(policy, seed) for seed in (1, 2, 1))
    assert torch.equal(first, again)
    for seeds, totals in (((2,), [second]), ((1,), [first]), ((1,), [again]), ((1, 2), [again, second])):
        assert_close(gradients(policy, *totals), fresh[seeds])


def assert_close(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_a_rollout_leaves_what_is_encoded_and_the_policy_as_they_were(policy, monkeypatch):
    encoded = policy.encode(Inputs.of(TURNS))
    monkeypatch.setattr(policy, "encode", lambda _inputs: encoded)
    before, weights, attributes = copy.deepcopy(tensors(encoded)), copy.deepcopy(policy.state_dict()), set(vars(policy))
    total(policy, 1).backward()
    after = tensors(encoded)
    assert len(after) == len(before) > 0
    assert all(torch.equal(one, other) for one, other in zip(after, before, strict=True))
    assert all(torch.equal(value, weights[name]) for name, value in policy.state_dict().items())
    assert set(vars(policy)) == attributes


def tensors(values) -> list[torch.Tensor]:
    """All tensors of nested tuples, lists, dicts and dataclasses, without their gradients."""
    if isinstance(values, torch.Tensor):
        return [values.detach()]
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, tuple | list):
        values = vars(values).values() if hasattr(values, "__dict__") else ()
    return [tensor for value in values for tensor in tensors(value)]


@pytest.mark.parametrize("compact_below", [0.8, 1.01])
def test_compaction_changes_no_gradient(policy, compact_below):
    expected = gradients(policy, total(policy, 1, compact_below=0.0))
    assert len(expected) > 5
    assert_close(gradients(policy, total(policy, 1, compact_below=compact_below)), expected)

"""A policy that is nothing but ``encode`` and ``step``: it learns, and is used as any other is."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from exported import network_of
from lamps import Lamps, interactions
from numpy.typing import NDArray
from plain_policy import PlainPolicy
from small_runs import measure

from sestra.agent import Agent, decoding
from sestra.agent.folder import About
from sestra.agent.runtime import Ensemble, Network
from sestra.data.batch import Turns, batches, encode_turns
from sestra.data.vocabulary import Vocabulary
from sestra.learning.decoding import forced, greedy, sampled
from sestra.learning.learners.base import average
from sestra.learning.learners.sestra import Sestra
from sestra.learning.policies.base import DeferredGradients, IndependentSteps, SelectsMemory
from sestra.learning.progress import Permutations
from sestra.learning.rollout import roll_out
from sestra.worlds import WORLDS
from sestra.worlds.reward import rewards
from sestra.worlds.tables import Integers, Tables

TABLES = Tables(Lamps())
VOCABULARY = Vocabulary(("light", "put", "out", "it", "one", "two", "three", "red", "green"))
HORIZON = 4


def make(seed: int = 0) -> PlainPolicy:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return PlainPolicy(TABLES, VOCABULARY)


def turns_of(count: int, seed: int) -> Turns:
    return encode_turns(interactions(count, seed=seed), VOCABULARY, TABLES)


def test_it_has_none_of_the_optional_protocols():
    for protocol in (SelectsMemory, DeferredGradients, IndependentSteps):
        assert not isinstance(make(), protocol)


def objective(policy: PlainPolicy, turns: Turns, choose, **settings) -> torch.Tensor:
    execution = roll_out(policy, TABLES, turns, HORIZON, choose, **settings)
    states = execution.states.numpy()
    observed = rewards(TABLES, states, np.broadcast_to(turns.goal, states.shape), verbosity=0.0)
    return average(Sestra(entropy=0.1).objective(execution, torch.from_numpy(observed)), execution, "per-execution").mean()


def test_gradients_go_through_compaction(monkeypatch):
    """Executions of every length leave the batch one after the other; what they had in memory learns as if they had stayed."""
    turns = turns_of(8, seed=1)  # 16 turns
    actions = torch.randint(TABLES.stop, (len(turns), HORIZON), generator=torch.Generator().manual_seed(1))
    for row in range(len(turns)):
        actions[row, row % HORIZON + 1 :] = TABLES.stop
    actions[0] = TABLES.stop  # lengths from 1 to the horizon
    sizes: list[int] = []
    step = PlainPolicy.step

    def counted(self, memory, carry, states, previous, **how):
        sizes.append(len(states))
        return step(self, memory, carry, states, previous, **how)

    monkeypatch.setattr(PlainPolicy, "step", counted)
    gradients, scored = [], []
    for settings in ({"compact_below": 0.0}, {}, {"compact_below": 1.01}):
        policy = make()
        sizes.clear()
        objective(policy, turns, forced(actions), **settings).backward()
        gradients.append({name: parameter.grad for name, parameter in policy.named_parameters()})
        scored.append(list(sizes))
    assert scored[0] == [16] * HORIZON
    assert scored[1] == [16, 16, 12, 8]
    assert scored[2] == [16, 15, 12, 8]
    for name, expected in gradients[0].items():
        assert expected.any(), name
        for compacted in gradients[1:]:
            torch.testing.assert_close(compacted[name], expected, msg=lambda text, name=name: f"{name}: {text}")


@pytest.fixture(scope="module")
def learnt() -> PlainPolicy:
    """Trained with SESTRA by nothing but its objective and Adam."""
    policy, train, generator = make(), turns_of(300, seed=1), torch.Generator().manual_seed(0)
    optimiser = torch.optim.Adam(policy.parameters(), 0.005)
    for _ in range(12):
        for batch in batches(train, 50, Permutations(generator).replayed()):
            optimiser.zero_grad()
            (-objective(policy, batch, sampled(generator))).backward()
            optimiser.step()
    return policy.eval()


def test_it_learns(learnt):
    unseen = turns_of(100, seed=2)
    assert measure(make().eval(), TABLES, unseen).inst.percent < 40
    assert measure(learnt, TABLES, unseen).inst.percent > 90


@pytest.fixture(scope="module")
def networks(learnt) -> list[Network]:
    """The trained policy, and one with fresh weights."""
    return [network_of(policy, TABLES, VOCABULARY, "plain") for policy in (learnt, make(1))]


def test_it_can_be_a_member_of_an_ensemble(networks):
    turns = turns_of(20, seed=3)
    both, *each = (Ensemble(some) for some in (networks, networks[:1], networks[1:]))
    together = decoding.roll_out(both, TABLES, turns, HORIZON, decoding.sampled(np.random.default_rng(1)))
    alive = together.alive
    assert not alive.all(), "some have ended before others"
    alone = [decoding.roll_out(one, TABLES, turns, HORIZON, decoding.forced(together.actions.T)) for one in each]
    mean = np.exp([one.log_probs for one in alone]).mean(0)
    np.testing.assert_allclose(np.exp(together.log_probs)[alive], mean[alive], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("members", [1, 2])
def test_it_can_be_beam_searched(networks, members):
    turns, runtime = turns_of(20, seed=3), Ensemble(networks[:members])
    execution = decoding.roll_out(runtime, TABLES, turns, HORIZON, decoding.greedy)
    narrow, wide = (decoding.beam_search(runtime, TABLES, turns, HORIZON, width) for width in (1, 4))
    assert np.array_equal(narrow[:, : len(execution.actions)], execution.actions.T)
    assert log_probability(runtime, turns, wide).mean() >= log_probability(runtime, turns, narrow).mean()


def log_probability(runtime: Ensemble, turns: Turns, actions: Integers) -> NDArray[np.float32]:
    execution = decoding.roll_out(runtime, TABLES, turns, HORIZON, decoding.forced(actions))
    taken = np.take_along_axis(execution.log_probs, execution.actions[..., None], -1)[..., 0]  # [steps, batch]
    return (taken * execution.alive).sum(0)  # [batch]


@pytest.mark.parametrize("how", ["greedy", "sample", "beam"])
@pytest.mark.parametrize("members", [1, 2])
def test_an_agent_may_have_it(networks, monkeypatch, how, members):
    """Its trace has no attention."""
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)
    agent = Agent(Ensemble(networks[:1] * members), TABLES, VOCABULARY, About("lamps", 5, 0.0), "plain")
    given = [("1:_ 2:r 3:_", ["light three green", "put out two"]), ("1:g 2:_ 3:_", ["light two red"])]
    traces = [agent.follow(*given[0], how=how, seed=1), *agent.follow_many(given, how=how, seed=1)]
    if how != "sample":
        assert [trace.final_state for trace in traces] == ["1:_ 2:_ 3:g", "1:_ 2:_ 3:g", "1:g 2:r 3:_"]
    steps = [step for trace in traces for turn in trace.turns for step in turn.steps]
    assert len(steps) >= 5
    assert all(step.attention == () for step in steps)


class Attentive(PlainPolicy):
    """Has modules with the names of the optional capabilities' methods, and none of these."""

    def __init__(self) -> None:
        super().__init__(TABLES, VOCABULARY, 8)
        self.attention = self.select = self.replay = self.score_steps = torch.nn.Linear(2, 2)


def test_a_capability_is_declared_not_guessed_from_names():
    turns = encode_turns(interactions(4, seed=1), VOCABULARY, TABLES)
    execution = roll_out(Attentive(), TABLES, turns, 3, greedy, compact_below=1.01)
    assert execution.log_probs.requires_grad

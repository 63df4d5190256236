"""The search for final states, held to sampling and to the policy's own probabilities."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from agents import random_agent

from sestra.agent.decoding import greedy, roll_out, sampled
from sestra.agent.outcomes import outcomes
from sestra.data.batch import encode_turns
from sestra.data.synthetic import generate

HORIZON = 4
SAMPLES = 4000


@pytest.mark.parametrize("world", ["scene", "tangrams"])
def test_probabilities_are_those_of_samples(world: str) -> None:
    agent = random_agent(world)
    turns = encode_turns(generate(world, 1, seed=4), agent.vocabulary, agent.tables).select(np.array([1]))
    [found] = outcomes(agent._runtime, agent.tables, turns, HORIZON)
    many = turns.select(np.zeros(SAMPLES, np.int64))
    execution = roll_out(agent._runtime, agent.tables, many, HORIZON, sampled(np.random.default_rng(1)))
    ended = Counter(map(tuple, execution.final[execution.stopped].tolist()))
    likely = [outcome for outcome in found if outcome.probability > 0.05]
    assert likely
    for outcome in likely:
        assert -0.03 < ended[outcome.state] / SAMPLES - outcome.probability < 0.08, "improbable ways are not looked for"


def test_the_most_probable_first_and_their_actions_lead_there() -> None:
    agent = random_agent("alchemy")
    tables, turns = agent.tables, encode_turns(generate("alchemy", 4, seed=6), agent.vocabulary, agent.tables)
    for row, found in enumerate(outcomes(agent._runtime, tables, turns, HORIZON)):
        assert [each.probability for each in found] == sorted((each.probability for each in found), reverse=True)
        assert sum(each.probability for each in found) <= 1 + 1e-6
        for outcome in found:
            assert outcome.actions[-1] == tables.stop
            state = turns.initial[row : row + 1]
            for action in outcome.actions:
                state = tables.step(state, np.array([action]))
            assert tuple(state[0].tolist()) == outcome.state


def test_turns_in_a_batch_do_not_meddle_with_each_other() -> None:
    agent = random_agent("tangrams")
    turns = encode_turns(generate("tangrams", 2, seed=8), agent.vocabulary, agent.tables)
    together = outcomes(agent._runtime, agent.tables, turns, HORIZON)
    for row in range(len(turns)):
        [alone] = outcomes(agent._runtime, agent.tables, turns.select(np.array([row])), HORIZON)
        assert [each.state for each in alone[:3]] == [each.state for each in together[row][:3]]
        assert [each.probability for each in alone[:3]] == pytest.approx([each.probability for each in together[row][:3]], rel=1e-4)


def test_the_greedy_end_is_among_them() -> None:
    agent = random_agent("scene")
    turns = encode_turns(generate("scene", 3, seed=8), agent.vocabulary, agent.tables)
    execution = roll_out(agent._runtime, agent.tables, turns, HORIZON, greedy)
    for row, found in enumerate(outcomes(agent._runtime, agent.tables, turns, HORIZON)):
        if execution.stopped[row]:
            assert tuple(execution.final[row].tolist()) in {each.state for each in found}

"""Confidence that says how often an agent is right."""

from __future__ import annotations

import numpy as np
import pytest
from agents import random_agent

from sestra.agent.calibration import Calibration, calibration_error, execution_probabilities, highest_caution, measure
from sestra.agent.decoding import forced, roll_out
from sestra.data.batch import encode_turns
from sestra.data.synthetic import generate


def draws(slope: float, intercept: float, count: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and whether executions were right, as often as the scaling says."""
    generator = np.random.default_rng(3)
    probabilities = generator.uniform(0.01, 0.99, count)
    return probabilities, generator.random(count) < Calibration(slope, intercept).confidence(probabilities)


@pytest.mark.parametrize(("slope", "intercept"), [(1.0, 0.0), (0.5, -0.7), (1.8, 1.2)])
def test_the_scaling_is_found_again(slope: float, intercept: float) -> None:
    probabilities, right = draws(slope, intercept)
    fitted = Calibration.fit(probabilities, right)
    assert fitted.slope == pytest.approx(slope, abs=0.05)
    assert fitted.intercept == pytest.approx(intercept, abs=0.05)


def test_calibration_lowers_the_error() -> None:
    probabilities, right = draws(0.5, -0.7)
    before = calibration_error(probabilities, right)
    after = calibration_error(Calibration.fit(probabilities, right).confidence(probabilities), right)
    assert before > 0.1 > 0.02 > after


def test_the_error_by_hand() -> None:
    confidences, right = np.array([0.95, 0.85, 0.15, 0.11]), np.array([True, False, False, True])
    assert calibration_error(confidences, right) == pytest.approx((0.05 + 0.85 + abs(0.26 - 1)) / 4)


@pytest.mark.parametrize("right", [True, False])
def test_all_right_or_all_wrong_is_no_obstacle(right: bool) -> None:
    fitted = Calibration.fit(np.array([0.2, 0.9, 1.0, 0.0]), np.full(4, right))
    assert all(np.isfinite([fitted.slope, fitted.intercept]))
    assert 0 <= fitted.caution <= 1


def test_its_caution_refuses_at_most_one_in_a_hundred_of_what_is_right() -> None:
    probabilities, right = draws(1.5, 0.5, 1000)
    fitted = Calibration.fit(probabilities, right)
    confidences = fitted.confidence(probabilities)
    assert (confidences[right] < fitted.caution).mean() <= 0.01
    assert (confidences[right] < fitted.caution + 0.02).mean() > 0.01, "a higher caution would have been possible"
    assert (confidences[~right] < fitted.caution).mean() > 0.01


def test_the_highest_caution_by_hand() -> None:
    confidences = np.linspace(0, 0.99, 100)
    assert highest_caution(confidences, np.full(100, True), refused=0.05) == pytest.approx(0.05)
    assert highest_caution(confidences, np.full(100, False)) == 0


def test_actions_in_another_order_count_for_the_same_final_state() -> None:
    """The probability of an execution is the product of the shares of all actions that lead to its end, by brute force."""
    agent = random_agent("scene")
    tables = agent.tables
    interactions = generate("scene", 6, seed=9)
    turns = encode_turns(interactions, agent.vocabulary, tables)
    actions = tables.demonstrate(turns.initial, turns.goal)
    execution = roll_out(agent._runtime, tables, turns, actions.shape[1], forced(actions))
    found = execution_probabilities(tables, execution)
    for row in range(len(turns)):
        product = 1.0
        for step in range(execution.lengths[row]):
            state, final = execution.states[step, row], execution.final[row]
            togo = tables.steps_to_go(state, final)
            shares = np.exp(execution.log_probs[step, row].astype(float))
            closer = [
                tables.steps_to_go(tables.step(state[None], np.array([action]))[0], final) == togo - 1 for action in range(tables.stop)
            ]
            product *= shares[:-1][closer].sum() if togo else shares[-1]
        assert found[row] == pytest.approx(product, rel=1e-5)
    one = np.exp(np.take_along_axis(execution.log_probs, execution.actions[..., None], -1)[..., 0] * execution.alive).prod(0)
    assert (found >= one - 1e-6).all()
    assert (found > one + 1e-6).any()


def test_what_is_measured() -> None:
    agent = random_agent("tangrams")
    turns = encode_turns(generate("tangrams", 10, seed=2), agent.vocabulary, agent.tables)
    measured = measure(agent.execute, agent.tables, turns, 16)
    assert len(measured.right) == len(measured.probabilities) == len(turns)
    assert sorted(set(measured.interaction.tolist())) == list(range(10))
    assert 0 <= measured.unseen_error() <= 1

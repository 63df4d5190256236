"""Calibrated confidence: how probable it is that what an agent did is what was meant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sestra.agent.evaluation import Execute, executions
from sestra.agent.execution import Execution
from sestra.data.batch import Turns
from sestra.worlds.tables import Flags, Integers, Tables

Floats = NDArray[np.float64]

REFUSED_AT_MOST = 0.01
"""Of what an agent follows rightly on validation, the fraction that its own caution may refuse."""
MAX_LOGIT = 12.0
NEWTON_STEPS = 100
PRIOR = 1.0
"""The precision of the Gaussian around no scaling that keeps a fit to little data near it."""
BINS, FOLDS = 10, 5


@dataclass(frozen=True)
class Calibration:
    """Platt scaling, fitted on validation, and the confidence below which an agent does not act."""

    slope: float = 1.0
    intercept: float = 0.0
    caution: float = 0.0

    def confidence(self, probabilities: Floats) -> Floats:
        """The probability that an execution is right, given what the policy's probabilities say of it."""
        return _sigmoid(self.slope * _logit(probabilities) + self.intercept)

    @classmethod
    def fit(cls, probabilities: Floats, right: Flags) -> Calibration:
        """The scaling that is most likely, given that scalings near none are; the caution is the highest that refuses at most one in a
        hundred of the executions that were right.
        """
        scores, none = _logit(probabilities), np.array([1.0, 0.0])
        inputs = np.stack([scores, np.ones_like(scores)], 1)  # [executions, 2]
        weights = none.copy()
        for _ in range(NEWTON_STEPS):
            predicted = _sigmoid(inputs @ weights)
            gradient = inputs.T @ (predicted - right) + PRIOR * (weights - none)  # [2]
            curvature = (inputs * (predicted * (1 - predicted))[:, None]).T @ inputs + PRIOR * np.eye(2)  # [2, 2]
            change = np.linalg.solve(curvature, gradient).clip(-1, 1)
            weights -= change
            if np.abs(change).max() < 1e-9:
                break
        fitted = cls(round(float(weights[0]), 6), round(float(weights[1]), 6))
        return cls(fitted.slope, fitted.intercept, round_down(highest_caution(fitted.confidence(probabilities), right)))


@dataclass(frozen=True)
class Measured:
    """Single instructions from their annotated start states, executed greedily."""

    probabilities: Floats  # [instructions]: of the final states, by the policy
    right: Flags  # [instructions]
    interaction: Integers  # [instructions]: which one it is of

    def fit(self) -> Calibration:
        return Calibration.fit(self.probabilities, self.right)

    def unseen_error(self) -> float:
        """The expected calibration error where the instructions of each fold of the interactions are scaled as the others suggest."""
        confidences = np.empty_like(self.probabilities)
        for fold in range(FOLDS):
            held_out = self.interaction % FOLDS == fold  # [instructions]
            fitted = Calibration.fit(self.probabilities[~held_out], self.right[~held_out])
            confidences[held_out] = fitted.confidence(self.probabilities[held_out])
        return calibration_error(confidences, self.right)


def measure(execute: Execute, tables: Tables, turns: Turns, batch_size: int) -> Measured:
    """Execute instructions from their annotated starts."""
    parts = [
        (execution_probabilities(tables, execution), (execution.final == batch.goal).all(-1), batch.interaction)
        for batch, execution in executions(execute, turns, batch_size)
    ]
    probabilities, right, interaction = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Measured(probabilities, right, interaction)


def round_down(value: float) -> float:
    return float(np.floor(value * 1e4) / 1e4)


def highest_caution(confidences: Floats, right: Flags, refused: float = REFUSED_AT_MOST) -> float:
    """The highest caution that refuses at most this fraction of the executions that were right."""
    kept = np.sort(confidences[right])
    return float(kept[int(refused * len(kept))]) if len(kept) else 0.0


def execution_probabilities(tables: Tables, execution: Execution) -> Floats:
    """How probable it is that the policy ends where each execution ended, ``[batch]``.

    The same changes can be made in several orders. So what counts at each step is not the action alone that was taken, but all actions that
    lead to the same final state on a shortest way.
    """
    goals = np.broadcast_to(execution.final, execution.states.shape)  # [steps, batch, slots]
    counted = tables.optimal_actions(execution.states, goals)  # [steps, batch, actions]
    np.put_along_axis(counted, execution.actions[..., None], True, -1)
    shares = np.where(counted, np.exp(execution.log_probs.astype(np.float64)), 0.0).sum(-1)  # [steps, batch]
    product: Floats = np.where(execution.alive, shares, 1.0).prod(0)
    return np.minimum(product, 1.0)


def calibration_error(confidences: Floats, right: Flags, bins: int = BINS) -> float:
    """The expected calibration error (Naeini et al. 2015), with bins of equal width."""
    places = np.minimum((confidences * bins).astype(np.int64), bins - 1)
    gaps = [abs(float(confidences[places == each].sum() - right[places == each].sum())) for each in range(bins)]
    return sum(gaps) / max(len(right), 1)


def _logit(probabilities: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        found: Floats = np.log(probabilities) - np.log1p(-probabilities)
    return found.clip(-MAX_LOGIT, MAX_LOGIT)


def _sigmoid(scores: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-scores.clip(-500, 500)))
    return found

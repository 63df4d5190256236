"""How well an agent's confidence says how often it is right, and what a level of caution refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sestra.agent.calibration import BINS, Calibration, Floats, Measured, calibration_error
from sestra.io import replacing
from sestra.metrics import Accuracy
from sestra.worlds.tables import Flags

CURVE = tuple(round(0.05 * number, 2) for number in range(20))
"""The levels of caution whose effect is reported."""


def refusals(confidences: Floats, right: Flags, caution: float) -> dict[str, Any]:
    """What a level of caution refuses, and how often the agent is right in what is left."""
    refused = confidences < caution  # [instructions]
    return {
        "caution": caution,
        "refused_right": Accuracy.of(refused[right]).rounded.percent,
        "refused_wrong": Accuracy.of(refused[~right]).rounded.percent if (~right).any() else None,
        "right_of_followed": Accuracy.of(right[~refused]).rounded.percent if (~refused).any() else None,
    }


def report(measured: Measured, calibration: Calibration) -> dict[str, Any]:
    """Figures of a calibration; percentages, but for the calibration itself."""
    confidences = calibration.confidence(measured.probabilities)
    return {
        "instructions": len(measured.right),
        "right": Accuracy.of(measured.right).rounded.percent,
        "calibration": vars(calibration),
        "calibration_error": {
            "as_they_are": round(100 * calibration_error(measured.probabilities, measured.right, BINS), 2),
            "calibrated": round(100 * calibration_error(confidences, measured.right, BINS), 2),
            "cross_validated": round(100 * measured.unseen_error(), 2),
        },
        "at_its_caution": refusals(confidences, measured.right, calibration.caution),
        "curve": [refusals(confidences, measured.right, caution) for caution in CURVE],
    }


def draw(measured: Measured, calibration: Calibration, title: str, path: Path) -> None:
    """The reliability diagram, and what each level of caution refuses."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "sestra"  # the same figures give the same file
    from matplotlib import pyplot

    confidences = calibration.confidence(measured.probabilities)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    edges = np.linspace(0, 1, BINS + 1)
    for values, label, style in ((measured.probabilities, "as they are", "--"), (confidences, "calibrated", "-")):
        places = np.minimum((values * BINS).astype(np.int64), BINS - 1)
        filled = [each for each in range(BINS) if (places == each).any()]
        shown = [values[places == each].mean() for each in filled], [measured.right[places == each].mean() for each in filled]
        left.plot(*shown, style, marker="o", label=label)
    left.plot([0, 1], [0, 1], color="#7F7F7F", linewidth=1)
    left.set(xlabel="confidence", ylabel="fraction that is right", xticks=edges[::2], title="Reliability")
    left.legend()
    grid = np.linspace(0, 1, 201)
    for chosen, label in ((measured.right, "of what is right"), (~measured.right, "of what is wrong")):
        if chosen.any():
            right.plot(grid, [100 * (confidences[chosen] < each).mean() for each in grid], label=label)
    right.axvline(calibration.caution, color="#7F7F7F", linestyle=":", label=f"its caution, {calibration.caution:.2f}")
    right.set(xlabel="caution", ylabel="refused, %", title="Refusals")
    right.legend()
    figure.suptitle(title)
    with replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], metadata={"Date": None, "Creator": "sestra"} if path.suffix == ".svg" else None)
    pyplot.close(figure)

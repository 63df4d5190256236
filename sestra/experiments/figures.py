"""Figures of the finished runs: learning curves (the paper's Figure 4, and all learners), accuracy by turn and by parameters."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sestra.errors import InputError
from sestra.experiments.aggregate import Group, Record, cell, config_of, kind_of, paper
from sestra.experiments.grid import SYSTEMS, WORLDS_OF_PAPER, describe
from sestra.io import replacing
from sestra.learning.config import Preset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES: dict[str, tuple[str, str, str]] = {
    "sestra": ("#0072B2", "o", "-"),
    "supervised": ("#000000", "s", "-"),
    "policy-gradient": ("#D55E00", "v", "--"),
    "contextual-bandit": ("#E69F00", "^", "--"),
    "without-previous-instructions": ("#CC79A7", "D", ":"),
    "without-states": ("#7F7F7F", "X", ":"),
    "without-current-state": ("#56B4E9", "P", ":"),
    "without-initial-state": ("#009E73", "d", ":"),
    "objects": ("#5D3A9B", "*", "-"),
}
"""Colour (Okabe and Ito's), marker and line style of each system.

Distilled object policies are not drawn: they would hide the others."""
SAME_NETWORK = ("supervised", "policy-gradient", "contextual-bandit")
"""Systems with SESTRA's network, which differ in the learner alone."""
SEEDS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
WIDTH = 9.0
"""Inches: text of 11 points is then legible at the width of a README."""


def write_figures(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write the figures that there are runs for; the same runs give the same files."""
    try:
        import matplotlib as mpl

        mpl.use("Agg")
    except ImportError as error:
        raise InputError(
            "figures need the package matplotlib; install it with: pip install 'sestra[plot]', or give --no-figures"
        ) from error
    scone = [record for record in records if kind_of(record) == "scone"]
    style: dict[Any, Any] = {
        "font.size": 11, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#E6E6E6",
        "axes.axisbelow": True, "figure.facecolor": "white", "savefig.facecolor": "white", "svg.hashsalt": "sestra",
        "legend.frameon": False,
    }  # fmt: skip
    written = []
    with mpl.rc_context(style):
        for name, draw in FIGURES.items():
            figure = draw(scone)
            if figure is not None:
                written.append(folder / f"{name}.svg")
                with replacing(written[-1]) as temporary:
                    figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
    return written


def _figure(columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    made = figure.subplots(1, columns, squeeze=False, **options)
    return figure, list(made[0])


def learning_curves(records: Sequence[Record]) -> Figure | None:
    """Training accuracy of single instructions by epoch, in Scene: the paper's five runs beside ours."""
    world = paper()["learning"]["world"]
    ours = [(preset, found) for preset in get_args(Preset) if (found := cell(records, world, "sestra", preset))]
    if not ours:
        return None
    figure, (first, *others) = _figure(1 + len(ours), 3.4, sharey=True)
    curves = paper()["learning"]["curves"]
    for curve, colour in zip(curves, SEEDS, strict=True):
        first.plot(curve["epochs"], curve["train_inst"], color=colour, linewidth=1.6)
    first.set_title(f"the paper's {paper()['learning']['where']}: {len(curves)} runs", fontsize=11)
    first.set_ylabel("instructions followed\nin training, %")
    for axes, (preset, group) in zip(others, ours, strict=True):
        for number, record in enumerate(group.records):
            accuracies = record["curve"]["train_inst"]
            colour = SEEDS[number % len(SEEDS)]
            axes.plot(range(1, len(accuracies) + 1), accuracies, color=colour, linewidth=1.6, label=f"seed {record['seed']}")
        settings = textwrap.fill(_settings(preset, group), 100 // (1 + len(ours)))
        axes.set_title(f"ours: {group.seeds} run{'s' * (group.seeds > 1)}\n{settings}", fontsize=11)
        axes.legend(loc="lower right")
    for axes in (first, *others):
        axes.set_xlabel("epoch")
        axes.set_xlim(left=0)
        axes.set_ylim(0, 100)
    return figure


def _settings(preset: Preset, group: Group) -> str:
    """The settings of the runs, in a few words."""
    of_preset = "the paper's settings" if preset == "paper" else "our default settings"
    settings = config_of(group.records[0]).optimisation
    warm_up = round(settings.warm_up * settings.epochs)
    begin = f"{of_preset}, with {warm_up} epochs of warm-up" if warm_up else of_preset
    return f"{begin}, but {describe(group.different)}" if group.different else begin


def learners(records: Sequence[Record]) -> Figure | None:
    """Validation accuracy of single instructions by epoch, of each learner's best run by validation."""
    figure, panels = _figure(len(WORLDS_OF_PAPER), 3.8, sharey=True)
    drawn: dict[str, Any] = {}
    for axes, world in zip(panels, WORLDS_OF_PAPER, strict=True):
        for system in ("sestra", *SAME_NETWORK):
            group = cell(records, world, system)
            if group:
                colour, marker, line = STYLES[system]
                accuracies = group.best()["curve"]["inst"]
                [drawn[system]] = axes.plot(
                    range(1, len(accuracies) + 1), accuracies, color=colour, marker=marker, linestyle=line, linewidth=1.6, markersize=4
                )
        axes.set_xlim(left=0)
    return _worlds(figure, panels, drawn, "epoch", "single instructions\nof validation, %")


def by_turn(records: Sequence[Record]) -> Figure | None:
    """Accuracy of single instructions on dev by their place in the interaction, of every system's best run by validation."""
    figure, panels = _figure(len(WORLDS_OF_PAPER), 5.0, sharey=True)
    drawn: dict[str, Any] = {}
    for axes, world in zip(panels, WORLDS_OF_PAPER, strict=True):
        for system, (colour, marker, line) in STYLES.items():
            group = cell(records, world, system)
            turns = group.best()["splits"].get("dev", {}).get("by_turn") if group else None
            if turns:
                width, above = (2.4, 3) if system == "sestra" else (1.5, 2)
                [drawn[system]] = axes.plot(
                    range(1, len(turns) + 1),
                    turns,
                    color=colour,
                    marker=marker,
                    linestyle=line,
                    linewidth=width,
                    markersize=6,
                    zorder=above,
                    clip_on=False,
                )
        axes.set_xticks(range(1, 6))
    return _worlds(figure, panels, drawn, "turn", "single instructions\non dev, %")


def parameters(records: Sequence[Record]) -> Figure | None:
    """Whole interactions on dev by the number of weights, of the networks that differ: best runs by validation, with 95% intervals."""
    figure, panels = _figure(len(WORLDS_OF_PAPER), 4.3, sharey=True)
    drawn: dict[str, Any] = {}
    for axes, world in zip(panels, WORLDS_OF_PAPER, strict=True):
        for system, (colour, marker, _) in STYLES.items():
            if system in SAME_NETWORK:
                continue
            group = cell(records, world, system)
            accuracy = group.best_accuracy("dev", "utts5") if group else None
            if group and accuracy:
                percent, low, high = accuracy.estimate
                drawn[system] = axes.errorbar(
                    group.best()["parameters"] / 1000, percent, yerr=[[max(0.0, percent - low)], [max(0.0, high - percent)]],
                    color=colour, marker=marker, markersize=9, linestyle="", elinewidth=1.2, capsize=3,
                )  # fmt: skip
        axes.margins(x=0.15)
    return _worlds(figure, panels, drawn, "thousand parameters", "whole interactions\non dev, %")


def _worlds(figure: Figure, panels: Sequence[Axes], drawn: dict[str, Any], x: str, y: str) -> Figure | None:
    """Finish a figure with one panel per world: titles, axes, and a legend of the systems; None if nothing was drawn."""
    if not drawn:
        return None
    for axes, world in zip(panels, WORLDS_OF_PAPER, strict=True):
        axes.set_title(world.capitalize(), fontsize=11)
        axes.set_xlabel(x)
        axes.set_ylim(0, 100)
    panels[0].set_ylabel(y)
    names = [name for name in SYSTEMS if name in drawn]
    figure.legend([drawn[name] for name in names], [SYSTEMS[name].label for name in names], loc="outside lower center", ncols=3)
    return figure


FIGURES = {"learning-curves": learning_curves, "learners": learners, "accuracy-by-turn": by_turn, "parameters": parameters}
"""By file name."""

"""Figures of the finished runs: learning curves (the paper's Figure 4, and all learners), accuracy by turn, parameters and observations."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sestra.errors import InputError
from sestra.experiments.aggregate import Group, Record, cell, config_of, kind_of, paper
from sestra.experiments.grid import LEARNERS, SYSTEMS, WORLDS_OF_PAPER, describe
from sestra.experiments.verdicts import READINGS, Reading
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
OTHER_LEARNERS: dict[str, tuple[str, str, str]] = {
    "best-action": ("#56B4E9", "P", "-"),
    "actor-critic": ("#CC79A7", "D", "--"),
    "mean-actor-critic": ("#009E73", "d", "--"),
    "sestra-estimator": ("#5D3A9B", "*", "--"),
    "dagger": ("#7F7F7F", "X", "-"),
    "lols": ("#8C564B", "h", "-"),
}
"""The same of learners that are in the figure of observations only."""
OF_PAPER = ("sestra", "supervised", "policy-gradient", "contextual-bandit")
"""The paper's learners, whose network is the same."""
SEEDS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
SETTINGS: dict[Preset, str] = {
    "default": "our default settings",
    "paper": "the paper's settings",
    "authors": "the settings of the authors' program",
}
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


def _figure(columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """A row of panels with one vertical axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False, sharey=True)[0])


def learning_curves(records: Sequence[Record]) -> Figure | None:
    """Training accuracy of single instructions by epoch, in Scene: the paper's five runs beside ours."""
    world = paper()["learning"]["world"]
    ours = [(preset, found) for preset in get_args(Preset) if (found := cell(records, world, "sestra", preset))]
    if not ours:
        return None
    figure, (first, *others) = _figure(1 + len(ours), 3.4)
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
    settings = config_of(group.records[0]).optimisation
    warm_up_fraction = round(settings.warm_up_fraction * settings.epochs)
    begin = f"{SETTINGS[preset]}, with {warm_up_fraction} epochs of warm-up" if warm_up_fraction else SETTINGS[preset]
    return f"{begin}, but {describe(group.different)}" if group.different else begin


Draw = Callable[["Axes", str, Group], Any]
"""Draws a system's runs into a world's panel; what it returns stands in the legend, None if there was nothing to draw."""


def _by_world(records: Sequence[Record], systems: Iterable[str], draw: Draw, height: float, x: str, y: str) -> Figure | None:
    """A figure with one panel per world and a legend of the systems; None if nothing was drawn."""
    figure, panels = _figure(len(WORLDS_OF_PAPER), height)
    drawn: dict[str, Any] = {}
    for axes, world in zip(panels, WORLDS_OF_PAPER, strict=True):
        for system in systems:
            group = cell(records, world, system)
            if group and (made := draw(axes, system, group)) is not None:
                drawn[system] = made
        axes.set_title(world.capitalize(), fontsize=11)
        axes.set_xlabel(x)
        axes.set_ylim(0, 100)
    panels[0].set_ylabel(y)
    names = [name for name in SYSTEMS if name in drawn]
    figure.legend([drawn[name] for name in names], [SYSTEMS[name].label for name in names], loc="outside lower center", ncols=3)
    return figure if drawn else None


def _line(axes: Axes, system: str, percents: Sequence[float], **options: Any) -> Any:
    colour, marker, style = STYLES[system]
    [line] = axes.plot(range(1, len(percents) + 1), percents, color=colour, marker=marker, linestyle=style, **options)
    return line


def learners(records: Sequence[Record]) -> Figure | None:
    """Validation accuracy of single instructions by epoch, of each learner's best run by validation."""

    def draw(axes: Axes, system: str, group: Group) -> Any:
        line = _line(axes, system, group.best()["curve"]["inst"], linewidth=1.6, markersize=4)
        axes.set_xlim(left=0)
        return line

    return _by_world(records, OF_PAPER, draw, 3.8, "epoch", "single instructions\nof validation, %")


def by_turn(records: Sequence[Record]) -> Figure | None:
    """Accuracy of single instructions on dev by their place in the interaction, of every system's best run by validation."""

    def draw(axes: Axes, system: str, group: Group) -> Any:
        turns = group.best()["splits"].get("dev", {}).get("by_turn")
        if not turns:
            return None
        axes.set_xticks(range(1, 6))
        width, above = (2.4, 3) if system == "sestra" else (1.5, 2)
        return _line(axes, system, turns, linewidth=width, markersize=6, zorder=above, clip_on=False)

    return _by_world(records, STYLES, draw, 5.0, "turn", "single instructions\non dev, %")


def parameters(records: Sequence[Record]) -> Figure | None:
    """Whole interactions on dev by the number of weights, of the networks that differ: best runs by validation, with 95% intervals."""

    def draw(axes: Axes, system: str, group: Group) -> Any:
        accuracy = group.best_accuracy("dev", "utts5")
        if accuracy is None:
            return None
        percent, low, high = accuracy.estimate
        colour, marker, _ = STYLES[system]
        axes.margins(x=0.15)
        return axes.errorbar(
            group.best()["parameters"] / 1000, percent, yerr=[[max(0.0, percent - low)], [max(0.0, high - percent)]],
            color=colour, marker=marker, markersize=9, linestyle="", elinewidth=1.2, capsize=3,
        )  # fmt: skip

    systems = ["sestra", *(system for system in STYLES if system not in OF_PAPER)]
    return _by_world(records, systems, draw, 4.3, "thousand parameters", "whole interactions\non dev, %")


def observations(records: Sequence[Record]) -> Figure | None:
    """Validation accuracy of single instructions by the observations so far, with the paper's settings: text or program.

    Of the worlds and the two readings of the paper, the one with most learners is drawn.
    """
    curves = {(world, reading): _observed(records, world, reading) for reading in READINGS for world in WORLDS_OF_PAPER}
    (world, reading), drawn = max(curves.items(), key=lambda item: len(item[1]))
    if len(drawn) < 2:
        return None
    figure, [axes] = _figure(1, 4.6)
    for system, (observed, percents) in drawn.items():
        colour, marker, style = (STYLES | OTHER_LEARNERS)[system]
        label, every = SYSTEMS[system].label, max(1, len(percents) // 12)
        axes.plot(
            observed, percents, color=colour, marker=marker, linestyle=style, linewidth=1.6, markersize=5, markevery=every, label=label
        )
    axes.set_xscale("log")
    axes.set_ylim(0, 100)
    axes.set_title(f"{world.capitalize()}, the paper's network, {SETTINGS[reading]}", fontsize=11)
    axes.set_xlabel("observations: rewards of actions; for supervised learning and DAgger, actions of an oracle")
    axes.set_ylabel("single instructions\nof validation, %")
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _observed(records: Sequence[Record], world: str, reading: Reading) -> dict[str, tuple[list[int], list[float]]]:
    """Of each learner's best run by validation, observations up to each epoch and the accuracy then."""
    found = {}
    for system in LEARNERS:
        group = cell(records, world, system, reading)
        curve = group.best()["curve"] if group else {}
        if (counts := curve.get("observations")) and None not in counts:
            found[system] = (list(itertools.accumulate(counts)), curve["inst"])
    return found


FIGURES = {
    "learning-curves": learning_curves,
    "learners": learners,
    "accuracy-by-turn": by_turn,
    "parameters": parameters,
    "observations": observations,
}
"""By file name."""

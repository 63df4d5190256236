"""Whether our results agree with the paper's: of single cells, and of the differences between systems. Only comparable runs are judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from sestra.data.statistics import PAPER
from sestra.experiments.aggregate import Group, Record, cell, config_of, paper
from sestra.experiments.grid import OF_PAPER, SYSTEMS, WORLDS_OF_PAPER, describe, differences
from sestra.learning.config import Preset
from sestra.metrics import METRICS, Accuracy, Estimate, tenths

Reading = Literal["paper", "authors"]
READINGS: tuple[Reading, ...] = ("paper", "authors")
"""The presets whose settings are meant to be those of the paper's runs."""


def reproduced(records: Sequence[Record]) -> Iterator[list[str]]:
    """Table rows: of every row of the paper's Table 4, whether its figures lie in the 95% intervals of ours, under each reading."""
    for world in WORLDS_OF_PAPER:
        for name in OF_PAPER:
            yield [world, SYSTEMS[name].label, *(_agreement(cell(records, world, name, reading), world, name) for reading in READINGS)]


def _agreement(group: Group | None, world: str, system: str) -> str:
    if group is None:
        return "*pending*"
    if group.different:
        return f"not comparable: {describe(group.different)}"
    misses = []
    for number, (metric, label) in enumerate(METRICS.items()):
        accuracy = group.best_accuracy("dev", metric)
        if accuracy is None:
            return "*pending*"
        theirs, (percent, low, high) = paper()["dev"]["systems"][system][world][number], accuracy.estimate
        if not tenths(low) <= theirs <= tenths(high):
            misses.append(f"{label} {tenths(percent)} is {'higher' if percent > theirs else 'lower'} than {theirs}")
    seeds = f"{group.seeds} seed{'s' * (group.seeds > 1)}"
    return f"**no** ({seeds}): {', '.join(misses)}" if misses else f"**yes** ({seeds})"


def compare(records: Sequence[Record], preset: Preset) -> Iterator[list[str]]:
    """Table rows: every system against SESTRA, in the paper and here."""
    for world in WORLDS_OF_PAPER:
        sestra = cell(records, world, "sestra", preset)
        for name in OF_PAPER:
            if name == "sestra":
                continue
            theirs = _theirs(world, name) - _theirs(world, "sestra")
            group = cell(records, world, name, preset)
            mine, ours = _ours(group), _ours(sestra)
            if not (group and sestra and mine and ours):
                yield [world, SYSTEMS[name].label, _text(theirs), "*pending*", ""]
                continue
            found = mine - ours
            apart = incomparable(group, sestra)
            verdict = f"not comparable: {', '.join(apart)}" if apart else _verdict(theirs, found)
            yield [world, SYSTEMS[name].label, _text(theirs), _text(found), verdict]


def incomparable(group: Group, sestra: Group) -> list[str]:
    """Why a system's difference from SESTRA is not that of the paper: settings other than the grid's, or that differ between the two.

    A reading decides every setting of each system; in the default preset, runs may differ in what the system is about, and nothing else.
    """
    reasons = [f"{who}{describe(each.different)}" for who, each in (("", group), ("SESTRA's ", sestra)) if each.different]
    configs = [config_of(each.records[0]) for each in (sestra, group)]
    if configs[0].preset == "default" and not reasons:
        own = {"seed", *SYSTEMS[group.records[0]["system"]].settings, *(name for one in configs for name in vars(one.learner))}
        reasons = [f"other {name}" for name in differences(*configs) if name not in own]
    return reasons


def _ours(group: Group | None) -> Estimate | None:
    accuracy = group.best_accuracy("dev", "utts5") if group else None
    return accuracy.estimate if accuracy else None


def _theirs(world: str, system: str) -> Estimate:
    percent = paper()["dev"]["systems"][system][world][2]
    number = PAPER[world].sequences["dev"]
    return Estimate(percent, *Accuracy(round(percent / 100 * number), number).interval)


def _text(difference: Estimate) -> str:
    return difference.text("+").replace("-", "−")


def _verdict(theirs: Estimate, ours: Estimate) -> str:
    if theirs.sign == ours.sign:
        return "the same" if ours.sign else "no clear difference in either"
    if not ours.sign:
        return "clear in the paper only"
    return "clear in ours only" if not theirs.sign else "**the opposite**"

"""The paper's experiments, and those beside them, as data: which systems, in which worlds, with how many seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sestra.errors import InputError
from sestra.learning.config import Preset, TrainConfig, configure
from sestra.worlds import get_world

WORLDS_OF_PAPER = ("alchemy", "scene", "tangrams")


@dataclass(frozen=True)
class System:
    """A row of the paper's tables, or of those about other learners and the object policy's parts."""

    name: str
    label: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What it changes in the default settings."""
    distilled: bool = False
    """Whether the world's best agent is its teacher."""
    seeds: int = 5
    """How often the paper runs it (Section 7)."""
    in_paper: bool = True

    def config(self, world: str, seed: int, preset_name: Preset = "default", **changes: Any) -> TrainConfig:
        """The settings of one run of it."""
        chosen = {"world": world, "preset": preset_name, "seed": seed, "teacher": world if self.distilled else "", "min_updates": 0}
        return configure(chosen | {**self.settings, **changes})


def _without(name: str, label: str, *parts: str) -> System:
    return System(f"without-{name}", f"− {label}", {"learner": "sestra", **dict.fromkeys(parts, False)}, seeds=3)


OBJECTS = {"policy": "objects"}
BRIEF = {**OBJECTS, "epochs": 3, "ema_decay": 0.99, "generated": 0}
"""How the object policy's parts are compared: in short runs on the training data alone."""


def _part(name: str, label: str, **settings: Any) -> System:
    return System(f"objects-{name}", label, BRIEF | settings, seeds=1, in_paper=False)


def _learner(name: str, label: str) -> System:
    return System(name, label, {"learner": name}, seeds=1, in_paper=False)


SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System("supervised", "Supervised", {"learner": "supervised"}),
        System("policy-gradient", "PolicyGradient", {"learner": "policy-gradient"}),
        System("contextual-bandit", "ContextualBandit", {"learner": "contextual-bandit"}),
        System("sestra", "SESTRA", {"learner": "sestra"}),
        _without("previous-instructions", "previous instructions", "previous_instructions"),
        _without("states", "current and initial state", "current_state", "initial_state"),
        _without("current-state", "current state", "current_state"),
        _without("initial-state", "initial state", "initial_state"),
        _learner("best-action", "best action"),
        _learner("actor-critic", "actor-critic"),
        _learner("mean-actor-critic", "Mean Actor-Critic"),
        _learner("sestra-estimator", "SESTRA with an estimator"),
        _learner("dagger", "DAgger"),
        _learner("lols", "LOLS"),
        System("objects", "object policy", OBJECTS, seeds=3, in_paper=False),
        System("objects-taught", "object policy, distilled from an ensemble", OBJECTS, distilled=True, seeds=3, in_paper=False),
        _part("brief", "object policy, three epochs of train"),
        _part("without-changes", "− what earlier turns changed", changes=False),
        _part("without-past", "− what objects know of earlier turns", past="none"),
        _part("without-ranks", "− counting similar objects", ranks=False),
        _part("without-numbers", "− what number words have in common", numbers=False),
        _part("without-symmetry", "− renamed colours and figures", rename_symbols=False),
        _part("without-guidance", "− executions of the oracle", oracle_fraction=0.0),
        _part("without-word-dropout", "− word dropout", word_dropout=0.0),
        _part("without-averaging", "− averaged weights", ema_decay=0.0),
        _part("with-generated", "+ 1,000 generated interactions", generated=1000),
        _part("with-sestra", "SESTRA's objective instead of best-action likelihood", learner="sestra"),
        System(
            "attention-with-best-action",
            "the paper's network instead of objects, ten epochs",
            {"learner": "best-action", "oracle_fraction": 0.5, "word_dropout": 0.05, "epochs": 10, "ema_decay": 0.99},
            seeds=1,
            in_paper=False,
        ),
    )
}
"""In the order of Table 4, then what the paper does not have."""
OF_PAPER = tuple(name for name, system in SYSTEMS.items() if system.in_paper)
PAST_PAPER = ("objects", "objects-taught")
OTHER_LEARNERS = ("best-action", "actor-critic", "mean-actor-critic", "sestra-estimator", "dagger", "lols")
PARTS = tuple(name for name, system in SYSTEMS.items() if not system.in_paper and name not in (*PAST_PAPER, *OTHER_LEARNERS))
LEARNERS = ("supervised", "policy-gradient", "contextual-bandit", "sestra", *OTHER_LEARNERS)
"""Systems with SESTRA's network, which differ in the learner alone."""
GROUPS = {"paper": OF_PAPER, "learners": LEARNERS, "parts": PARTS}
"""Names that stand for several systems."""


@dataclass(frozen=True)
class Trial:
    """One run: its folder's name and its settings."""

    name: str
    config: TrainConfig
    system: str = ""


def trial_name(world: str, system: str, seed: int, preset_name: Preset = "default", *, generated: bool = False) -> str:
    """Names keep apart what must not be mixed: ``scene-sestra-1``, ``scene-sestra-1-paper``, ``scene-sestra-1-authors-generated``."""
    marks = [preset_name] * (preset_name != "default") + ["generated"] * generated
    return "-".join([get_world(world).name, system, str(seed), *marks])


def removes_nothing(system: System, world: str) -> bool:
    """Whether it is one about a part that the object policy does not have in that world."""
    return system.name in PARTS[1:] and system.config(world, 1) == SYSTEMS[PARTS[0]].config(world, 1)


def trials(
    worlds: Sequence[str] = WORLDS_OF_PAPER,
    systems: Iterable[str] = OF_PAPER,
    seeds: int | None = None,
    preset_name: Preset = "default",
    *,
    generated: bool = False,
    **changes: Any,
) -> list[Trial]:
    """The grid, all first seeds first; by default with as many seeds as the paper has. Changes hold for every run."""
    names = dict.fromkeys(single for name in systems for single in GROUPS.get(name, (name,)))
    if unknown := [name for name in names if name not in SYSTEMS]:
        raise InputError(f"unknown system {unknown[0]!r}; expected some of {', '.join([*GROUPS, *SYSTEMS])}")
    chosen = [SYSTEMS[name] for name in names]
    if preset_name != "default" and not all(system.in_paper or system.name in OTHER_LEARNERS for system in chosen):
        raise InputError(f"--preset {preset_name}: the object policy is not the paper's and has no such preset; leave it out of --systems")
    if generated and any(system.distilled for system in chosen):
        raise InputError("--systems objects-taught: its teachers know SCONE's vocabulary, which generated interactions lack; leave it out")
    most = seeds or max(system.seeds for system in chosen)
    return [
        Trial(
            trial_name(world, system.name, seed, preset_name, generated=generated),
            system.config(world, seed, preset_name, **changes),
            system.name,
        )
        for seed in range(1, most + 1)
        for world in worlds
        for system in chosen
        if seed <= (seeds or system.seeds) and not removes_nothing(system, world)
    ]


def differences(expected: TrainConfig, found: TrainConfig) -> dict[str, list[Any]]:
    """Settings that are not as expected, by name: what was expected and what was found."""
    ours, theirs = expected.flat(), found.flat()
    names = dict.fromkeys([*ours, *theirs])
    return {name: [ours.get(name), theirs.get(name)] for name in names if ours.get(name) != theirs.get(name)}


def describe(different: Mapping[str, Sequence[Any]]) -> str:
    """Differences in words."""
    return ", ".join(f"{name} is {found!r}, not {expected!r}" for name, (expected, found) in different.items())

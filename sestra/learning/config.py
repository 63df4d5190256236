"""Every setting of a training run, in groups: the command line is made from it, and each run's folder holds it as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from sestra.errors import InputError, shortened
from sestra.io import build
from sestra.learning import migrations
from sestra.learning.learners.base import Learner, Normalisation
from sestra.learning.learners.registry import LEARNERS
from sestra.learning.learners.sestra import Sestra
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.policies.registry import POLICIES, PolicyConfig
from sestra.learning.settings import check_ranges, flag, setting
from sestra.registry import Registry, absolute, check_reference
from sestra.worlds import WORLDS, get_world
from sestra.worlds.base import Shaping

if TYPE_CHECKING:
    from sestra.data.vocabulary import Vocabulary
    from sestra.learning.policies.base import Policy
    from sestra.worlds.tables import Tables

Optimiser = Literal["rmsprop", "adam"]
Preset = Literal["default", "paper", "authors"]
BatchOrder = Literal["length", "random"]
FOLDS = 5
"""Of cross-validation."""


@dataclass(frozen=True)
class DataConfig:
    """What is learnt from."""

    generated: int = setting(0, 0, 1_000_000)
    """Interactions written by the world's grammar that each epoch learns from beside the annotated ones; others in every epoch."""
    rename_symbols: bool = False
    """Whether interchangeable symbols (colours, figures) are renamed at random in each batch, in words and states alike."""
    word_dropout: float = setting(0.0, 0, 1)
    """Fraction of words that are replaced by the unknown word in each batch."""
    min_word_count: int = setting(2, 1, 1_000_000, rare=True)
    """Words that occur fewer times than this in the training data are unknown."""
    validation_fraction: float = setting(0.07, 1e-6, 0.9, rare=True)
    """Fraction of the training data that is held out for model selection; the same part for every seed."""
    fold: int = setting(0, 0, FOLDS, rare=True)
    """Which fifth of the training data is held out instead, for cross-validation; 0: the fraction."""


@dataclass(frozen=True)
class RolloutConfig:
    """Executions and their rewards."""

    horizon: int = setting(10, 1, 1_000_000)
    """M, the most actions of an execution in training."""
    horizon_penalty: bool = setting(True, rare=True)
    """Whether every action but STOP has the problem reward -1 where it is the last that the horizon allows (the paper)."""
    execution_horizon: int = setting(20, 1, 1_000_000, rare=True)
    """The most actions of an execution in validation and in use."""
    verbosity: float = setting(0.1, 0, 1_000_000)
    """Penalty (delta) of every action but STOP."""
    shaping: Shaping = setting("distance", rare=True)
    """What the reward's shaping term counts: the world's distance to the goal (the paper's), the fewest actions to it, or nothing."""
    oracle_fraction: float = setting(0.0, 0, 1, rare=True)
    """Fraction of the executions that only take actions of shortest paths to the goal; for learners that need not be on-policy."""


@dataclass(frozen=True)
class OptimisationConfig:
    """Updates of the weights."""

    optimiser: Optimiser = "rmsprop"
    """The optimiser."""
    batch_size: int = setting(20, 1, 1_000_000)
    """Instructions per update."""
    batch_order: BatchOrder = setting("length", rare=True)
    """Whether a batch has instructions of about the same length with their context, mostly the same turn, or is drawn at random."""
    normalisation: Normalisation = setting("per-execution", rare=True)
    """Whether every execution of a batch counts the same in the objective, as in the paper, or every step (the authors' program)."""
    learning_rate: float = setting(0.001, 1e-12, 10)
    """Initial learning rate."""
    final_lr_fraction: float = setting(1.0, 0, 1)
    """Final learning rate as a fraction of the initial one; the schedule is a half cosine."""
    ema_decay: float = setting(0.0, 0, 1)
    """Decay of the exponential moving average of the weights, which validation and the final model use (0: no average)."""
    max_grad_norm: float = setting(0.0, 0, 1_000_000, rare=True)
    """Gradients are clipped to this norm (0: not clipped)."""
    epochs: int = setting(200, 1, 1_000_000)
    """The most passes over the training data."""
    min_updates: int = setting(0, 0, 1_000_000, rare=True)
    """Raises the number of epochs for small data, until there are at least this many updates; 0 where --epochs is given."""
    warm_up_fraction: float = setting(0.0, 0, 1, rare=True)
    """Fraction of the epochs, at the start, that maximise best-action likelihood instead of the learner's objective (0: the paper)."""


@dataclass(frozen=True)
class SelectionConfig:
    """Early stopping."""

    patience: float = setting(50.0, 0, 1_000_000)
    """Epochs without a higher validation reward before training stops; grows by half a per cent with each improvement."""


GROUPS = ("data", "policy", "learner", "rollout", "optimisation", "selection")
DECIDING = ("world", "policy", "learner", "preset")
"""Settings on which the defaults of the others depend."""


@dataclass(frozen=True)
class TrainConfig:
    """One training run."""

    version: int = migrations.VERSION
    world: str = "alchemy"
    """The world: a name, path/to/file.py:Class or package.module:Class."""
    seed: int = setting(1, 0, 2**63 - 1)
    """Determines initial weights, order of examples, dropout and sampled actions."""
    preset: Preset = "default"
    """Where the defaults of the other flags come from: ours ('default'), the paper's text, or the program that its authors released."""
    teacher: str = ""
    """A trained agent for the same world, by name or run folder, that is distilled into the policy."""
    init_from: str = ""
    """A trained agent with the same policy settings, by name or run folder, whose weights and vocabulary training begins with."""
    data: DataConfig = field(default_factory=DataConfig)
    policy: PolicyConfig = field(default_factory=AttentionConfig)
    """The policy: a name, path/to/file.py:Class or package.module:Class."""
    learner: Learner = field(default_factory=Sestra)
    """The learner: a name, path/to/file.py:Class or package.module:Class."""
    rollout: RolloutConfig = field(default_factory=RolloutConfig)
    optimisation: OptimisationConfig = field(default_factory=OptimisationConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)

    @property
    def policy_name(self) -> str:
        return POLICIES.reference(type(self.policy))

    @property
    def learner_name(self) -> str:
        return LEARNERS.reference(type(self.learner))

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        get_world(self.world)
        check_ranges(self)
        names = dict.fromkeys(self._top(), "")
        for group in sorted(GROUPS, key=lambda group: group in PLUGINS):  # those of plug-ins last: they have to avoid the others
            part: Any = getattr(self, group)
            for each in fields(part):
                if each.name in names:
                    other = names[each.name] or "the run"
                    raise InputError(f"{group}: its setting {each.name!r} is also one of {other}; give it another name in {type(part)}")
                names[each.name] = group
            check_ranges(part)
            if hasattr(part, "check"):
                part.check()

    def build_policy(self, tables: Tables, vocabulary: Vocabulary) -> Policy:
        """A policy with fresh weights; InputError, before memory is taken, if they were too many."""
        from sestra.learning.policies.base import Policy
        from sestra.learning.policies.size import check_size

        check_size(self.policy, lambda: self.policy.build(tables, vocabulary))
        policy = self.policy.build(tables, vocabulary)
        if not isinstance(policy, Policy):
            raise InputError(f"policy {self.policy_name!r}: its build gives {shortened(repr(policy))}; expected a Policy")
        return policy

    def located(self) -> TrainConfig:
        """With a reference by which other processes find the world, where there is one."""
        return replace(self, world=WORLDS.reference(type(get_world(self.world))))

    def flat(self) -> dict[str, Any]:
        """All settings beside each other, as flags; the policy and the learner by name."""
        values = {name: getattr(self, name) for name in self._top()} | {"policy": self.policy_name, "learner": self.learner_name}
        for group in GROUPS:
            values |= vars(getattr(self, group))
        return values

    def changed(self, **values: Any) -> TrainConfig:
        """With other values of settings, by the names that ``flat`` gives them; a policy or learner may be given as an object."""
        top = {name: values.pop(name) for name in (*self._top(), "policy", "learner") if name in values}
        for name, registry in PLUGINS.items():
            if isinstance(top.get(name), str):
                top[name] = registry.get(top[name])()
        config = replace(self, **top)
        parts: dict[str, Any] = {}
        for group in GROUPS:
            part: Any = getattr(config, group)
            parts[group] = replace(part, **{each.name: values.pop(each.name) for each in fields(part) if each.name in values})
        if values:
            of_policy = ", ".join(each.name for each in fields(config.policy))
            raise InputError(
                f"{flag(next(iter(values)))}: the policy {config.policy_name!r} has no such setting, nor has the learner "
                f"{config.learner_name!r} or training; the policy has {of_policy or 'none'}"
            )
        return replace(config, **parts)

    @classmethod
    def _top(cls) -> list[str]:
        return [each.name for each in fields(cls) if each.name not in (*GROUPS, "version")]

    def to_json(self) -> dict[str, Any]:
        """As it is stored; ``from_json`` reads it."""
        values = dataclasses.asdict(self)
        for name, reference in (("policy", self.policy_name), ("learner", self.learner_name)):
            values[name] = {"name": reference, **values[name]}
        return values

    @classmethod
    def from_json(cls, stored: Any, place: str, folder: Path | None = None) -> TrainConfig:
        """What was stored, by this version or an earlier one, each field checked.

        It may name classes in files, whose code is then run: not files in the folder that holds the configuration, since code must not come
        along with data.
        """
        values = migrations.migrate_config(stored, place)
        parts: dict[str, Any] = {}
        for name, registry in PLUGINS.items():
            part = values.get(name, {"name": DEFAULTS[name]})
            if not isinstance(part, dict) or not isinstance(part.get("name"), str):
                raise InputError(f"{place}: {name} is {shortened(repr(part))}; expected an object with a name and settings")
            check_reference(part["name"], f"{place}: {name}", folder)
            try:
                kind = registry.get(part["name"])
            except InputError as error:
                raise InputError(f"{place}: {error}") from error
            parts[name] = build(kind, {key: value for key, value in part.items() if key != "name"}, f"{place}: {name}")
        config: TrainConfig = build(cls, {name: value for name, value in values.items() if name not in PLUGINS}, place)
        check_reference(config.world, f"{place}: world", folder)
        return replace(config, **parts)


PLUGINS: dict[str, Registry[Any]] = {"policy": POLICIES, "learner": LEARNERS}
DEFAULTS = {"policy": "attention", "learner": "sestra"}


def configure(values: Mapping[str, Any]) -> TrainConfig:
    """A run's settings: the preset for its world, policy and learner, then the given values, by the names that ``flat`` gives them."""
    config = preset(
        values.get("preset", "default"), values.get("world", TrainConfig.world), values.get("learner"), values.get("policy", "attention")
    )
    rest = {name: value for name, value in values.items() if name not in DECIDING}
    if "epochs" in rest:
        rest = {"min_updates": 0, **rest}
    return config.changed(**rest)


READINGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "paper": {"batch_order": "random"},
        "authors": {
            "batch_order": "random", "normalisation": "per-step", "max_grad_norm": 1.0, "shaping": "steps", "horizon": 10,
            "min_word_count": 1,
        },
    }
)  # fmt: skip
"""The paper's text and its authors' program, where they differ from the defaults of the fields, for every policy and learner; each policy
and learner has its own part. ``docs/learners/index.md`` compares the two."""


def preset(name: Preset, world: str, learner: str | None = None, policy: str = "attention") -> TrainConfig:
    """The settings that a run begins with, before flags change them.

    The default ones are the result of finding out why runs fail (``docs/log.md``). Learners that must be on-policy start from the paper's
    there, too: they are there to be compared with. The presets 'paper' and 'authors' are the paper's text and its authors' program.
    """
    if name not in get_args(Preset):
        raise InputError(f"--preset {shortened(repr(name))}: expected one of {', '.join(get_args(Preset))}")
    found, of_policy = get_world(world), POLICIES.get(policy)
    suited = getattr(of_policy, "presets", {})
    usual = dict(suited.get("", {}))
    usual_learner = usual.pop("learner", DEFAULTS["learner"])
    learner = usual_learner if learner is None else learner
    of_learner = LEARNERS.get(learner)
    policy, learner = POLICIES.reference(of_policy), LEARNERS.reference(of_learner)
    of_world = vars(found.settings)
    config = TrainConfig(
        world=absolute(world),
        preset=name,
        policy=of_policy(),
        learner=of_learner(**{each.name: of_world[each.name] for each in fields(of_learner) if each.name in of_world}),
        rollout=RolloutConfig(horizon=found.settings.horizon, verbosity=found.settings.verbosity),
        optimisation=OptimisationConfig(optimiser="adam" if of_learner.uses_demonstrations else "rmsprop"),
    )
    if name != "default":
        return config.changed(**_reading(name, config))
    if of_learner.on_policy:
        return config
    ours: dict[str, Any] = {
        "horizon": config.rollout.horizon + 2, "shaping": "steps", "rename_symbols": True, "batch_size": 64, "epochs": 40,
        "min_updates": 1500,
    }  # fmt: skip
    return config.changed(**ours | usual | dict(found.presets.get(policy, {})) | suited.get(learner, {}))


def _reading(name: Preset, config: TrainConfig) -> dict[str, Any]:
    """What the preset 'paper' or 'authors' changes: for all, for the policy and for the learner, as far as they have such settings."""
    of_policy, of_learner = (getattr(part, "readings", {}).get(name, {}) for part in (config.policy, config.learner))
    known = config.flat()
    return {each: value for each, value in {**READINGS[name], **of_policy, **of_learner}.items() if each in known}

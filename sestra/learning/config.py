"""Every setting of a training run, as data: the command line is made from it, and each run's folder holds it."""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sestra.errors import InputError, check_number
from sestra.worlds import get_world

LearnerName = Literal["sestra", "policy-gradient", "contextual-bandit", "supervised", "best-action"]
Optimiser = Literal["rmsprop", "adam"]
Shaping = Literal["distance", "steps", "none"]
Preset = Literal["default", "paper"]
Network = Literal["attention", "objects"]
Past = Literal["none", "turn-before", "pointed"]


@dataclass(frozen=True)
class AttentionConfig:
    """The paper's policy; sizes from supplementary D."""

    embedding: int = 50
    """Size of the embeddings of words and of action kinds and arguments."""
    hidden: int = 100
    """Size of the instruction encoder (each direction) and of the decoder."""
    dropout: float = 0.0
    """Share of values dropped in the paper's three places (it does not give the number)."""
    previous_instructions: bool = True
    """Whether previous instructions are attended to (without: the paper's first ablation)."""
    initial_state: bool = True
    """Whether the state at the start of the instruction is attended to (without: the paper's fourth ablation; without both, its second)."""
    current_state: bool = True
    """Whether the state now is attended to (without: the paper's third ablation)."""

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        for name in ("embedding", "hidden"):
            _within(name, getattr(self, name), 1, 10_000)
        _within("dropout", self.dropout, 0, 0.99)
        if not (self.previous_instructions or self.initial_state or self.current_state):
            raise InputError("nothing but the current instruction is attended to; leave previous instructions or one of the states on")


@dataclass(frozen=True)
class ObjectConfig:
    """The object policy."""

    embedding: int = 64
    """Size of the embeddings of words."""
    size: int = 128
    """Size of the vectors of objects, words and changes."""
    layers: int = 2
    """How often the objects attend to the memory and to each other."""
    heads: int = 4
    """Attention heads."""
    dropout: float = 0.1
    """Share of values dropped in the embeddings of words and after every sublayer."""
    past: Past = "turn-before"
    """What an object knows of earlier turns: nothing, its look when the turn before began, or its past in turns that words point at."""
    ranks: bool = True
    """Whether an object's vector counts its like to the left and right, and those that hold more or less: "the second yellow beaker"."""
    numbers: bool = False
    """Whether words that name the same number, as "5th", "fifth" and "five" do, have a part of their embeddings in common."""
    changes: bool = True
    """Whether the memory holds what earlier turns changed, beside their words."""

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        for name in ("embedding", "size", "layers", "heads"):
            _within(name, getattr(self, name), 1, 10_000)
        _within("dropout", self.dropout, 0, 0.99)
        if self.size % (2 * self.heads):
            raise InputError(f"--size {self.size}: expected a multiple of twice the number of heads, {2 * self.heads}")


PolicyConfig = AttentionConfig | ObjectConfig
NETWORKS: dict[Network, type[PolicyConfig]] = {"attention": AttentionConfig, "objects": ObjectConfig}


@dataclass(frozen=True)
class TrainConfig:
    """One training run."""

    world: str = "alchemy"
    """The world: alchemy, scene, tangrams, or one that you registered."""
    network: Network = "attention"
    """The policy: the paper's, with attention and a recurrent decoder, or the one whose tokens are the world's objects."""
    learner: LearnerName = "sestra"
    """What is maximised."""
    preset: Preset = "default"
    """Where the other flags' defaults come from: 'paper' for the paper's own settings, 'default' for ours."""
    seed: int = 1
    """Decides initial weights, order of examples, dropout and sampled actions."""
    horizon: int = 7
    """M, the most actions that an execution may take in training."""
    verbosity: float = 0.15
    """The penalty (delta) of every action but STOP."""
    shaping: Shaping = "distance"
    """What the reward's shaping term counts: the world's distance to the goal (the paper's), the fewest actions to it, or nothing."""
    entropy: float = 0.1
    """Weight (lambda) of the policy's entropy in what is maximised."""
    robust: float = 0.0
    """What the best-action learner maximises in the last epoch: from 0, likelihood, as in the first, to 1, probability."""
    teacher: str = ""
    """A trained agent, by its name or its run's folder, whose choices are learnt from beside the rewards; its words must be the run's."""
    taught: float = 0.7
    """Share of the objective that is the likelihood of the teacher's choices, where there is a teacher."""
    warm_up: int = 0
    """Epochs at the start that maximise the likelihood of the best observed actions instead (0: the paper)."""
    guided: float = 0.0
    """Share of the executions that take only actions of a shortest way to the goal (SESTRA and best-action alone)."""
    batch_size: int = 20
    """Instructions an update."""
    optimiser: Optimiser = "rmsprop"
    """What turns gradients into steps."""
    smoothing: float = 0.9
    """RMSProp's smoothing constant: how much of its running mean of squared gradients each update keeps."""
    learning_rate: float = 0.001
    """Step size of the optimiser at the start."""
    decay: float = 1.0
    """What the step size has shrunk to, as a share of the first, when the last epoch ends (along a half cosine)."""
    chosen_after: float = 0.0
    """Share of the epochs at the start whose models are not chosen, unless the run ends there: the best of them would be so by luck."""
    averaging: float = 0.0
    """How much of the averaged weights each update keeps (0: no averaging); validation and the final model use the average."""
    clip: float = 0.0
    """Largest norm of an update's gradient (0: no limit)."""
    symmetry: bool = False
    """Whether what the world does not tell apart (colours, figures) is renamed at random whenever it is seen, in words and states alike."""
    word_dropout: float = 0.0
    """Share of words that are read as unknown whenever they are seen in training."""
    generated: int = 0
    """Interactions that the world's grammar writes and that are learnt from beside train's."""
    rare: int = 2
    """Words that occur fewer times than this in train are read as unknown."""
    epochs: int = 200
    """The most passes over train."""
    patience: float = 50.0
    """Epochs without a better validation reward before training stops; grows by half a per cent with each improvement."""
    validation: float = 0.07
    """Share of train that is held out for choosing the model; the same for every seed."""
    execution_horizon: int = 20
    """The most actions that an execution may take in validation and use."""
    policy: PolicyConfig = field(default_factory=AttentionConfig)
    """The network."""

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        get_world(self.world)
        for name in ("horizon", "batch_size", "rare", "epochs", "execution_horizon"):
            _within(name, getattr(self, name), 1, 1_000_000)
        if not isinstance(self.policy, NETWORKS[self.network]):
            raise InputError(f"--network {self.network}: its settings are those of another network, {type(self.policy).__name__}")
        for name in ("verbosity", "entropy", "clip", "patience", "warm_up", "generated"):
            _within(name, getattr(self, name), 0, 1_000_000)
        for name in ("decay", "chosen_after", "averaging", "guided", "robust", "taught", "word_dropout"):
            _within(name, getattr(self, name), 0, 1)
        _within("smoothing", self.smoothing, 0, 0.999999)
        self.policy.check()
        _within("learning_rate", self.learning_rate, 1e-12, 10)
        _within("validation", self.validation, 1e-6, 0.9)
        _within("seed", self.seed, 0, 2**63 - 1)


def _within(name: str, value: float, low: float, high: float) -> None:
    check_number(f"--{name.replace('_', '-')}", value, low, high, whole=False)


PAPER: dict[str, dict[str, Any]] = {
    "alchemy": {"entropy": 0.1, "verbosity": 0.15, "horizon": 7},
    "scene": {"entropy": 0.07, "verbosity": 0.2, "horizon": 5},
    "tangrams": {"entropy": 0.1, "verbosity": 0.0, "horizon": 5},
}
"""The values of supplementary D, by world; any other world has those of ``OTHERWISE``."""
OTHERWISE: dict[str, Any] = {"entropy": 0.1, "verbosity": 0.1, "horizon": 10}
GUIDED = {"tangrams": 0.5}
"""The worlds in which guided executions help SESTRA, and their share there."""

OBJECTS: dict[str, dict[str, Any]] = {
    "alchemy": {"generated": 1000, "policy": ObjectConfig(numbers=True)},
    "tangrams": {"epochs": 8, "generated": 1500, "policy": ObjectConfig(past="pointed")},
}
"""The worlds in which the object policy learns better with other settings than elsewhere."""


def preset(name: Preset, world: str, learner: LearnerName | None = None, network: Network = "attention") -> TrainConfig:
    """The settings that a run begins with, before flags change them.

    The default ones are the result of finding out why runs fail (``docs/log.md``); the two learners that the paper compares with always
    have the paper's. The object policy, which the paper does not have, learns best from best-action likelihood.
    """
    learner = learner or ("best-action" if network == "objects" else "sestra")
    optimiser: Optimiser = "adam" if learner == "supervised" else "rmsprop"
    config = TrainConfig(
        world=world,
        network=network,
        learner=learner,
        preset=name,
        optimiser=optimiser,
        policy=NETWORKS[network](),
        **PAPER.get(world, OTHERWISE),
    )
    if name == "paper" or learner in {"policy-gradient", "contextual-bandit"}:
        return config
    ours = replace(config, horizon=config.horizon + 2, shaping="steps", symmetry=True, batch_size=64)
    if network == "objects":
        ours = replace(ours, optimiser="adam", averaging=0.999, decay=0.02, clip=1.0, word_dropout=0.05, guided=0.5)
        return replace(ours, **{"epochs": 12, **OBJECTS.get(world, {})})
    ours = replace(ours, learning_rate=0.002, averaging=0.997, decay=0.1)
    if learner == "supervised":
        return replace(ours, epochs=30, policy=AttentionConfig(dropout=0.2))
    return replace(ours, epochs=40, warm_up=10 if learner == "sestra" else 0, guided=GUIDED.get(world, 0.0))


def build(kind: type[Any], values: Any, place: str) -> Any:
    """A dataclass from what JSON holds, each field checked against its annotation."""
    if not isinstance(values, dict):
        raise InputError(f"{place}: {values!r} stands where an object with the fields of {kind.__name__} was expected")
    hints = typing.get_type_hints(kind)
    unknown = sorted(set(values) - set(hints))
    if unknown:
        raise InputError(f"{place}: unknown field {unknown[0]!r}; expected some of {', '.join(hints)}; was it written by another version?")
    checked = {}
    for name, value in values.items():
        hint = NETWORKS.get(values.get("network", "attention"), AttentionConfig) if hints[name] == PolicyConfig else hints[name]
        if dataclasses.is_dataclass(hint):
            checked[name] = build(typing.cast("type[Any]", hint), value, f"{place}: {name}")
        elif not _fits(value, hint):
            raise InputError(f"{place}: {name} is {value!r}; expected {getattr(hint, '__name__', hint)}")
        else:
            checked[name] = value
    try:
        return kind(**checked)
    except TypeError as error:  # a field without a default is missing
        raise InputError(f"{place}: {error}; the file is damaged, use another one") from error


def _fits(value: Any, hint: Any) -> bool:
    if typing.get_origin(hint) is Literal:
        return value in typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        return any(_fits(value, option) for option in typing.get_args(hint))
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))

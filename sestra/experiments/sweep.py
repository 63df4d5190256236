"""Sweeps over any setting: every combination of listed values, or what Optuna proposes; judged on the validation part of train."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math
import re
import statistics
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sestra.errors import InputError
from sestra.experiments.grid import Trial
from sestra.learning.config import GROUPS, PLUGINS, TrainConfig, configure
from sestra.learning.settings import flag
from sestra.metrics import METRICS, selection_score
from sestra.worlds import get_world

Values = Any
"""What a setting is tried with: a list of values, or a range as one of Optuna's distributions."""


def import_optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise InputError("--search optuna needs the package optuna; install it with: pip install 'sestra[sweep]'") from error
    return optuna


def kinds(policies: Sequence[str] = (), learners: Sequence[str] = ()) -> list[type[Any]]:
    """The dataclasses that hold the settings of runs, for some policies and learners or for all."""
    groups = [type(getattr(TrainConfig(), group)) for group in GROUPS if group not in PLUGINS]
    named = {"policy": policies, "learner": learners}
    return [TrainConfig, *groups, *(registry.get(name) for kind, registry in PLUGINS.items() for name in named[kind] or registry.names())]


def settings(of: Sequence[type[Any]]) -> dict[str, Any]:
    """The settings in these dataclasses, by the names of their flags, with their types; a policy and a learner are named."""
    found = {each.name: typing.get_type_hints(kind)[each.name] for kind in reversed(of) for each in dataclasses.fields(kind)}
    hidden = {"version", *GROUPS} - set(PLUGINS)
    return {name: str if name in PLUGINS else hint for name, hint in found.items() if name not in hidden}


def parse(name: str, text: str, hint: Any) -> Values:
    """The values that a flag lists, ``0.03,0.07,0.1``, or its range, ``0.01..0.3`` (``0.01..0.3:log`` for a logarithmic scale)."""
    ranged = re.fullmatch(r"\s*(\S+?)\.\.(\S+?)(:log)?\s*", text)
    if ranged and hint in {int, float}:
        low, high = (_value(name, part, hint) for part in ranged.groups()[:2])
        if not low < high or (ranged[3] and low <= 0):
            raise InputError(
                f"{flag(name)} {text}: expected a smaller number before a larger one" + (", both above 0" if ranged[3] else "")
            )
        distributions = import_optuna().distributions
        return (distributions.IntDistribution if hint is int else distributions.FloatDistribution)(low, high, log=bool(ranged[3]))
    values = [_value(name, part.strip(), hint) for part in text.split(",")]
    if len(set(values)) < len(values):
        raise InputError(f"{flag(name)} {text}: a value is there twice; list each once")
    return values


def _value(name: str, text: str, hint: Any) -> Any:
    if typing.get_origin(hint) is Literal:
        allowed = typing.get_args(hint)
        if text not in allowed:
            raise InputError(f"{flag(name)} {text!r}: expected some of {', '.join(allowed)}, with commas between them")
        return text
    if hint is bool:
        if text.lower() not in {"true", "false"}:
            raise InputError(f"{flag(name)} {text!r}: expected true, false or true,false")
        return text.lower() == "true"
    if hint is str:
        return text
    try:
        value = hint(text)
    except ValueError as error:
        kind = "whole numbers" if hint is int else "numbers"
        raise InputError(f"{flag(name)} {text!r}: expected {kind}, with commas between them, or a range such as 1..5") from error
    if not math.isfinite(value):
        raise InputError(f"{flag(name)} {text!r}: expected a finite number")
    return value


def checked(values: Mapping[str, Any]) -> TrainConfig:
    """A run's settings, checked before any run begins."""
    config = configure(values)
    if config.teacher or config.init_from:
        from sestra.learning.learners.distillation import with_absolute_names

        config = with_absolute_names(config)
    config.check()
    return config


@dataclass(frozen=True)
class Combination:
    """One choice of values, and its trials, one per seed and fold."""

    values: dict[str, Any]
    """Of the settings that the sweep varies."""
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Repeats:
    """How often each combination is trained."""

    seeds: Sequence[int]
    folds: Sequence[int] = (0,)
    """The parts of the training data that are held out in turn; 0: the usual part alone."""


def combine(values: Mapping[str, Any], fixed: Mapping[str, Any], repeats: Repeats) -> Combination:
    pairs = itertools.product(repeats.seeds, repeats.folds)
    configs = [checked({**fixed, **values, "seed": seed, **({"fold": fold} if fold else {})}) for seed, fold in pairs]
    named = [f"{name.replace('_', '-')}={_brief(value)}" for name, value in values.items() if name != "world"]
    title = "-".join([get_world(configs[0].world).name, *named])
    title = re.sub(r"[^\w.=+-]", "_", title)
    if len(title) > 150:
        title = f"{title[:120]}-{hashlib.sha256(title.encode()).hexdigest()[:12]}"
    names = [f"{title}-{config.seed}" + (f"-fold-{config.data.fold}" if len(repeats.folds) > 1 else "") for config in configs]
    return Combination(dict(values), tuple(map(Trial, names, configs)))


def _brief(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value).lower()


def split_fixed(given: Mapping[str, str], known: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Values]]:
    """Settings with one value, and those that are varied."""
    parsed = {name: parse(name, text, known[name]) for name, text in given.items()}
    varied = {name: values for name, values in parsed.items() if not isinstance(values, list) or len(values) > 1}
    return {name: values[0] for name, values in parsed.items() if isinstance(values, list) and len(values) == 1}, varied


def grid(fixed: Mapping[str, Any], varied: Mapping[str, Values], repeats: Repeats) -> list[Combination]:
    """Every combination; all settings are checked before the first run begins."""
    if not varied and len(repeats.folds) == 1:
        raise InputError("nothing to compare; give a setting several values, as --entropy 0.03,0.07,0.1")
    for name, values in varied.items():
        if not isinstance(values, list):
            raise InputError(f"{flag(name)}: a range needs --search optuna; list values, with commas between them, to try them all")
    return [combine(dict(zip(varied, chosen, strict=True)), fixed, repeats) for chosen in itertools.product(*varied.values())]


def check_edges(fixed: Mapping[str, Any], varied: Mapping[str, Values], repeats: Repeats) -> None:
    """Check the first and the last value of each setting, so that a wrong one is found before the first run."""
    if not varied:
        raise InputError("--search optuna: nothing to search; give a setting several values or a range, as --entropy 0.01..0.3")
    ends = {name: (values[0], values[-1]) if isinstance(values, list) else (values.low, values.high) for name, values in varied.items()}
    for edge in (0, 1):
        combine({name: pair[edge] for name, pair in ends.items()}, fixed, repeats)


class Proposals:
    """Values proposed by Optuna, given the scores of earlier ones; earlier proposals can be added, so that a sweep can be resumed."""

    def __init__(self, varied: Mapping[str, Values], already: int) -> None:
        optuna = import_optuna()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        listed = {name: optuna.distributions.CategoricalDistribution(values) for name, values in varied.items() if isinstance(values, list)}
        self.distributions = {**varied, **listed}
        self.study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=already + 1))
        self._asked: dict[int, Any] = {}

    def propose(self, number: int) -> dict[str, Any]:
        """Values that are easy to write down: four digits of a number."""
        trial = self.study.ask(self.distributions)
        self._asked[number] = trial
        return {name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in trial.params.items()}

    def proposed(self, number: int, values: dict[str, Any]) -> None:
        """Add values that were proposed before the sweep was interrupted."""
        self.study.enqueue_trial(values)
        self._asked[number] = self.study.ask(self.distributions)

    def tell(self, number: int, score: float | None) -> None:
        import optuna

        state = optuna.trial.TrialState.FAIL if score is None else optuna.trial.TrialState.COMPLETE
        self.study.tell(self._asked.pop(number), score, state=state)


def score(record: Mapping[str, Any]) -> tuple[float, float, float]:
    """The selection score of a finished run, on validation."""
    validation = record["validation"]
    return selection_score(validation["inst"], validation["utts5"], validation["reward"])


def summarise(combination: Combination, records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """One line of a sweep's table: means over the runs that have ended."""
    ended = [records[trial.name] for trial in combination.trials if trial.name in records]
    summary: dict[str, Any] = {"values": combination.values, "ended": len(ended), "of": len(combination.trials)}
    summary["score"] = statistics.fmean(score(record)[0] for record in ended) if ended else None
    for name in METRICS:
        figures = [record["validation"][name] for record in ended if record["validation"][name] is not None]
        summary[name] = round(statistics.fmean(figures), 2) if figures else None
        summary[f"{name}_deviation"] = round(statistics.stdev(figures), 2) if len(figures) > 1 else None
    summary["best_epochs"] = [record["best_epoch"] for record in ended]
    summary["seconds"] = round(sum(record["seconds"] for record in ended), 1)
    summary["runs"] = [trial.name for trial in combination.trials]
    return summary

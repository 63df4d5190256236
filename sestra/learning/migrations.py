"""Configurations and weights that earlier versions stored, as the current version has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from sestra.errors import InputError, shortened

VERSION = 2
Weights = TypeVar("Weights")

NAMES_OF_1 = {
    "world": "", "preset": "", "seed": "", "teacher": "",
    "generated": "data", "symmetry": "data rename_symbols", "word_dropout": "data", "rare": "data min_word_count",
    "validation": "data validation_fraction",
    "horizon": "rollout", "execution_horizon": "rollout", "verbosity": "rollout", "shaping": "rollout",
    "guided": "rollout oracle_fraction",
    "optimiser": "optimisation", "batch_size": "optimisation", "learning_rate": "optimisation",
    "decay": "optimisation final_lr_fraction", "averaging": "optimisation ema_decay", "clip": "optimisation max_grad_norm",
    "epochs": "optimisation", "warm_up": "optimisation warm_up_fraction",
    "patience": "selection",
    "network": "policy policy", "learner": "learner", "entropy": "learner", "policy": "policy",
}  # fmt: skip
"""Of each field of version 1, which had no groups: its group now, and its name if that is another one."""
DEFAULTS_OF_1 = {"horizon": 7, "verbosity": 0.15}
"""Defaults of version 1 that differ from those of version 2."""
DELETED = {"robust": 0.0, "taught": 0.7, "smoothing": 0.9, "chosen_after": 0.0}
"""Removed settings, each with the only value that is still supported."""
WITH_ENTROPY = ("sestra", "policy-gradient", "contextual-bandit")
"""The learners of version 1 that used the entropy; the others ignored it."""


MODULES_OF_1 = {
    "reader": "forward_lstm", "back_reader": "backward_lstm", "joined": "decoder_input", "gates": "decoder_gates",
    "scorer": "action_scorer", "kinds": "kind_embedding", "first_arguments": "first_argument_embedding",
    "second_arguments": "second_argument_embedding", "queries": "other_queries", "query": "current_query",
    "now": "current_features", "start": "initial_features", "before": "previous_features", "places": "slot_embedding",
    "ranks": "rank_features", "join": "object_projection", "stop": "stop_token", "changed_from": "change_before",
    "changed_to": "change_after", "change_places": "change_slots", "change_join": "change_projection",
    "numbers.form": "numbers.ordinal_vector", "recollection.recalled": "history.projection",
    "recollection.pointer.weigh": "history.pointer.word_weights", "recollection.pointer.name": "history.pointer.turn_scores",
}  # fmt: skip
LAYER_MODULES_OF_1 = {
    "memory": "memory_projection", "related": "relation_bias", "pointed": "pointer_bias", "near": "position_bias",
    "ask": "cross_query", "answer": "cross_output", "ask_norm": "cross_norm",
    "look": "self_projection", "seen": "self_output", "look_norm": "self_norm",
    "think": "feed_forward_in", "thought": "feed_forward_out", "think_norm": "feed_forward_norm",
}  # fmt: skip
"""What modules of the built-in policies were called; none of the old names is a new one."""


def version_of(values: Any) -> Any:
    """Of a stored configuration; the first version did not store it."""
    return values.get("version", 1) if isinstance(values, dict) else None


def migrate_weights(weights: Mapping[str, Weights]) -> dict[str, Weights]:
    """Weights that version 1 stored, which only had the built-in policies, by the names of version 2."""
    return {_migrate_weight(name): value for name, value in weights.items()}


def _migrate_weight(name: str) -> str:
    _, member, layer, rest = re.split(r"^(members\.\d+\.)?(layers\.\d+\.)?", name, maxsplit=1)
    for old, new in (LAYER_MODULES_OF_1 if layer else MODULES_OF_1).items():
        if rest == old or rest.startswith(f"{old}."):
            return f"{member or ''}{layer or ''}{new}{rest.removeprefix(old)}"
    return name


def migrate_config(values: Any, place: str) -> dict[str, Any]:
    """A stored configuration as version 2 stores it; whether its values make sense is not checked here."""
    if not isinstance(values, dict):
        raise InputError(f"{place}: {shortened(repr(values))} is not a configuration; the file is damaged, use another one")
    version = version_of(values)
    if type(version) is not int or not 1 <= version <= VERSION:
        advice = "a newer sestra may read it" if type(version) is int and version > VERSION else "the file is damaged, use another one"
        raise InputError(f"{place}: its version is {shortened(repr(version))}; expected 1 or {VERSION}; {advice}")
    return _from_1({name: value for name, value in values.items() if name != "version"}, place) if version == 1 else values


def migrate_differences(different: Mapping[str, Any]) -> dict[str, Any]:
    """The differences in a result record, by the names that the settings have now."""
    return {_place(name)[1] if name in NAMES_OF_1 else name: pair for name, pair in different.items()}


def _from_1(old: dict[str, Any], place: str) -> dict[str, Any]:
    for name, value in old.items():
        if name not in NAMES_OF_1 and name not in DELETED:
            expected = ", ".join(NAMES_OF_1)
            raise InputError(f"{place}: unknown field {name!r}; expected some of {expected}; was it written by another version?")
        if name in DELETED and value != DELETED[name]:
            raise InputError(f"{place}: {name} is {value!r}, a setting that is no longer there; use the version of sestra that wrote it")
    policy, learner = old.get("policy", {}), old.get("learner", "sestra")
    if not isinstance(policy, dict):
        raise InputError(f"{place}: policy is {policy!r}; expected an object with the policy's settings")
    new: dict[str, Any] = {"version": VERSION, "policy": {"name": old.get("network", "attention"), **policy}, "learner": {"name": learner}}
    for name, value in (DEFAULTS_OF_1 | old).items():
        if name in DELETED or name in ("network", "policy", "learner") or (name == "entropy" and learner not in WITH_ENTROPY):
            continue
        group, renamed = _place(name)
        (new.setdefault(group, {}) if group else new)[renamed] = value
    optimisation = new.get("optimisation", {})
    epochs, warm_up = optimisation.get("epochs", 200), optimisation.get("warm_up_fraction")
    if type(warm_up) is int and type(epochs) is int and epochs > 0:  # else it is refused later
        optimisation["warm_up_fraction"] = min(warm_up / epochs, 1.0)
    return new


def _place(name: str) -> tuple[str, str]:
    group, _, renamed = NAMES_OF_1[name].partition(" ")
    return group, renamed or name

"""Configurations: presets, JSON, earlier versions, plug-ins; and what is refused."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from sestra import pretrained
from sestra.agent import folder as agent_folder
from sestra.errors import InputError
from sestra.experiments import records
from sestra.learning import migrations
from sestra.learning.config import TrainConfig, configure, preset
from sestra.learning.learners.best_action import BestAction
from sestra.learning.learners.registry import LEARNERS
from sestra.learning.learners.sestra import Sestra
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.policies.objects.config import ObjectConfig
from sestra.learning.policies.registry import POLICIES

ROOT = Path(__file__).parent.parent.parent
VERSION_1 = {
    "world": "tangrams", "network": "objects", "learner": "best-action", "preset": "default", "seed": 3, "horizon": 7, "verbosity": 0.0,
    "shaping": "steps", "entropy": 0.1, "robust": 0.0, "teacher": "", "taught": 0.7, "warm_up": 0, "guided": 0.5, "batch_size": 64,
    "optimiser": "adam", "smoothing": 0.9, "learning_rate": 0.001, "decay": 0.02, "chosen_after": 0.0, "averaging": 0.999, "clip": 1.0,
    "symmetry": True, "word_dropout": 0.05, "generated": 1500, "rare": 2, "epochs": 8, "patience": 50.0, "validation": 0.07,
    "execution_horizon": 20,
    "policy": {"embedding": 64, "size": 128, "layers": 2, "heads": 4, "dropout": 0.1, "past": "pointed", "ranks": True, "numbers": False,
               "changes": True},
}  # fmt: skip
"""All fields that the first version had."""


# Presets.


@pytest.mark.parametrize(
    ("world", "entropy", "verbosity", "horizon"), [("alchemy", 0.1, 0.15, 7), ("scene", 0.07, 0.2, 5), ("tangrams", 0.1, 0.0, 5)]
)
@pytest.mark.parametrize("learner", ["sestra", "policy-gradient", "contextual-bandit", "supervised"])
def test_papers_preset_is_supplementary_d(world, entropy, verbosity, horizon, learner):
    config = preset("paper", world, learner)
    found = config.flat()
    assert (found.get("entropy", entropy), found["verbosity"], found["horizon"]) == (entropy, verbosity, horizon)
    assert found["optimiser"] == ("adam" if learner == "supervised" else "rmsprop")
    expected = {"batch_size": 20, "learning_rate": 0.001, "epochs": 200, "patience": 50, "validation_fraction": 0.07}
    expected |= {"embedding": 50, "hidden": 100, "world": world, "learner": learner, "preset": "paper"}
    expected |= {
        "final_lr_fraction": 1,
        "ema_decay": 0,
        "max_grad_norm": 0,
        "warm_up_fraction": 0,
        "min_updates": 0,
    }
    expected |= {"dropout": 0.1, "batch_order": "random", "normalisation": "per-execution", "shaping": "distance", "horizon_penalty": True}
    assert {name: found[name] for name in expected} == expected
    assert (found.get("credit", "episode"), found.get("discount", 1), found.get("entropy_in_reward", False)) == ("episode", 1, False)
    config.check()
    preset("default", world, learner).check()


@pytest.mark.parametrize("world", ["alchemy", "scene", "tangrams"])
@pytest.mark.parametrize(
    ("learner", "own"),
    [
        ("sestra", {"horizon_penalty": False}),
        ("policy-gradient", {"credit": "return-to-go", "discount": 0.5}),
        ("contextual-bandit", {"entropy_in_reward": True}),
        ("supervised", {"optimiser": "rmsprop", "dropout": 0.5}),
    ],
)
def test_authors_preset_is_the_papers_but_for_what_their_program_has(world, learner, own):
    config = preset("authors", world, learner)
    config.check()
    changed = {"normalisation": "per-step", "max_grad_norm": 1.0, "shaping": "steps", "horizon": 10, "min_word_count": 1, "dropout": 0.0}
    assert config == replace(preset("paper", world, learner), preset="authors").changed(**changed | own)


def test_on_policy_learners_have_the_same_defaults_as_before_the_authors_preset():
    for learner in ("policy-gradient", "contextual-bandit"):
        ours, papers = preset("default", "scene", learner), preset("paper", "scene", learner)
        assert ours == replace(papers, preset="default").changed(dropout=0.0, batch_order="length")


def test_presets_change_only_what_a_policy_has(wide):
    """Its settings have no dropout."""
    for name in ("paper", "authors"):
        assert preset(name, "scene", "supervised", "wide").policy == Wide()


def test_a_discount_needs_the_return_to_go():
    config = preset("paper", "scene", "policy-gradient")
    config.changed(credit="return-to-go", discount=0.9).check()
    with pytest.raises(InputError, match=r"--discount 0\.9: the credit of the whole episode has none; use it with --credit return-to-go"):
        config.changed(discount=0.9).check()


def test_default_preset():
    assert preset("default", "scene").optimisation.warm_up_fraction == 0.25
    assert preset("default", "scene", policy="objects").learner == BestAction()
    tangrams = preset("default", "tangrams", policy="objects")
    assert (tangrams.policy, tangrams.optimisation.epochs, tangrams.data.generated) == (ObjectConfig(past="pointed"), 8, 1500)
    assert preset("default", "tangrams").rollout.oracle_fraction == 0.5
    assert TrainConfig.from_json(VERSION_1, "x").changed(min_updates=1500, seed=1) == tangrams
    with pytest.raises(InputError, match="--preset 'best': expected one of default, paper, authors"):
        preset("best", "scene")


def test_updates_are_as_many_as_epochs_where_epochs_are_given():
    objects = {"world": "scene", "policy": "objects"}
    assert configure(objects).optimisation.min_updates == 1500
    assert configure(objects | {"epochs": 12}).optimisation.min_updates == 0
    assert configure(objects | {"epochs": 12, "min_updates": 7}).optimisation.min_updates == 7


@pytest.mark.parametrize("world", ["alchemy", "scene", "tangrams"])
def test_scone_has_updates_enough(world):
    instructions = {"alchemy": 3657, "scene": 3352, "tangrams": 4189}[world] * 5 * 0.93
    settings = preset("default", world, policy="objects").optimisation
    assert instructions // settings.batch_size * settings.epochs > settings.min_updates


# Values.


WRONG = [("epochs", 0), ("batch_size", 0), ("horizon", 0), ("min_word_count", 0), ("execution_horizon", -1), ("verbosity", -0.1)]
WRONG += [("entropy", -1), ("learning_rate", 0), ("learning_rate", float("nan")), ("validation_fraction", 0), ("validation_fraction", 1)]
WRONG += [("seed", -1), ("final_lr_fraction", 1.5), ("ema_decay", -0.5), ("ema_decay", 2), ("max_grad_norm", -1), ("min_updates", -1)]
WRONG += [
    ("patience", float("inf")),
    ("warm_up_fraction", -1),
    ("warm_up_fraction", 10),
    ("world", "mars"),
    ("oracle_fraction", 2),
    ("generated", -1),
]
WRONG += [("word_dropout", 2), ("hidden", 0), ("embedding", 0), ("dropout", -0.1), ("dropout", 2), ("dropout", 1)]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_values_that_make_no_sense(name, value):
    with pytest.raises(InputError) as error:
        TrainConfig().changed(**{name: value}).check()
    assert name.replace("_", "-") in str(error.value)
    assert str(value) in str(error.value)


def test_settings_by_name():
    config = TrainConfig().changed(seed=3, entropy=0.2, hidden=7, epochs=2)
    assert (config.seed, config.learner, config.policy.hidden, config.optimisation.epochs) == (3, Sestra(0.2), 7, 2)
    assert TrainConfig(learner=BestAction()).changed(**config.flat()) == config
    with pytest.raises(InputError, match=r"--layers: the policy 'attention' has no such setting, .* the policy has embedding, hidden"):
        TrainConfig().changed(layers=2)


# JSON.


@pytest.mark.parametrize("config", [TrainConfig(), preset("default", "tangrams", policy="objects"), preset("paper", "scene", "supervised")])
def test_configuration_survives_json(config):
    stored = json.loads(json.dumps(config.to_json()))
    assert stored["version"] == 2
    assert stored["learner"]["name"] in LEARNERS.names()
    assert TrainConfig.from_json(stored, "x") == config


REFUSED = {
    "[] is not a configuration": [],
    "its version is 3; expected 1 or 2": {"version": 3},
    "its version is 'two'": {"version": "two"},
    "its version is True": {"version": True},
    "its version is None": {"version": None},
    "unknown field 'speed'": {"version": 2, "speed": 1},
    "unknown field 'epochs'": {"version": 2, "epochs": 1},
    "optimisation: epochs is 1.5; expected int": {"version": 2, "optimisation": {"epochs": 1.5}},
    "optimisation: epochs is True": {"version": 2, "optimisation": {"epochs": True}},
    "optimisation: 3 stands where": {"version": 2, "optimisation": 3},
    "rollout: shaping is 'much'": {"version": 2, "rollout": {"shaping": "much"}},
    "policy is 'attention'; expected an object with a name": {"version": 2, "policy": "attention"},
    "learner is {}; expected an object with a name": {"version": 2, "learner": {}},
    "unknown learner 'magic'; expected one of sestra": {"version": 2, "learner": {"name": "magic"}},
    "unknown policy 'magic'; expected one of attention": {"version": 2, "policy": {"name": "magic"}},
    "policy: unknown field 'layers'": {"version": 2, "policy": {"name": "attention", "layers": 2}},
    "policy: hidden is 'many'": {"version": 2, "policy": {"name": "attention", "hidden": "many"}},
    "learner: entropy is None": {"version": 2, "learner": {"name": "sestra", "entropy": None}},
    "policy is 'my.py:Tiny'; expected an absolute path": {"version": 2, "policy": {"name": "my.py:Tiny"}},
    "world is 'my.py:World'; expected an absolute path": {"version": 2, "world": "my.py:World"},
    "unknown field 'sesame'; expected some of world": {"world": "scene", "sesame": 1},
    "robust is 0.8, a setting that is no longer there": {**VERSION_1, "robust": 0.8},
    "policy is 3; expected an object": {"policy": 3},
    "unknown learner 'magic'": {"learner": "magic"},
    "unknown policy 'cubes'": {"network": "cubes"},
    "warm_up_fraction is 'long'": {"warm_up": "long"},
    "world is 7": {"world": 7},
}


@pytest.mark.parametrize("complaint", REFUSED)
def test_what_is_refused(complaint):
    with pytest.raises(InputError, match=r"^here\.json: ") as error:
        TrainConfig.from_json(REFUSED[complaint], "here.json")
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_no_code_comes_with_data(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "evil.py").write_text("raise SystemExit")
    for kind in ("policy", "learner", "world"):
        reference = f"{tmp_path / 'run' / 'evil.py'}:Evil"
        stored = {"version": 2, kind: reference if kind == "world" else {"name": reference}}
        with pytest.raises(InputError, match=f"{kind} is .*evil.py:Evil', code in the same folder; move it"):
            TrainConfig.from_json(stored, "x", tmp_path / "run")


def test_no_module_comes_with_data(tmp_path, monkeypatch):
    """Not even where the working directory is on the path."""
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "evil.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"learner is 'agent\.evil:A', code in the same folder; move it"):
        TrainConfig.from_json({"version": 2, "learner": {"name": "agent.evil:A"}}, "x", tmp_path / "agent")


def test_a_class_has_its_presets_however_it_is_named():
    place, learner = "sestra.learning.policies.objects.config:ObjectConfig", "sestra.learning.learners.sestra:Sestra"
    assert configure({"policy": place}) == configure({"policy": "objects"})
    assert configure({"world": "scene", "learner": learner}) == configure({"world": "scene", "learner": "sestra"})


@dataclass(frozen=True)
class Deep:
    """A policy with a setting of several values."""

    sizes: tuple[int, ...] = (2, 3)
    pair: tuple[str, float] = ("a", 0.5)

    def build(self, tables, vocabulary):
        return None


def test_settings_of_several_values(monkeypatch):
    monkeypatch.setitem(POLICIES._registered, "deep", Deep)
    config = configure({"policy": "deep", "sizes": (4, 5, 6)})
    assert TrainConfig.from_json(json.loads(json.dumps(config.to_json())), "x") == config
    for wrong in ({"sizes": [1, "a"]}, {"sizes": 3}, {"pair": ["a"]}):
        with pytest.raises(InputError, match="expected"):
            TrainConfig.from_json({"version": 2, "policy": {"name": "deep", **wrong}}, "x")
    with pytest.raises(InputError, match="its build gives None; expected a Policy"):
        config.build_policy(None, None)


@pytest.mark.parametrize("fields", [[("name", str, "x")], [("out", int, 3)], [("size", int)]])
def test_what_a_plug_in_cannot_be(fields):
    frozen = dataclasses.make_dataclass("Odd", fields, frozen=True, namespace={"build": lambda *_: None})
    loose = dataclasses.make_dataclass("Loose", [("size", int, 3)], namespace={"build": lambda *_: None})
    for kind in (frozen, loose):
        with pytest.raises(InputError, match="expected a frozen dataclass of settings with defaults, none called name"):
            POLICIES.register("odd", kind)


# The first version.


def test_all_fields_of_version_1():
    config = TrainConfig.from_json(VERSION_1, "x")
    assert (config.version, config.policy, config.learner) == (2, ObjectConfig(past="pointed"), BestAction())
    found = config.flat()
    renamed = {"symmetry": "rename_symbols", "rare": "min_word_count", "validation": "validation_fraction", "guided": "oracle_fraction"}
    renamed |= {
        "decay": "final_lr_fraction",
        "averaging": "ema_decay",
        "clip": "max_grad_norm",
        "network": "policy",
        "warm_up": "warm_up_fraction",
    }
    gone = {"robust", "taught", "smoothing", "chosen_after", "entropy", "policy"}
    for name, value in (VERSION_1 | VERSION_1["policy"]).items():
        assert name in gone or found[renamed.get(name, name)] == value, name
    assert found["min_updates"] == 0
    assert TrainConfig.from_json(config.to_json(), "x") == config


def test_attention_of_version_1():
    old = {"world": "scene", "learner": "sestra", "entropy": 0.07, "epochs": 40, "warm_up": 10, "policy": {"hidden": 6}}
    config = TrainConfig.from_json(old, "x")
    assert (config.policy, config.learner, config.optimisation.warm_up_fraction) == (AttentionConfig(hidden=6), Sestra(0.07), 0.25)
    assert (config.rollout.horizon, config.rollout.verbosity) == (7, 0.15)  # its defaults
    assert TrainConfig.from_json({"epochs": 3, "warm_up": 10}, "x").optimisation.warm_up_fraction == 1


@pytest.mark.parametrize("name", pretrained.names())
def test_shipped_configurations_are_of_this_version(name):
    stored = json.loads((agent_folder.find(name) / "agent.json").read_text())["training"]["config"]
    again = TrainConfig.from_json(stored, name).to_json()
    assert {name: value | stored[name] if isinstance(value, dict) else stored.get(name, value) for name, value in again.items()} == again
    assert set(again) - set(stored) <= {"init_from"}, "settings that came later, with defaults"
    newer = {name for group, values in again.items() if isinstance(values, dict) for name in values if name not in stored[group]}
    assert newer <= {"horizon_penalty", "batch_order", "normalisation", "fold"}, "settings that came later, with defaults"


@pytest.mark.parametrize("path", sorted((ROOT / "results" / "paper").glob("*.json")), ids=lambda path: path.stem)
def test_result_records_are_read(path):
    record = records.read(path)
    assert record["config"]["version"] == 2
    config = TrainConfig.from_json(record["config"], path.name)
    config.check()
    assert config.learner_name == record["learner"]
    assert set(record["different"]) <= set(config.flat())


@pytest.mark.parametrize("path", sorted((ROOT / "results" / "agents").glob("*.json")), ids=lambda path: path.stem)
def test_figures_of_shipped_agents_are_read(path):
    stored = json.loads(path.read_text())["config"]
    shipped = json.loads((agent_folder.find(path.stem) / "agent.json").read_text())["training"]["config"]
    assert TrainConfig.from_json(stored, path.name) == TrainConfig.from_json(shipped, path.stem)


def test_differences_have_the_names_of_this_version(tmp_path):
    record = json.loads((ROOT / "results" / "paper" / "scene-policy-gradient-1.json").read_text())
    record["different"] = {"epochs": [200, 8], "averaging": [0.0, 0.9], "network": ["objects", "attention"], "hidden": [100, 50]}
    (tmp_path / "one.json").write_text(json.dumps(record))
    assert list(records.read(tmp_path / "one.json")["different"]) == ["epochs", "ema_decay", "policy", "hidden"]


# Plug-ins.


@dataclass(frozen=True)
class Wide:
    """Its settings have unusual names."""

    width: int = 3

    presets: ClassVar = {"": {"learner": "supervised", "epochs": 5}, "supervised": {"width": 4}}

    def build(self, tables, vocabulary):
        raise NotImplementedError


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setattr(POLICIES, "_registered", dict(POLICIES.registered()))
    return POLICIES.register("wide", Wide)


def test_a_registered_policy_has_its_own_settings(wide):
    config = configure({"world": "scene", "policy": "wide"})
    assert (config.policy, config.learner_name, config.optimisation.epochs) == (Wide(4), "supervised", 5)
    assert config.to_json()["policy"] == {"name": POLICIES.reference(Wide), "width": 4}
    assert TrainConfig.from_json(config.to_json(), "x") == config


def test_settings_with_the_same_name_are_refused(wide):
    @dataclass(frozen=True)
    class Clash(Wide):
        epochs: int = 3

    with pytest.raises(InputError, match="its setting 'epochs' is also one of optimisation"):
        TrainConfig(policy=Clash()).check()


def test_what_is_no_policy_or_learner_is_refused():
    for registry, wrong in ((POLICIES, BestAction), (LEARNERS, Wide), (POLICIES, Wide())):
        with pytest.raises(InputError, match=r"expected a frozen dataclass"):
            registry.register("wrong", wrong)


def test_every_built_in_plug_in_has_defaults():
    for registry in (POLICIES, LEARNERS):
        for name in registry.names():
            assert dataclasses.is_dataclass(registry.get(name)())
            assert registry.reference(registry.get(name)) == name


def test_weights_of_version_1_get_their_new_names():
    names = {
        "members.0.layers.1.ask_norm.bias": "members.0.layers.1.cross_norm.bias",
        "reader.weight_ih_l0": "forward_lstm.weight_ih_l0",
        "state_encoder.gates.weight": "state_encoder.gates.weight",
        "stop": "stop_token",
    }
    new = migrations.migrate_weights({name: name for name in names})
    assert new == {renamed: name for name, renamed in names.items()}
    assert migrations.migrate_weights(new) == new

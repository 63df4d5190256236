"""The folder of a run, and what is exported from it: read back as it was written, or refused with a reason."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from lamps import Lamps, interactions

from sestra import pretrained
from sestra.data.batch import encode_turns
from sestra.data.sources import Source
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.io import read_json, to_json, write_json
from sestra.learning import checkpoint
from sestra.learning.config import PAPER, AttentionConfig, TrainConfig, build, preset
from sestra.learning.decoding import greedy
from sestra.learning.rollout import roll_out
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.learning.trainer import Training
from sestra.worlds import WORLDS

CONFIG = TrainConfig(world="lamps", epochs=1, horizon=3, batch_size=50, policy=AttentionConfig(embedding=4, hidden=6))
SOURCE = Source("lamps-train.tsv", "abc")


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS, "lamps", Lamps)


@pytest.fixture
def run(tmp_path) -> Training:
    made = Training(CONFIG, interactions(20, seed=1, turns=3), RunFolder(tmp_path / "run"))
    made.folder.create(CONFIG, made.vocabulary, SOURCE)
    made.run()
    return made


# The folder.


def test_what_was_written_is_read(run):
    assert run.folder.config() == CONFIG
    assert run.folder.vocabulary() == run.vocabulary
    assert run.folder.source() == SOURCE
    trained = load_trained(run.folder)
    assert trained.config == CONFIG
    assert not trained.policy.training
    assert trained.chosen["epoch"] == 1
    assert all(torch.equal(value, run.policy.state_dict()[name]) for name, value in trained.policy.state_dict().items())


def test_a_run_is_not_started_over_another(run):
    with pytest.raises(InputError, match="holds a run already; continue it with --resume"):
        run.folder.create(CONFIG, run.vocabulary, SOURCE)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be made"):
        RunFolder(tmp_path / "file" / "run").create(CONFIG, Vocabulary(()), SOURCE)


DAMAGE = {
    "config.json": [
        *["", "{", "[]", '{"world": 7}', '{"speed": 1}', '{"epochs": 1.5}', '{"epochs": true}', '{"learner": "magic"}'],
        *['{"policy": {"hidden": "many"}}', '{"policy": 3}', '{"world": "mars"}'],
    ],
    "vocab.json": ["", "{}", "[1]", '["red"'],
    "model.safetensors": ["", "hello"],
}


@pytest.mark.parametrize(("name", "content"), [(name, content) for name, contents in DAMAGE.items() for content in contents])
def test_a_damaged_file_is_named(run, name, content):
    (run.folder.path / name).write_text(content)
    with pytest.raises(InputError) as error:
        load_trained(run.folder)
    assert name in str(error.value) or "mars" in str(error.value)


@pytest.mark.parametrize("policy", [{"hidden": 0}, {"hidden": -3}])
def test_a_configuration_that_makes_no_sense_is_refused(run, policy):
    write_json(run.folder.path / "config.json", {"world": "lamps", "policy": policy})
    with pytest.raises(InputError):
        load_trained(run.folder)


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "model.safetensors"])
def test_a_missing_file_is_named(run, name):
    (run.folder.path / name).unlink()
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        load_trained(run.folder)


def test_a_model_that_does_not_fit_is_refused(run):
    write_json(run.folder.path / "config.json", dataclasses.asdict(replace(CONFIG, policy=AttentionConfig(embedding=4, hidden=7))))
    with pytest.raises(InputError, match=r"does not fit the config\.json"):
        load_trained(run.folder)


# Configurations.


@pytest.mark.parametrize("config", [TrainConfig(), CONFIG, preset("paper", "scene", "supervised")])
def test_configuration_survives_json(config):
    assert build(TrainConfig, json.loads(json.dumps(dataclasses.asdict(config))), "x") == config


@pytest.mark.parametrize(
    ("world", "entropy", "verbosity", "horizon"), [("alchemy", 0.1, 0.15, 7), ("scene", 0.07, 0.2, 5), ("tangrams", 0.1, 0.0, 5)]
)
@pytest.mark.parametrize("learner", ["sestra", "policy-gradient", "contextual-bandit", "supervised"])
def test_papers_preset_is_supplementary_d(world, entropy, verbosity, horizon, learner):
    config = preset("paper", world, learner)
    assert (config.entropy, config.verbosity, config.horizon) == (entropy, verbosity, horizon)
    assert config.optimiser == ("adam" if learner == "supervised" else "rmsprop")
    assert (config.batch_size, config.learning_rate, config.epochs, config.patience, config.validation) == (20, 0.001, 200, 50, 0.07)
    assert (config.policy.embedding, config.policy.hidden) == (50, 100)
    assert (config.decay, config.averaging, config.clip, config.warm_up) == (1, 0, 0, 0)  # nothing that the paper does not have
    assert (config.world, config.learner, config.preset) == (world, learner, "paper")
    config.check()
    preset("default", world, learner).check()
    assert set(PAPER) == {"alchemy", "scene", "tangrams"}


WRONG = [("epochs", 0), ("batch_size", 0), ("horizon", 0), ("rare", 0), ("execution_horizon", -1), ("verbosity", -0.1), ("entropy", -1)]
WRONG += [
    ("learning_rate", 0),
    ("learning_rate", float("nan")),
    ("validation", 0),
    ("validation", 1),
    ("seed", -1),
    ("decay", 1.5),
    ("taught", 1.5),
]
WRONG += [("averaging", -0.5), ("averaging", 2), ("clip", -1), ("patience", float("inf")), ("warm_up", -1), ("world", "mars")]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_values_that_make_no_sense(name, value):
    with pytest.raises(InputError) as error:
        replace(TrainConfig(), **{name: value}).check()
    assert name.replace("_", "-") in str(error.value)
    assert str(value) in str(error.value)


@pytest.mark.parametrize(("name", "value"), [("hidden", 0), ("embedding", 0), ("dropout", -0.1), ("dropout", 2), ("dropout", 1)])
def test_networks_that_make_no_sense(name, value):
    with pytest.raises(InputError, match=f"--{name} {value}"):
        TrainConfig(policy=replace(AttentionConfig(), **{name: value})).check()


# Pretrained policies.


def results_of(run: Training) -> Path:
    """As 'sestra evaluate' writes them."""
    figures = {"inst": 50.0, "utts3": 40.0, "utts5": 30.5}
    intervals = {name: [figure - 5, figure + 5] for name, figure in figures.items()}
    path = run.folder.path / "results.json"
    chosen = json.loads(to_json(load_trained(run.folder).chosen))
    report = {
        "config": dataclasses.asdict(CONFIG),
        "training": chosen,
        "intervals": intervals,
        "data": {"name": "lamps-dev.tsv", "sha256": ""},
    }
    write_json(path, {**figures, **report})
    return path


def test_export(run, tmp_path):
    to = tmp_path / "deep" / "lamps-agent"
    pretrained.export(run.folder, to, results_of(run))
    assert sorted(path.name for path in to.iterdir()) == ["CARD.md", "config.json", "model.safetensors", "vocab.json"]
    assert checkpoint.load(to / "model.safetensors")[0]["decoder_input.weight"].dtype == torch.float16
    half, whole = load_trained(RunFolder(to)), load_trained(run.folder)
    assert (half.config, half.vocabulary, half.chosen) == (whole.config, whole.vocabulary, whole.chosen)
    turns = encode_turns(interactions(10, seed=3, turns=3), whole.vocabulary, whole.tables)
    with torch.no_grad():
        answers = [roll_out(each.policy, each.tables, turns, 1, greedy).log_probs for each in (half, whole)]
    torch.testing.assert_close(*answers, atol=0.02, rtol=0)
    card = (to / "CARD.md").read_text()
    assert "# lamps-agent" in card
    assert "30.5 | 25.5 to 35.5" in card
    assert f"{sum(parameter.numel() for parameter in whole.policy.parameters()):,} parameters" in card


@pytest.mark.parametrize("change", ["config", "intervals", "data", "inst"])
def test_results_of_another_run_or_half_of_them_are_refused(run, tmp_path, change):
    path = results_of(run)
    results = read_json(path)
    if change == "config":
        results["config"]["seed"] = 99
    else:
        del results[change]
    write_json(path, results)
    with pytest.raises(InputError, match=r"results\.json"):
        pretrained.export(run.folder, tmp_path / "to", path)
    assert not (tmp_path / "to" / "config.json").exists()


def test_export_without_results_says_how_to_get_them(run, tmp_path):
    with pytest.raises(InputError, match=r"results\.json"):
        pretrained.export(run.folder, tmp_path / "to", run.folder.path / "results.json")


def test_export_over_the_run_itself_is_refused(run):
    """It would put the half-precision weights in the place of the run's own."""
    before = run.folder.model.read_bytes()
    with pytest.raises(InputError):
        pretrained.export(run.folder, run.folder.path, results_of(run))
    assert run.folder.model.read_bytes() == before


def test_find(run, tmp_path):
    assert pretrained.find(run.folder.path) == run.folder
    for nothing in (tmp_path / "none", tmp_path, "no-such-agent", "../sestra"):
        with pytest.raises(InputError, match="neither the folder of a run"):
            pretrained.find(nothing)


@pytest.mark.parametrize("name", pretrained.names())
def test_shipped_policies_load(name):
    trained = load_trained(pretrained.find(name))
    assert trained.config.world in WORLDS

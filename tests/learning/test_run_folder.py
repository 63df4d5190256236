"""The folder of a run, and what is exported from it: read back as it was written, or refused with a reason."""

from __future__ import annotations

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
from sestra.learning import checkpoint, export
from sestra.learning.config import TrainConfig
from sestra.learning.decoding import greedy
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.rollout import roll_out
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.learning.trainer import Trainer
from sestra.metrics import Accuracy, to_record
from sestra.worlds import WORLDS

CONFIG = TrainConfig(world="lamps", policy=AttentionConfig(embedding=4, hidden=6)).changed(epochs=1, horizon=3, batch_size=50)
SOURCE = Source("lamps-train.tsv", "abc")


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)


@pytest.fixture
def run(tmp_path) -> Trainer:
    made = Trainer(CONFIG, interactions(20, seed=1, turns=3), RunFolder(tmp_path / "run"))
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
    write_json(run.folder.path / "config.json", replace(CONFIG, policy=AttentionConfig(embedding=4, hidden=7)).to_json())
    with pytest.raises(InputError, match=r"does not fit the config\.json"):
        load_trained(run.folder)


# Pretrained policies.


def results_of(run: Trainer) -> Path:
    """As 'sestra evaluate' writes them."""
    figures = to_record({"inst": Accuracy(500, 1000), "utts3": Accuracy(80, 200), "utts5": Accuracy(61, 200)})
    path = run.folder.path / "results.json"
    chosen = json.loads(to_json(load_trained(run.folder).chosen))
    report = {
        "config": CONFIG.to_json(),
        "training": chosen,
        "data": {"name": "lamps-dev.tsv", "sha256": ""},
    }
    write_json(path, {**figures, **report})
    return path


def test_export(run, tmp_path):
    to = tmp_path / "deep" / "lamps-agent"
    export.export_run(run.folder, to, results_of(run))
    assert sorted(path.name for path in to.iterdir()) == ["CARD.md", "config.json", "model.safetensors", "vocab.json"]
    assert checkpoint.load(to / "model.safetensors")[0]["decoder_input.weight"].dtype == torch.float16
    half, whole = load_trained(RunFolder(to)), load_trained(run.folder)
    assert (half.config, half.vocabulary, half.chosen) == (whole.config, whole.vocabulary, whole.chosen)
    turns = encode_turns(interactions(10, seed=3, turns=3), whole.vocabulary, whole.tables)
    with torch.no_grad():
        answers = [roll_out(each.policy, each.tables, turns, 1, greedy).log_probs for each in (half, whole)]
    torch.testing.assert_close(*answers, atol=0.02, rtol=0)
    card = (to / "CARD.md").read_text()
    assert card.startswith('---\nlicense: "mit"\n')
    assert "\n---\n\n# lamps-agent" in card
    assert "30.5 | 24.5 to 37.2" in card
    assert f"{sum(parameter.numel() for parameter in whole.policy.parameters()):,} parameters" in card


@pytest.mark.parametrize("change", ["config", "counts", "data"])
def test_results_of_another_run_or_half_of_them_are_refused(run, tmp_path, change):
    path = results_of(run)
    results = read_json(path)
    if change == "config":
        results["config"]["seed"] = 99
    else:
        del results[change]
    write_json(path, results)
    with pytest.raises(InputError, match=r"results\.json"):
        export.export_run(run.folder, tmp_path / "to", path)
    assert not (tmp_path / "to" / "config.json").exists()


def test_export_without_results_says_how_to_get_them(run, tmp_path):
    with pytest.raises(InputError, match=r"results\.json"):
        export.export_run(run.folder, tmp_path / "to", run.folder.path / "results.json")


def test_export_over_the_run_itself_is_refused(run):
    """It would put the half-precision weights in the place of the run's own."""
    before = run.folder.model.read_bytes()
    with pytest.raises(InputError):
        export.export_run(run.folder, run.folder.path, results_of(run))
    assert run.folder.model.read_bytes() == before


def test_find(run, tmp_path):
    assert RunFolder.find(run.folder.path) == run.folder
    for nothing in (tmp_path / "none", tmp_path, "no-such-agent", "../sestra"):
        with pytest.raises(InputError, match="neither the folder of a run"):
            RunFolder.find(nothing)


@pytest.mark.parametrize("name", pretrained.names())
def test_shipped_policies_load(name):
    trained = load_trained(RunFolder.find(name))
    assert trained.config.world in WORLDS.names()

"""The folder of a run: read back as it was written, or refused with a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from lamps import Lamps, interactions

from sestra.data.sources import Source
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.io import write_json
from sestra.learning.config import TrainConfig
from sestra.learning.policies.attention_config import AttentionConfig
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.learning.trainer import Trainer
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

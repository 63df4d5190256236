"""The folder of a run: read back as it was written, or refused with a reason."""

from __future__ import annotations

import json
import math
import os
import resource
import shutil
from dataclasses import replace

import pytest
import torch
from lamps import Lamps, interactions
from small_runs import start, state_of

from sestra.data.sources import Source
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.io import write_json
from sestra.learning import checkpoint
from sestra.learning.config import TrainConfig, configure
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
    """In a run of an earlier version, which had no manifest."""
    write_json(run.folder.path / "config.json", replace(CONFIG, policy=AttentionConfig(embedding=4, hidden=7)).to_json())
    (run.folder.path / "run.json").unlink()
    tensors, info = checkpoint.load(run.folder.model)
    checkpoint.save(run.folder.model, tensors, {name: value for name, value in info.items() if name != "run"})
    with pytest.raises(InputError, match=r"does not fit the config\.json"):
        load_trained(run.folder)


# What was changed is refused: in one line, when the run is used and when it is resumed.


def changed(path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("config.json", '"learning_rate": 0.001', '"learning_rate": 0.002'),
        ("vocab.json", '"red"', '"green"'),
        ("data.json", '"abc"', '"abd"'),
        ("run.json", '"format": 1', '"format": 2'),
        ("run.json", '"run": "', '"run": "0'),
    ],
)
def test_an_edited_file_is_refused(run, name, old, new):
    changed(run.folder.path / name, old, new)
    for use in (load_trained, lambda folder: Trainer(CONFIG, interactions(20, seed=1, turns=3), folder).resume()):
        if (name, use) == ("data.json", load_trained):
            continue  # which does not need it
        with pytest.raises(InputError, match=r"is not as the run wrote it|was changed") as error:
            use(run.folder)
        assert str(run.folder.path / name) in str(error.value)
        assert "\n" not in str(error.value)


def test_a_checkpoint_of_another_run_is_refused(run, tmp_path):
    """Of the same shapes: another seed's."""
    other = Trainer(replace(CONFIG, seed=2), interactions(20, seed=1, turns=3), RunFolder(tmp_path / "other"))
    other.folder.create(other.config, other.vocabulary, SOURCE)
    other.run()
    shutil.copy(other.folder.checkpoints()[0], run.folder.checkpoints()[0])
    with pytest.raises(InputError, match="is the checkpoint of another run"):
        Trainer(CONFIG, interactions(20, seed=1, turns=3), run.folder).resume()
    shutil.copy(other.folder.model, run.folder.model)
    with pytest.raises(InputError, match="is not the model of this run"):
        load_trained(run.folder)


@pytest.mark.parametrize("how", ["missing", "empty", "of another run", "a directory's link"])
def test_resuming_restores_the_selected_model(run, tmp_path, how):
    expected = state_of(run.folder)
    run.folder.model.unlink()
    if how == "empty":
        run.folder.model.write_bytes(b"")
    elif how == "of another run":
        checkpoint.save(run.folder.model, run.best, {"run": "0", "epoch": 1, "validation": {}})
    elif how == "a directory's link":
        run.folder.model.symlink_to(tmp_path / "elsewhere")
    again = Trainer(CONFIG, interactions(20, seed=1, turns=3), run.folder)
    assert again.resume() == []
    assert state_of(run.folder) == expected
    assert load_trained(run.folder).chosen["epoch"] == 1
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("kind", [torch.complex64, torch.bool, math.nan, math.inf])
def test_weights_that_are_not_finite_real_numbers_are_refused(run, kind):
    tensors, info = checkpoint.load(run.folder.model)
    name = next(iter(tensors))
    tensors[name] = tensors[name].to(kind) if isinstance(kind, torch.dtype) else torch.full_like(tensors[name], kind)
    checkpoint.save(run.folder.model, tensors, info)
    run.folder.write_results(run.progress.history, run.progress.times)
    with pytest.raises(InputError, match=r"is of type|not finite numbers"):
        load_trained(run.folder)
    path = run.folder.checkpoints()[0]
    stored, info = checkpoint.load(path)
    checkpoint.save(path, stored | {f"policy.{name}": tensors[name]}, info)
    with pytest.raises(InputError, match=r"is of type|not finite numbers"):
        Trainer(CONFIG, interactions(20, seed=1, turns=3), run.folder).resume()


def test_a_pipe_or_a_huge_file_in_place_of_a_model_is_refused_at_once(run):
    run.folder.model.unlink()
    with run.folder.model.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="expected at most"):
        load_trained(run.folder)
    run.folder.model.unlink()
    os.mkfifo(run.folder.model)
    with pytest.raises(InputError, match="not an ordinary file"):
        load_trained(run.folder)


def test_checkpoints_are_ordered_by_number(run):
    names = ["epoch-9999.safetensors", "epoch-10000.safetensors", "epoch-10000-batch-9.safetensors", "epoch-10000-batch-10.safetensors"]
    for name in names:
        (run.folder.path / "checkpoints" / name).write_text("")
    assert [path.name for path in run.folder.checkpoints()] == [*names[::-1], "epoch-0001.safetensors"]
    run.folder.remove_old_checkpoints()
    assert [path.name for path in run.folder.checkpoints()] == names[:1:-1]


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "vocab.json").write_text("mine")
    with pytest.raises(InputError, match=r"has other files in it, such as vocab\.json"):
        RunFolder(tmp_path).create(CONFIG, Vocabulary(()), SOURCE)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("vocab.json", "mine")]


@pytest.mark.parametrize(("field", "value"), [("hidden", 10_000), ("embedding", 10**9)])
def test_sizes_are_bounded_before_memory_is_taken(tmp_path, field, value):
    """Else a configuration of a few bytes takes gigabytes."""
    run = start(tmp_path, epochs=1)
    run.run()
    config = json.loads((tmp_path / "config.json").read_text())
    config["policy"][field] = value
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "run.json").unlink()  # as in runs of earlier versions
    with pytest.raises(InputError, match=r"the policy would have .* weights|expected a whole number from 1 to 10,000"):
        load_trained(RunFolder(tmp_path))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3 << 20  # in kilobytes; the weights alone would be 21 gigabytes


def test_a_policy_of_too_many_layers_is_refused():
    with pytest.raises(InputError, match="--layers 10000: expected a whole number from 1 to 100"):
        configure({"policy": "objects"}).changed(layers=10_000).check()

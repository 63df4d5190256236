"""Checkpoints: what is read is just what was saved, and anything else is refused."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from sestra import io as files
from sestra.errors import InputError
from sestra.learning import checkpoint
from sestra.learning.checkpoint import CheckpointError

TENSORS = {
    "weights": torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),
    "half": torch.tensor([1.5, -2.0]).half(),
    "step": torch.tensor(7.0),
    "generator": torch.Generator().manual_seed(3).get_state(),
    "transposed": torch.arange(6).view(2, 3).T,
    "none": torch.zeros(0, 3),
}
INFO = {"epoch": 3, "best": -float("inf"), "history": [{"seconds": 0.25}], "name": "ü"}


@pytest.fixture
def saved(tmp_path) -> Path:
    checkpoint.save(tmp_path / "one.safetensors", TENSORS, INFO)
    return tmp_path / "one.safetensors"


def test_round_trip(saved):
    tensors, info = checkpoint.load(saved)
    assert info == INFO
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert torch.equal(tensors[name], tensor)
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_checksum_is_that_of_the_contents(saved, tmp_path):
    """Safetensors writes its header in any order, so the bytes of two files may differ."""
    other, changed = tmp_path / "two.safetensors", tmp_path / "three.safetensors"
    checkpoint.save(other, dict(reversed(TENSORS.items())), INFO)
    checkpoint.save(changed, TENSORS | {"step": torch.tensor(8.0)}, INFO)
    assert checkpoint.checksum(saved) == checkpoint.checksum(other) != checkpoint.checksum(changed)


def test_a_file_is_replaced(saved):
    tensors, _ = checkpoint.load(saved)
    checkpoint.save(saved, {"weights": tensors["weights"] + 1}, {"epoch": 4})
    assert checkpoint.load(saved)[1] == {"epoch": 4}
    assert torch.equal(checkpoint.load(saved)[0]["weights"], TENSORS["weights"] + 1)


def test_parameters_are_saved_without_their_graph(tmp_path):
    checkpoint.save(tmp_path / "x", {"w": torch.nn.Parameter(torch.ones(2))}, {})
    assert not checkpoint.load(tmp_path / "x")[0]["w"].requires_grad


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> tuple[Path, bytes]:
    path = tmp_path_factory.mktemp("damage") / "one.safetensors"
    checkpoint.save(path, TENSORS, INFO)
    return path, path.read_bytes()


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_flipped_bit_is_noticed(original, data):
    """Or else, in the header's spelling, changes nothing of what is read."""
    path, content = original
    place = data.draw(st.integers(0, len(content) - 1))
    damaged = bytearray(content)
    damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(damaged)
    with suppress(CheckpointError):
        tensors, info = checkpoint.load(path)
        assert info == INFO
        assert all(torch.equal(tensors[name], tensor) for name, tensor in TENSORS.items())
        assert tensors.keys() == TENSORS.keys()


@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_any_truncation_is_noticed(original, data):
    path, content = original
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(CheckpointError, match="damaged"):
        checkpoint.load(path)


def test_foreign_files_are_refused(tmp_path):
    foreign = tmp_path / "foreign.safetensors"
    save_file({"w": torch.ones(2)}, foreign)
    with pytest.raises(CheckpointError, match="format is None"):
        checkpoint.load(foreign)
    with pytest.raises(CheckpointError, match="no such file"):
        checkpoint.load(tmp_path / "nothing")
    with pytest.raises(CheckpointError):
        checkpoint.load(tmp_path)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(CheckpointError, match="not a readable"):
        checkpoint.load(tmp_path / "text")


@pytest.mark.parametrize("info", ["[1]", "{", None])
def test_information_that_is_no_object_is_refused(tmp_path, info):
    """Even where the checksum is right."""
    metadata = {"format": checkpoint.FORMAT, "sha256": hashlib.sha256((info or "").encode()).hexdigest()}
    save_file({}, tmp_path / "x", metadata | ({} if info is None else {"info": info}))
    with pytest.raises(CheckpointError):
        checkpoint.load(tmp_path / "x")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        checkpoint.save(tmp_path / "no such folder" / "x.safetensors", TENSORS, INFO)


def test_a_failed_save_leaves_what_was_there(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(InputError, match="No space left"):
        checkpoint.save(saved, {"w": torch.ones(2)}, {})
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


# Other files.


def test_text_and_json(tmp_path):
    files.write_json(tmp_path / "a.json", {"ü": [1, None]})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == files.read_json(tmp_path / "a.json") == {"ü": [1, None]}
    files.write_text(tmp_path / "a.json", "other")
    with pytest.raises(InputError, match="is not JSON"):
        files.read_json(tmp_path / "a.json")
    (tmp_path / "a.json").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not JSON"):
        files.read_json(tmp_path / "a.json")
    with pytest.raises(InputError, match="cannot be read"):
        files.read_json(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be written"):
        files.write_text(tmp_path / "none" / "a.json", "x")


def test_tied_weights(tmp_path):
    weight = torch.randn(2, 3)
    checkpoint.save(tmp_path / "x", {"a": weight, "b": weight, "c": weight.T}, {})
    tensors, _ = checkpoint.load(tmp_path / "x")
    assert torch.equal(tensors["a"], tensors["b"])
    assert torch.equal(tensors["c"], weight.T)

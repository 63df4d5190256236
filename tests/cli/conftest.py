"""A small generated data set, and a run on it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from commands import SMALL

from sestra.cli import main
from sestra.data import scone
from sestra.data.synthetic import generate
from sestra.worlds import get_world


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for world in ("scene", "tangrams"):
        for split, count, seed in (("train", 20, 1), ("dev", 8, 2)):
            scone.write(folder / f"{world}-{split}.tsv", get_world(world), generate(world, count, seed=seed))
    return folder


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory) -> Path:
    """A finished run on Scene; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    assert main(["train", "--world", "scene", "--data", str(data), "--out", str(folder), *SMALL]) == 0
    return folder


@pytest.fixture
def copied(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "copy"))

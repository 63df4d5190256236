"""The toy world, its data, and one Ray for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from lamps import Lamps, interactions

from sestra.data import scone
from sestra.experiments.ray_pool import import_ray, start_here
from sestra.worlds import WORLDS


@pytest.fixture(autouse=True)
def lamps(monkeypatch):
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in every trial, so that bits can be compared
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for split, count, seed in (("train", 40, 1), ("dev", 10, 2)):
        scone.write(folder / f"lamps-{split}.tsv", Lamps(), interactions(count, seed=seed, turns=5))
    return folder


@pytest.fixture(scope="session")
def started_ray():
    ray = import_ray()
    start_here(ray, 2)
    yield ray
    ray.shutdown()

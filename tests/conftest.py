"""What tests of several folders need."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadGroupScheduling

if TYPE_CHECKING:
    from hub_server import Hub
    from xdist.remote import Producer

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: threads of tests side by side only wait for each other


@pytest.fixture(scope="session")
def scone() -> Path:
    """The folder with the real SCONE files; the tests that ask for it are skipped where nobody says where it is."""
    folder = os.environ.get("SCONE_DATA")
    if not folder:
        pytest.skip("needs the real SCONE files: set SCONE_DATA to their folder ('sestra data download' fetches them)")
    return Path(folder)


@pytest.fixture
def no_scone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without SCONE, with an empty cache; gives the cache's folder."""
    monkeypatch.delenv("SCONE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated interactions of two worlds."""
    from sestra.data.scone import write
    from sestra.data.synthetic import generate
    from sestra.worlds import get_world

    folder = tmp_path_factory.mktemp("data")
    for world in ("scene", "tangrams"):
        for split, count, seed in (("train", 20, 1), ("dev", 8, 2)):
            write(folder / f"{world}-{split}.tsv", get_world(world), generate(world, count, seed=seed))
    return folder


@pytest.fixture(scope="session")
def small_run(small_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run on Scene; tests that change it take a copy."""
    from commands import SMALL

    from sestra.cli import main

    folder = tmp_path_factory.mktemp("trained") / "run"
    assert main(["train", "--world", "scene", "--data", str(small_data), "--out", str(folder), *SMALL]) == 0
    return folder


@pytest.fixture
def no_export(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs end without an agent, for tests that need none: to trace a policy takes seconds."""
    from sestra.learning import export

    monkeypatch.setattr(export, "export_run", lambda *_: None)
    monkeypatch.setattr(export, "export_trained", lambda *_: None)


@pytest.fixture
def copied_run(small_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_run, tmp_path / "copy"))


@pytest.fixture
def hub_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """The hub of this process, on this machine; nobody is signed in, and the cache is empty."""
    pytest.importorskip("huggingface_hub", reason="needs the extra: pip install '.[hub]'")
    from hub_server import Hub
    from huggingface_hub import constants

    started = Hub()
    monkeypatch.setattr(constants, "ENDPOINT", started.endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", started.endpoint + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # a protocol of its own, with a server of its own
    for variable in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    yield started
    started.stop()


LONG = (
    "tests/test_docs.py::test_the_documentation_builds_without_a_warning",
    "tests/worlds/test_plugin_package.py::test_it_is_trained_evaluated_and_followed",
)
"""They come first, so that no process waits for them at the end."""
TOGETHER = {
    "tests/e2e/": "browser",
    "tests/learning/test_graphs.py": "graphs",
    "tests/learning/test_export.py": "graphs",
    "tests/learning/policies/test_plain_policy.py": "graphs",
    "tests/learning/learners/test_distillation.py": "graphs",
    "tests/cli/test_train.py": "runs",
    "tests/cli/test_evaluate.py": "runs",
    "tests/examples/test_own_": "runs",
    "tests/test_docs.py::test_page_does_what_it_says": "pages",
    "tests/worlds/test_plugin_package.py": "package",
    "tests/examples/test_ray_serve.py": "ray",
    "tests/experiments/test_cluster.py": "ray",
    "tests/experiments/test_ray_pool.py": "ray",
    "tests/experiments/test_sweep.py": "ray",
}
"""Tests whose names begin so share what takes seconds to make (a browser, an exported policy, a cluster): one process makes it once."""


class Together(LoadGroupScheduling):
    """The marker ``xdist_group`` does nothing with pytest 9.2 and xdist 3.8: they differ on where a test's name is kept."""

    def _split_scope(self, nodeid: str) -> str:
        return next((group for begin, group in TOGETHER.items() if nodeid.startswith(begin)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together:
    return Together(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.nodeid not in LONG)

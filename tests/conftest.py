"""What tests of several folders need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as in every process of ours: threads of tests side by side only wait for each other


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

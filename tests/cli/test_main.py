"""The command's outermost layer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sestra.__main__ import run


def test_an_early_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch):
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("sestra.cli.main", interrupted)
    assert run() == 130


def test_the_module_is_the_command():
    found = subprocess.run([sys.executable, "-m", "sestra", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("sestra ")

"""Running a command of the package, inside the tests' own process or in another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sestra.cli import main

SMALL = ["--epochs", "1", "--hidden", "8", "--embedding", "6", "--execution-horizon", "5"]
"""Flags of ``sestra train`` for a run that takes a second."""


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Status, output and errors of a command; a traceback is never right."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as stopped:  # tyro's, for help and wrong flags
        status = int(stopped.code or 0)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return status, captured.out, captured.err


ROOT = Path(__file__).parent.parent


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60, check=False)


WITH_LAMPS = (
    "import sys; from lamps import Lamps; from sestra.worlds import WORLDS; WORLDS.register('lamps', Lamps); from sestra.cli import main; "
)


def start(arguments: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """A command in a process of its own, which knows the toy world."""
    tests = Path(__file__).parent
    path = f"{tests.parent}{os.pathsep}{tests}"
    program = WITH_LAMPS + f"sys.exit(main({list(arguments)!r}))"
    return subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, text=True, **options)

"""Running a command of the package inside the tests' own process."""

from __future__ import annotations

from pathlib import Path

import pytest

from sestra.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Status, output and errors of a command; a traceback is never right."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as stopped:  # tyro's, for help and wrong flags
        status = int(stopped.code or 0)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return status, captured.out, captured.err

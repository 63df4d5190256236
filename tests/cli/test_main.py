"""The command line as a whole: help, usage errors, interrupts, and output that nobody reads or that lacks characters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from commands import python, run

from sestra import __version__
from sestra.__main__ import run as run_module

HELP = """
import contextlib, io, os, sys
from sestra.cli import main
for command in {!r}:
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        main([*command.split(), "--help"])
    assert shown.getvalue().startswith(f"usage: sestra {{command}}".rstrip()), command
heavy = {{"torch", "numpy", "matplotlib", "PIL", "gymnasium", "ray", "optuna", "tensorboard"}}
print(sorted(heavy & set(sys.modules)), sum(os.times()[:2]))
"""
COMMANDS = ["", "data", "data check", "data stats", "demo", "run", "play", "attention", "train", "paper run", "paper report", "sweep"]


def test_help_imports_nothing_heavy():
    done = python(HELP.format(COMMANDS))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[] ")


def test_help_is_quick():
    """In user time, which other programs on the machine do not lengthen: under half a second, Python's own start included."""
    assert min(float(python(HELP.format([""])).stdout.split()[-1]) for _ in range(3)) < 0.5


def test_without_arguments_the_help_is_shown(capsys: pytest.CaptureFixture[str]):
    assert run(capsys) == run(capsys, "--help")


def test_flags_have_no_prefixes_and_show_their_docstrings(capsys: pytest.CaptureFixture[str]):
    status, out, _ = run(capsys, "data", "show", "--help")
    assert status == 0
    for flag in ("--world", "--split", "--index", "--id", "--data", "--svg", "--png"):
        assert f" {flag} " in out
    assert "Which of SCONE's splits." in out
    assert "None" not in out


def test_version(capsys: pytest.CaptureFixture[str]):
    assert run(capsys, "--version") == (0, f"sestra {__version__}\n", "")
    found = subprocess.run([sys.executable, "-m", "sestra", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout == f"sestra {__version__}\n"


@pytest.mark.parametrize("arguments", ["dance", "data", "data stats --jsn", "data generate", "data show --index two"])
def test_usage_errors_give_status_2(capsys: pytest.CaptureFixture[str], arguments: str):
    status, out, err = run(capsys, *arguments.split())
    assert (status, out) == (2, "")
    assert "sestra" in err


def test_an_early_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch):
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("sestra.cli.main", interrupted)
    assert run_module() == 130


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m sestra data show | head -n 1"
    done = python(f"import subprocess; subprocess.run({command!r}, shell=True, check=True)")
    assert (done.returncode, done.stderr) == (0, "")


WRITING = ["--help", "--version", "data show", "data generate --world scene", "data stats --json", "paper list", "train --help"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("where", [">&-", ">/dev/full", ">&- 2>&-", ">/dev/full 2>/dev/full"])
@pytest.mark.parametrize("arguments", WRITING)
def test_output_that_cannot_be_written(arguments: str, where: str):
    command = f"{sys.executable} -m sestra {arguments} {where}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    reason = "Bad file descriptor" if where.startswith(">&-") else "No space left on device"
    assert done.stderr == ("" if "2>" in where else f"sestra: standard output cannot be written ({reason})\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
def test_a_server_whose_address_cannot_be_written_ends(where: str):
    command = f"{sys.executable} -m sestra serve --port 0 --agent tangrams-sestra {where}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("sestra: standard output cannot be written (")
    assert done.stderr.count("\n") == 1


def test_help_in_a_narrow_terminal():
    done = python("from sestra.cli import main; main(['--help'])", COLUMNS="5")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: sestra")


def test_output_that_lacks_characters():
    done = python("from sestra.cli import main; main(['data', 'show', '--world', 'alchemy'])", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")

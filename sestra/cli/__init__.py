"""The command line: every command is a dataclass whose fields are its flags and whose ``run`` does the work.

Nothing here imports torch or numpy at the top: ``--help`` answers at once.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

import tyro

from sestra.cli import sweep, train
from sestra.cli.analyze import Analyze
from sestra.cli.attention import Attention
from sestra.cli.calibrate import Calibrate
from sestra.cli.check import Check
from sestra.cli.data import Data
from sestra.cli.demo import Demo
from sestra.cli.evaluate import Evaluate
from sestra.cli.export import Export
from sestra.cli.join import Join
from sestra.cli.new import New
from sestra.cli.paper import Paper
from sestra.cli.play import Play
from sestra.cli.run import Run
from sestra.cli.serve import Serve
from sestra.errors import InputError
from sestra.version import __version__
from sestra.worlds import WORLDS

DESCRIPTION = "Train, measure and use agents that follow sequences of natural-language instructions."

CONFIG = (
    tyro.conf.AvoidSubcommands,
    tyro.conf.OmitArgPrefixes,
    tyro.conf.OmitSubcommandPrefixes,
    tyro.conf.HelptextFromCommentsOff,
)


EXTRAS = {
    **dict.fromkeys(("filelock", "onnx", "onnx_ir", "onnxscript", "tensorboard", "torch"), "train"),
    **dict.fromkeys(("matplotlib", "PIL", "scipy"), "plot"),
    **dict.fromkeys(("optuna", "ray"), "sweep"),
    **dict.fromkeys(("fastapi", "httptools", "uvicorn"), "serve"),
    "huggingface_hub": "hub",
}
"""Packages that only some commands need, and the extra that installs each."""


class Command(Protocol):
    def run(self) -> int:
        """Do what was asked; the exit status."""


def commands(arguments: Sequence[str]) -> Any:
    """All commands: each has the name of its class and is described by its docstring. To add one is to add a line."""
    return (
        Data
        | Demo
        | Run
        | Play
        | Attention
        | Serve
        | New
        | train.command(arguments)
        | Evaluate
        | Analyze
        | Check
        | Calibrate
        | Join
        | Export
        | Paper
        | sweep.command(arguments)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error that is the input's fault is shown without a traceback and gives status 2, as a wrong flag does."""
    arguments = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks a character still shows the rest
    if shutil.get_terminal_size().columns < MIN_COLUMNS:
        os.environ["COLUMNS"] = str(MIN_COLUMNS)  # tyro never ends in a narrower one
    try:
        return _run(arguments)
    except SystemExit as ended:  # tyro's, for help and wrong flags
        try:
            sys.stdout.flush()
        except OSError as error:
            return _give_up_output(error)
        raise ended
    except OSError as error:
        if error.filename is None and error.errno in OUTPUT_FAILURES:  # errors of files have their names, or are InputErrors
            return _give_up_output(error)
        raise


MIN_COLUMNS = 40
OUTPUT_FAILURES = (errno.EBADF, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EPIPE)


def _open_closed_streams() -> None:
    """Give closed standard streams something that cannot be written to: else the next file that is opened takes their place."""
    if sys.stdout is not None and sys.stderr is not None:
        return
    while (descriptor := os.open(os.devnull, os.O_RDONLY)) < 3:
        pass
    os.close(descriptor)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _give_up_output(error: OSError) -> int:
    """The exit status where standard output cannot be written; it is no fault that whoever read it has seen enough."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is written when the process ends
    if isinstance(error, BrokenPipeError):
        return 0
    _complain(f"standard output cannot be written ({error.strerror})")
    return 1


def _complain(message: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"sestra: {message}\n")
        sys.stderr.flush()


def _run(arguments: Sequence[str]) -> int:
    """Run the command."""
    if list(arguments) == ["--version"]:
        sys.stdout.write(f"sestra {__version__}\n")
        sys.stdout.flush()
        return 0
    try:
        shown = ["--help" if argument == "--help-all" else argument for argument in arguments]
        description = f"{DESCRIPTION} Worlds: {', '.join(WORLDS.names())}."
        command: Command = tyro.cli(commands(arguments), prog="sestra", description=description, args=shown, config=CONFIG)
        status = command.run()
        sys.stdout.flush()
    except InputError as error:
        _complain(str(error))
        return 2
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        _complain(f"this needs the package {package}; install it with: pip install 'sestra[{EXTRAS[package]}]'")
        return 2
    except KeyboardInterrupt:
        return 130
    return status

"""The command line: every command is a dataclass whose fields are its flags and whose ``run`` does the work.

Nothing here imports torch or numpy at the top: ``--help`` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Any, Protocol

import tyro

from sestra.cli import sweep, train
from sestra.cli.analyze import Analyze
from sestra.cli.attention import Attention
from sestra.cli.check import Check
from sestra.cli.data import Data
from sestra.cli.demo import Demo
from sestra.cli.evaluate import Evaluate
from sestra.cli.export import Export
from sestra.cli.join import Join
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
    tyro.conf.FlagCreatePairsOff,
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
        | train.command(arguments)
        | Evaluate
        | Analyze
        | Check
        | Join
        | Export
        | Paper
        | sweep.command(arguments)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error that is the input's fault is shown without a traceback and gives status 2, as a wrong flag does."""
    arguments = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if list(arguments) == ["--version"]:
        sys.stdout.write(f"sestra {__version__}\n")
        return 0
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks a character still shows the rest
    try:
        shown = ["--help" if argument == "--help-all" else argument for argument in arguments]
        description = f"{DESCRIPTION} Worlds: {', '.join(WORLDS.names())}."
        command: Command = tyro.cli(commands(arguments), prog="sestra", description=description, args=shown, config=CONFIG)
        status = command.run()
        sys.stdout.flush()
    except InputError as error:
        sys.stderr.write(f"sestra: {error}\n")
        return 2
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        sys.stderr.write(f"sestra: this needs the package {package}; install it with: pip install 'sestra[{EXTRAS[package]}]'\n")
        return 2
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return status

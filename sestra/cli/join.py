"""``sestra join``: an ensemble of several runs' policies."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import tyro

from sestra.cli.options import Folder


@dataclass(frozen=True)
class Join:
    """Join runs with the same policy settings, such as several seeds, into an ensemble: the mean of their probabilities decides."""

    policies: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN")]
    """The folders of two or more runs."""
    to: Folder
    """The folder to make; it can be evaluated, used and exported like a run's."""

    def run(self) -> int:
        from sestra.learning.run_folder import RunFolder, write_ensemble

        folders = [RunFolder.find(name) for name in self.policies]
        write_ensemble(folders, RunFolder(self.to))
        sys.stdout.write(f"{self.to}: {len(folders)} runs joined; evaluate the ensemble with: sestra evaluate {self.to}\n")
        return 0

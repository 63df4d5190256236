"""``sestra export``: a run's selected policy as a small folder that can be shipped."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import tyro

from sestra.cli.options import Folder, OptionalFile
from sestra.errors import InputError


@dataclass(frozen=True)
class Export:
    """Write a run's selected policy as a small folder: weights in half precision, configuration, vocabulary and a card."""

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """The folder of a run."""
    to: Folder
    """The folder to make."""
    results: OptionalFile = None
    """Figures for the card, as 'sestra evaluate' writes them; by default results.json in the run's folder."""

    def run(self) -> int:
        from sestra.learning import export
        from sestra.learning.run_folder import RunFolder

        folder = RunFolder.find(self.policy)
        if folder.exported:
            raise InputError(f"{self.policy}: is exported already, as {folder.path}; name the folder of a run, or copy that one")
        export.export_run(folder, self.to, self.results or folder.path / "results.json")
        sys.stdout.write(f"{self.to}: written\n")
        return 0

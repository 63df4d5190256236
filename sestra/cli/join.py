"""``sestra join``: several runs' best policies as one that decides by their mean."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro


@dataclass(frozen=True)
class Join:
    """Join runs with the same network, as with several seeds, into one policy: the mean of their probabilities decides."""

    policies: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN")]
    """The folders of two or more runs."""
    to: Annotated[Path, tyro.conf.arg(metavar="FOLDER")]
    """The folder to make; it can be measured, used and exported as a run's can."""

    def run(self) -> int:
        from sestra.learning.run_folder import RunFolder, join

        folders = [RunFolder.find(name) for name in self.policies]
        join(folders, RunFolder(self.to))
        sys.stdout.write(f"{self.to}: {len(folders)} runs joined; measure them with: sestra evaluate {self.to}\n")
        return 0

"""``sestra join``: an ensemble of several runs' policies."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import tyro

from sestra.cli.options import Folder


@dataclass(frozen=True)
class Join:
    """Join runs with the same policy settings, such as several seeds, into one agent: the mean of their probabilities decides."""

    policies: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN")]
    """The folders of two or more runs or agents."""
    to: Folder
    """The folder of the agent to make."""

    def run(self) -> int:
        from sestra.agent import folder

        folder.join([folder.find(name) for name in self.policies], self.to)
        sys.stdout.write(f"{self.to}: {len(self.policies)} runs joined; evaluate the ensemble with: sestra evaluate {self.to}\n")
        return 0

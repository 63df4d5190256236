"""``sestra export``: a run's selected policy as an agent, a folder of ONNX graphs that can be shipped."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from sestra.cli.options import OptionalFile, OptionalFolder
from sestra.errors import InputError


@dataclass(frozen=True)
class Export:
    """Write a run's selected policy as an agent: ONNX graphs with weights in half precision, vocabulary and a card.

    'sestra train' does this at its end, into the run's folder; needed after a run was interrupted, and to ship an agent with its figures.
    """

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN_OR_AGENT")]
    """The folder of a run or of an agent."""
    to: OptionalFolder = None
    """The folder to make; by default the run's agent is written into the run's own folder."""
    results: OptionalFile = None
    """Figures for the card, as 'sestra evaluate' writes them; by default results.json in the run's folder."""

    def run(self) -> int:
        from sestra.agent import folder
        from sestra.agent.card import export_with_card

        run = folder.find_run(self.policy)
        if not self.to and not run:
            raise InputError(f"{folder.find(self.policy)}: is an agent, not a run; name the folder to copy it to with --to")
        if not run and not self.results:
            figures = f"'sestra evaluate {self.policy} --out FILE' writes"
            raise InputError(
                f"{folder.find(self.policy)}: is an agent, not a run; name the file of its figures, which {figures}, with --results"
            )
        if not self.to and self.results:
            raise InputError(f"--results {self.results}: are for the card of an agent in a folder of its own; name the folder with --to")
        if run and not folder.is_current(run):
            from sestra.learning.export import export_run
            from sestra.learning.run_folder import RunFolder

            export_run(RunFolder(run))
        if self.to:
            export_with_card(folder.find(self.policy), self.to, self.results or Path(self.policy) / "results.json")
        sys.stdout.write(f"{self.to or Path(self.policy) / folder.IN_RUN}: written\n")
        return 0

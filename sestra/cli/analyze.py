"""``sestra analyze``: references to earlier turns and classes of errors, beside those that the paper's authors counted by hand."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.console import Console
from rich.text import Text

from sestra.cli.evaluate import PolicyOnSplit
from sestra.cli.options import Json, OptionalFile, check_suffix, print_json
from sestra.cli.outputs import Force, check_output
from sestra.cli.tables import accuracy_table
from sestra.data import sources
from sestra.errors import check_number
from sestra.io import write_text
from sestra.version import __version__

if TYPE_CHECKING:
    from sestra.analysis.analyze import Analysis
    from sestra.analysis.annotations import Agreement, Half


@dataclass(frozen=True)
class Analyze(PolicyOnSplit):
    """Analyze an agent: references to earlier turns by type and age, how many it resolves, and its errors by class and cause."""

    annotations: OptionalFile = None
    """References and labels that a person annotated, such as results/annotations/alchemy.json: shows how far the program agrees."""
    judge: Annotated[str | None, tyro.conf.arg(metavar="AGENT", help_behavior_hint="")] = None
    """An ensemble: labels that all its networks contradict count as ambiguous or incorrect; by default all agents shipped for the world."""
    page: OptionalFile = None
    """Where to write errors as a page to read; its name ends in .html."""
    errors: int = 50
    """How many errors the page shows, evenly from the split's first to its last."""
    force: Force = False
    json: Json = False

    def run(self) -> int:
        check_suffix("--page", self.page, ".html")
        check_output("--page", self.page, force=self.force)
        check_number("--errors", self.errors, 1, 10_000)

        from sestra.analysis import annotations as hand
        from sestra.analysis.analyze import analyse
        from sestra.analysis.judge import disputed, find_judge

        agent = self.load()
        judges = find_judge(agent, self.judge)
        interactions, source = sources.load(agent.about.world, self.split, self.data)
        read = hand.read(self.annotations, agent.world, self.split, interactions) if self.annotations else None
        doubted = disputed(judges, interactions) if judges else None
        analysis = analyse(agent, interactions, doubted, read)
        errors = {(case.interaction, case.turn) for case, _ in analysis.wrong}
        agreement = {half: hand.agreement(agent.world, read, interactions, half, doubted, errors) for half in hand.HALVES} if read else {}
        if self.page is not None:
            from sestra.analysis.page import write_page

            write_text(self.page, write_page(analysis, f"Errors of {self.policy}", source.name, self.errors))
        if self.json:
            about = {"agent": agent.name, "world": agent.about.world, "split": self.split, "data": dataclasses.asdict(source)}
            agreed = {half: {name: each.to_json() for name, each in found.items()} for half, found in agreement.items()}
            print_json(about | {"version": __version__} | analysis.to_json() | ({"agreement": agreed} if agreed else {}))
        else:
            self._print(analysis, agreement, source.name)
        return 0

    def _print(self, analysis: Analysis, agreement: dict[Half, dict[str, Agreement]], source: str) -> None:
        from sestra.cli import analysis_tables as tables

        console = Console(highlight=False)
        console.print(tables.reference_table(analysis, f"{self.policy} on {source}"))
        referring = sum(bool(case.references) for case in analysis.cases)
        console.print(Text(f"{referring:,} of {len(analysis.cases):,} instructions refer back.\n"))
        for half, found in agreement.items():
            console.print(tables.agreement_table(half, found))
        console.print(tables.resolved_table(analysis))
        console.print(accuracy_table("Accuracy of single instructions", "instructions", analysis.accuracies()))
        console.print(tables.cause_table(analysis))
        console.print(tables.class_table(analysis.classes()))
        if self.page is not None:
            wrong = len(analysis.wrong)
            console.print(Text(f"{self.page}: {min(wrong, self.errors)} of {wrong} errors written"), soft_wrap=True)

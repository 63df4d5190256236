"""``sestra check``: what an agent is able to follow, and what it should leave alone, by capability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args

import tyro
from rich.console import Console
from rich.text import Text

from sestra.cli.options import Caution, Json, OptionalFile, Switch, check_suffix, print_json
from sestra.cli.outputs import Force, check_output
from sestra.cli.tables import accuracy_table
from sestra.errors import check_number
from sestra.io import write_text
from sestra.version import __version__

if TYPE_CHECKING:
    from sestra.analysis.checks.run import Report


@dataclass(frozen=True)
class Check:
    """Check the capabilities of an agent by sentences whose outcome is known: generated from patterns, and written by hand."""

    agent: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN_OR_AGENT")]
    """The folder of a run or of an exported agent, or the name of a pretrained one."""
    capability: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME...", help_behavior_hint="")] = ()
    """Only the patterns of these capabilities, such as colour; by default all, and the hand-written sentences."""
    examples: int = 3
    """How many failures of each capability to show."""
    seed: int = 0
    """The random seed of the situations that the patterns are said in."""
    caution: Caution = None
    page: OptionalFile = None
    """Where to write the tables and failures as a page to read; its name ends in .html."""
    show_report: Switch = False
    """Also show failures of the hand-written half "report". It measures only as long as nobody who improves agents has looked at it."""
    force: Force = False
    json: Json = False

    def run(self) -> int:
        check_suffix("--page", self.page, ".html")
        check_output("--page", self.page, force=self.force)
        check_number("--examples", self.examples, 0, 1000)
        check_number("--seed", self.seed, 0)

        from sestra.agent import Agent
        from sestra.analysis.checks.run import run_checks

        agent = Agent.from_pretrained(self.agent)
        if self.caution is not None:
            check_number("--caution", self.caution, 0, 1, whole=False)
            agent.caution = self.caution
        report = run_checks(agent, self.seed, self.capability)
        if self.page is not None:
            from sestra.analysis.checks.page import write_page

            title = f"Checks of {self.agent}"
            write_text(self.page, write_page(report, agent.world, title, self.examples, show_report=self.show_report))
        if self.json:
            about = {"agent": self.agent, "world": agent.about.world, "seed": self.seed, "caution": agent.caution, "version": __version__}
            print_json(about | report.to_json(self.examples, show_report=self.show_report))
        else:
            self._print(report)
        return 0

    def _print(self, report: Report) -> None:
        from sestra.analysis.checks.check import Half
        from sestra.analysis.checks.run import some_of_each

        console = Console(highlight=False)
        for title, followable in (("the expected state is reached", True), ("not to be followed, and nothing is changed", False)):
            rows = report.capabilities(followable=followable)
            if rows:
                console.print(accuracy_table(f"{self.agent}: {title}", "capability", rows))
        if report.sentences:
            for half in get_args(Half):
                console.print(accuracy_table(f'Hand-written sentences, half "{half}"', "sentences", report.half(half)))
        for outcome in some_of_each(report.failures(show_report=self.show_report), self.examples):
            check = outcome.check
            half = f", hand-written ({check.half})" if check.half else ""
            lines = (
                f"{check.capability}{half}: {' / '.join(check.instructions)}",
                f"    from     {check.start}",
                f"    expected {check.goal if check.followable else 'no change'}",
                f"    reached  {outcome.reached}",
            )
            console.print(Text("\n".join(lines)), soft_wrap=True)
        if self.page is not None:
            console.print(Text(f"{self.page}: written"), soft_wrap=True)

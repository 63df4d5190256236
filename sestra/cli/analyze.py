"""``sestra analyze``: references to earlier turns and classes of errors, which the paper's authors counted by hand."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from sestra.cli.evaluate import PolicyOnSplit
from sestra.cli.options import Json, OptionalFile, check_suffix, print_json
from sestra.cli.outputs import Force, check_output
from sestra.cli.tables import accuracy_table, table
from sestra.data import sources
from sestra.errors import check_number
from sestra.io import write_text
from sestra.version import __version__

if TYPE_CHECKING:
    from sestra.analysis.analyze import Analysis


@dataclass(frozen=True)
class Analyze(PolicyOnSplit):
    """Analyze the errors of an agent: references to earlier turns by their age, accuracy with and without them, classes of errors."""

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

        from sestra.analysis.analyze import analyse

        agent = self.load()
        interactions, source = sources.load(agent.about.world, self.split, self.data)
        analysis = analyse(agent, interactions)
        if self.page is not None:
            from sestra.analysis.page import write_page

            write_text(self.page, write_page(analysis, f"Errors of {self.policy}", source.name, self.errors))
        if self.json:
            about = {"world": agent.about.world, "split": self.split, "data": dataclasses.asdict(source), "version": __version__}
            print_json(about | analysis.to_json())
        else:
            self._print(analysis, source.name)
        return 0

    def _print(self, analysis: Analysis, source: str) -> None:
        from sestra.analysis.analyze import AGES

        console = Console(highlight=False)
        figures, wrong = analysis.to_json(), len(analysis.wrong)
        title = f"{self.policy} on {source}: references, by the turns since the referent was last changed"
        references = table(title, "", *map(str, AGES), "never")
        for label, counts in analysis.ages().items():
            references.add_row(label, *map(str, counts))
        console.print(references)
        share = f"{figures['with_reference']:,} of {figures['instructions']:,} instructions refer back"
        console.print(Text(f"{share}; {figures['references_an_interaction']:.1f} references per interaction.\n"))
        console.print(accuracy_table("Accuracy of single instructions", "instructions", analysis.accuracies()))
        classes = table("Errors", "class", "errors", "share")
        for name, number in analysis.classes().items():
            classes.add_row(name, str(number), f"{100 * number / wrong:.1f}%" if wrong else "")
        console.print(classes)
        if self.page is not None:
            console.print(Text(f"{self.page}: {min(wrong, self.errors)} of {wrong} errors written"), soft_wrap=True)

"""``sestra analyze``: references to earlier turns and classes of errors, which the paper's authors counted by hand."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from sestra.cli.options import OptionalFile, OptionalFolder, SplitName, Switch, print_json
from sestra.errors import InputError
from sestra.version import __version__

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from sestra.analysis.analyze import Analysis


@dataclass(frozen=True)
class Analyze:
    """Say where an agent errs: coreference and ellipsis by how far back they reach, accuracy with and without them, classes of errors."""

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN_OR_AGENT")]
    """The folder of a run or of an exported agent, or the name of a pretrained one."""
    split: SplitName = "dev"
    """What to follow the instructions of."""
    data: OptionalFolder = None
    """Where SCONE's files are; by default SCONE_DATA, the user's cache, or else generated interactions."""
    page: OptionalFile = None
    """Where to write errors as a page to read; its name ends in .html."""
    errors: int = 50
    """How many errors the page shows, evenly from the split's first to its last."""
    json: Switch = False
    """Print one JSON object instead of tables."""

    def run(self) -> int:
        if self.page is not None and self.page.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"--page {self.page}: expected a name that ends in .html")
        if not 1 <= self.errors <= 10_000:
            raise InputError(f"--errors {self.errors}: expected a number from 1 to 10,000")

        from sestra import pretrained
        from sestra.analysis.analyze import analyse
        from sestra.data import sources
        from sestra.io import write_text
        from sestra.learning.run_folder import load_trained
        from sestra.learning.runtime_settings import use_one_core

        use_one_core()
        trained = load_trained(pretrained.find(self.policy))
        interactions, source = sources.load(trained.config.world, self.split, self.data)
        analysis = analyse(trained, interactions)
        if self.page is not None:
            from sestra.analysis.page import write_page

            write_text(self.page, write_page(analysis, f"Errors of {self.policy}", source.name, self.errors))
        if self.json:
            about = {"world": trained.config.world, "split": self.split, "data": dataclasses.asdict(source), "version": __version__}
            print_json(about | analysis.to_json())
        else:
            self._print(analysis, source.name)
        return 0

    def _print(self, analysis: Analysis, source: str) -> None:
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False)
        figures = analysis.to_json()
        self._references(console, analysis, source)
        share = f"{figures['with_reference']:,} of {figures['instructions']:,} instructions refer back"
        console.print(Text(f"{share}; {figures['references_an_interaction']:.1f} references an interaction.\n"))
        table = _table("Accuracy of single instructions", "instructions", "accuracy", "95% interval", "right", "of")
        for name, each in analysis.accuracies().items():
            if each.trials:
                low, high = each.interval
                table.add_row(name, f"{each.percent:.1f}", f"{low:.1f} to {high:.1f}", str(each.successes), str(each.trials))
        console.print(table)
        wrong = len(analysis.wrong)
        table = _table("Errors", "class", "errors", "share")
        for name, number in analysis.classes().items():
            table.add_row(name, str(number), f"{100 * number / wrong:.1f}%" if wrong else "")
        console.print(table)
        if self.page is not None:
            console.print(Text(f"{self.page}: {min(wrong, self.errors)} of {wrong} errors written"), soft_wrap=True)

    def _references(self, console: Console, analysis: Analysis, source: str) -> None:
        from sestra.analysis.analyze import AGES

        title = f"{self.policy} on {source}: references, by the turns since the referent was last changed"
        table = _table(title, "", *map(str, AGES), "never")
        for label, counts in analysis.ages().items():
            table.add_row(label, *map(str, counts))
        console.print(table)


def _table(title: str, *columns: Any) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title))
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table

"""``sestra evaluate``: how often a policy is right on a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from sestra.cli.options import OptionalFile, OptionalFolder, SplitName, Switch, print_json
from sestra.errors import InputError

if TYPE_CHECKING:
    from sestra.data.scone import Interaction
    from sestra.learning.evaluation import Accuracy, Evaluation
    from sestra.learning.run_folder import Trained


@dataclass(frozen=True)
class Evaluate:
    """Measure a run or a pretrained agent: single instructions, the first three of an interaction, and whole interactions."""

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")]
    """The folder of a run, or the name of a pretrained agent."""
    split: SplitName = "dev"
    """What to measure on."""
    data: OptionalFolder = None
    """Where SCONE's files are; by default SCONE_DATA, the user's cache, or else generated interactions."""
    by: Annotated[Literal["turn"] | None, tyro.conf.arg(metavar="{turn}", help_behavior_hint="")] = None
    """Also show the accuracy of single instructions by their place in the interaction."""
    errors: int = 0
    """How many instructions that went wrong to list, with the expected and the reached state."""
    out: OptionalFile = None
    """Where to write the results as JSON; by default results.json in the run's folder (nothing is written for a pretrained agent)."""
    json: Switch = False
    """Print one JSON object instead of tables."""

    def run(self) -> int:
        from sestra import pretrained
        from sestra.io import write_json
        from sestra.learning.measure import measure
        from sestra.learning.run_folder import load_trained
        from sestra.learning.runtime_settings import use_one_core

        use_one_core()
        if self.errors < 0:
            raise InputError(f"--errors {self.errors}: expected 0 or more")
        folder = pretrained.find(self.policy)
        trained = load_trained(folder)
        measured = measure(trained, self.split, self.data)
        report = measured.record
        wrong = _errors(trained, measured.interactions, measured.result)[: self.errors]
        if self.json:
            print_json(report | ({"errors": wrong} if self.errors else {}))
        else:
            self._print(report, measured.result, wrong)
        out = self.out or (None if folder.exported else folder.path / "results.json")
        if out:  # last: what was measured is seen even if it cannot be written
            write_json(out, report)
        return 0

    def _print(self, report: dict[str, Any], result: Evaluation, wrong: list[dict[str, str]]) -> None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        from sestra.learning.measure import METRICS, rounded_interval

        console = Console(highlight=False)
        table = Table(title=Text(f"{self.policy} on {report['data']['name']}"))
        for column in ("", "accuracy", "95% interval", "right", "of"):
            table.add_column(column, justify="left" if not column else "right")
        rows: dict[str, Accuracy] = {label: getattr(result, name) for name, label in METRICS.items()}
        if self.by == "turn":
            rows |= {f"Inst, turn {number}": accuracy for number, accuracy in enumerate(result.by_turn, start=1)}
        for label, accuracy in rows.items():
            low, high = rounded_interval(accuracy)
            table.add_row(label, f"{accuracy.percent:.1f}", f"{low:.1f} to {high:.1f}", str(accuracy.successes), str(accuracy.trials))
        console.print(table)
        for error in wrong:
            console.print(Text(f"\n{error['interaction']}, turn {error['turn']}: {error['instruction']}", style="bold"))
            for name in ("start", "expected", "reached"):
                console.print(Text(f"  {name:<9}{error[name]}"), soft_wrap=True)


def _errors(trained: Trained, interactions: list[Interaction], result: Evaluation) -> list[dict[str, str]]:
    """Every single instruction that did not reach its goal."""
    known = [
        (interaction, number)
        for interaction in interactions
        for number in range(len(interaction.instructions))
        if None not in interaction.states[number : number + 2]
    ]
    world = trained.tables.world
    reached = trained.tables.decode(result.reached)
    return [
        {
            "interaction": interaction.id,
            "turn": str(number + 1),
            "instruction": interaction.instructions[number],
            "start": world.format(interaction.states[number] or ()),
            "expected": world.format(interaction.states[number + 1] or ()),
            "reached": world.format(state),
        }
        for (interaction, number), state, right in zip(known, reached, result.success.tolist(), strict=True)
        if not right
    ]

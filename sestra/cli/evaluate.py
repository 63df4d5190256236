"""``sestra evaluate``: the accuracy of a policy on a split."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from sestra.cli.options import DataFolder, Json, OptionalFile, SplitName, print_json
from sestra.cli.outputs import Force, check_output
from sestra.cli.tables import accuracy_table
from sestra.errors import check_number
from sestra.metrics import METRICS

if TYPE_CHECKING:
    from sestra.agent import Agent
    from sestra.agent.evaluation import Evaluation
    from sestra.data.scone import Interaction


@dataclass(frozen=True)
class PolicyOnSplit:
    """The flags of commands that run a policy on a split."""

    policy: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN_OR_AGENT")]
    """The folder of a run or of an exported agent, or the name of a pretrained one."""
    split: SplitName = "dev"
    """The split to follow the instructions of."""
    data: DataFolder = None

    def load(self) -> Agent:
        from sestra.agent import Agent

        return Agent.from_pretrained(self.policy)


@dataclass(frozen=True)
class Evaluate(PolicyOnSplit):
    """Measure the accuracy of a run or an agent: single instructions, the first three of an interaction, and whole interactions."""

    by: Annotated[Literal["turn"] | None, tyro.conf.arg(metavar="{turn}", help_behavior_hint="")] = None
    """Also show the accuracy of single instructions by their place in the interaction."""
    errors: int = 0
    """How many wrong instructions to list, with the expected and the reached state."""
    out: OptionalFile = None
    """Where to write the results as JSON; by default results.json in the folder of a run (nothing is written for an exported agent)."""
    force: Force = False
    json: Json = False

    def run(self) -> int:
        from sestra.agent.evaluation import evaluate_split
        from sestra.agent.folder import find_run
        from sestra.io import write_json

        check_number("--errors", self.errors, 0)
        check_output("--out", self.out, force=self.force)
        agent = self.load()
        measured = evaluate_split(agent, self.split, self.data)
        wrong = _errors(agent, measured.interactions, measured.result)[: self.errors]
        if self.json:
            print_json(measured.record | ({"errors": wrong} if self.errors else {}))
        else:
            self._print(measured.record["data"]["name"], measured.result, wrong)
        run = find_run(self.policy)
        out = self.out or (run / "results.json" if run else None)
        if out:  # last, so that the results are shown even if they cannot be written
            write_json(out, measured.record)
        return 0

    def _print(self, source: str, result: Evaluation, wrong: list[dict[str, Any]]) -> None:
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False)
        rows = {label: getattr(result, name) for name, label in METRICS.items()}
        if self.by == "turn":
            rows |= {f"Inst, turn {number}": accuracy for number, accuracy in enumerate(result.by_turn, start=1)}
        console.print(accuracy_table(f"{self.policy} on {source}", "", rows))
        for error in wrong:
            console.print(Text(f"\n{error['interaction']}, turn {error['turn']}: {error['instruction']}", style="bold"))
            for name in ("start", "expected", "reached"):
                console.print(Text(f"  {name:<9}{error[name]}"), soft_wrap=True)


def _errors(agent: Agent, interactions: list[Interaction], result: Evaluation) -> list[dict[str, Any]]:
    """Every single instruction whose execution did not end in its goal state."""
    world = agent.world
    known = [
        (interaction, number, start, goal)
        for interaction in interactions
        for number, (start, goal) in enumerate(pairwise(interaction.states))
        if start is not None and goal is not None
    ]
    return [
        {
            "interaction": interaction.id,
            "turn": str(number + 1),
            "instruction": interaction.instructions[number],
            "start": world.format(start),
            "expected": world.format(goal),
            "reached": world.format(reached),
        }
        for (interaction, number, start, goal), reached, right in zip(
            known, agent.tables.decode(result.reached), result.success.tolist(), strict=True
        )
        if not right
    ]

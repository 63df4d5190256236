"""``sestra calibrate``: how well an agent's confidence says how often it is right, and the caution that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from sestra.cli.options import DataFolder, Json, OptionalFile, Switch, check_suffix, print_json
from sestra.cli.outputs import Force, check_output
from sestra.errors import InputError

if TYPE_CHECKING:
    from sestra.agent import Agent
    from sestra.data.scone import Interaction


@dataclass(frozen=True)
class Calibrate:
    """Fit an agent's confidence to how often it is right, on the part of train that its training held out.

    Its caution is set so that it refuses at most 1% of the instructions that it follows rightly there. Needs the training data.
    """

    agent: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN_OR_AGENT")]
    """The folder of a run or of an exported agent, or the name of a pretrained one."""
    data: DataFolder = None
    save: Switch = False
    """Write the calibration into the agent's folder; else it is only shown."""
    plot: OptionalFile = None
    """Where to draw the reliability diagram and the refusals; its name ends in .svg."""
    force: Force = False
    json: Json = False

    def run(self) -> int:
        check_suffix("--plot", self.plot, ".svg")
        check_output("--plot", self.plot, force=self.force)

        from sestra.agent import Agent
        from sestra.agent import folder as agent_folder
        from sestra.agent.calibration import measure
        from sestra.analysis.calibration import draw, report
        from sestra.data.batch import encode_turns

        agent = Agent.from_pretrained(self.agent)
        turns = encode_turns(held_out(agent, self.agent, self.data), agent.vocabulary, agent.tables)
        measured = measure(agent.execute, agent.tables, turns, agent.batch_size)
        calibration = measured.fit()
        figures = report(measured, calibration)
        if self.save:
            folder = agent_folder.find(self.agent)
            contents = agent_folder.read(folder)
            about = replace(contents.about, calibration=calibration)
            agent_folder.write(folder, about, contents.vocabulary, contents.networks, contents.card)
        if self.plot is not None:
            draw(measured, calibration, f"{agent.name}: {len(measured.right):,} instructions held out", self.plot)
        if self.json:
            print_json({"agent": self.agent, "world": agent.about.world, **figures})
        else:
            self._print(figures)
        return 0

    def _print(self, figures: dict[str, Any]) -> None:
        from rich.console import Console

        from sestra.cli.tables import table

        console = Console(highlight=False)
        errors, chosen = figures["calibration_error"], figures["calibration"]
        console.print(
            f"{self.agent}: {figures['instructions']:,} held-out instructions, {figures['right']:.1f}% of them right.\n"
            f"Expected calibration error: {errors['as_they_are']:.1f}% as it is, {errors['calibrated']:.1f}% calibrated, "
            f"{errors['cross_validated']:.1f}% calibrated on other interactions.\n"
            f"Its caution: {chosen['caution']:.3f}"
            + (", written to its folder." if self.save else " (--save writes it to the agent's folder).")
        )
        shown = table(
            "What a level of caution refuses, in percent", "caution", "of right ones", "of wrong ones", "right of the rest", left=0
        )
        for row in (figures["at_its_caution"], *figures["curve"]):
            cells = (row[name] for name in ("refused_right", "refused_wrong", "right_of_followed"))
            shown.add_row(f"{row['caution']:.2f}", *("" if cell is None else f"{cell:.1f}" for cell in cells))
        console.print(shown)


def held_out(agent: Agent, name: str, data: Any) -> list[Interaction]:
    """The interactions of train that the agent's training held out for validation."""
    from sestra.data import sources
    from sestra.learning.config import FOLDS
    from sestra.learning.training_data import split_validation

    config = agent.training.get("config")
    part = config.get("data") if isinstance(config, dict) else None
    fraction = part.get("validation_fraction") if isinstance(part, dict) else None
    if not isinstance(fraction, float) or not 0 < fraction < 1:
        raise InputError(f"{name}: does not say what its training held out for validation; train it with this version of sestra")
    interactions, source = sources.load(agent.about.world, "train", data)
    known = agent.training.get("data")
    if not isinstance(known, dict) or known.get("sha256") != source.sha256:
        raise InputError(f"{source.name}: is not the data that {name} was trained on; name the right one with --data")
    fold = part.get("fold", 0) if isinstance(part, dict) else 0
    return split_validation(interactions, fraction, agent.world.name, fold if fold in range(FOLDS + 1) else 0)[1]

"""``sestra run``: an agent follows the instructions that it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro
from rich.console import Console
from rich.text import Text

from sestra.agent.options import DecodingOptions, How
from sestra.cli.interaction import Instructed, show_trace
from sestra.cli.options import Json, OptionalNumber, Png, Svg, check_suffix, print_json
from sestra.cli.outputs import Force, check_output
from sestra.errors import InputError


@dataclass(frozen=True)
class Run(Instructed):
    """Follow instructions from a state, and show the actions, their probabilities, and the state after every instruction."""

    how: Annotated[How, tyro.conf.arg(metavar="{greedy,sample,beam}")] = "greedy"
    """Take the most probable action in every step, sample every action, or search for the most probable sequence of actions."""
    beam: OptionalNumber = None
    """With --how beam: the number of sequences that the search keeps; by default 4."""
    seed: OptionalNumber = None
    """With --how sample: the random seed; by default every call samples anew."""
    horizon: OptionalNumber = None
    """The most actions per instruction; by default as the agent was trained."""
    svg: Svg = None
    png: Png = None
    force: Force = False
    json: Json = False

    def run(self) -> int:
        for flag, value, how in (("--beam", self.beam, "beam"), ("--seed", self.seed, "sample")):
            if value is not None and self.how != how:
                raise InputError(f"{flag} {value}: only works with --how {how}; add that, or leave out {flag}")
        check_suffix("--svg", self.svg, ".svg")
        check_suffix("--png", self.png, ".png")
        check_output("--svg", self.svg, force=self.force)
        check_output("--png", self.png, force=self.force)
        agent, start, instructions = self.load()
        decoding = DecodingOptions(how=self.how, seed=self.seed, horizon=self.horizon)
        if self.beam is not None:
            decoding["beam"] = self.beam
        trace = agent.follow(start, instructions, **decoding)
        for path in filter(None, (self.svg, self.png)):
            trace.draw(path)
        if self.json:
            print_json(trace.to_json())
        else:
            console = Console(highlight=False)
            show_trace(console, agent.world, trace)
            console.print(Text.assemble("\n", ("Final state: ", "bold"), trace.final_state), soft_wrap=True)
        return 0

"""``sestra run``: an agent follows the instructions that it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from sestra.cli.interaction import AgentName, Instructions, StateText, load_agent, read_instructions, show_state, show_turn, start_state
from sestra.cli.options import OptionalFile, OptionalNumber, OptionalWorldName, Switch, print_json
from sestra.errors import InputError

if TYPE_CHECKING:
    from sestra.agent.trace import Trace
    from sestra.worlds import World

How = Literal["greedy", "sample", "beam"]
BEAM = 4


@dataclass(frozen=True)
class Run:
    """Follow instructions from a state, and show the actions, how probable each was, and the state after every instruction."""

    instructions: Instructions = ()
    """What to do, an instruction an argument; without any, one a line from standard input."""
    world: OptionalWorldName = None
    """The world, whose best agent acts."""
    agent: AgentName = None
    """Another agent: a pretrained one's name, an exported folder or a run's folder."""
    state: StateText = None
    """The state to begin from, which has to be given: "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_" in Alchemy, for example."""
    how: Annotated[How, tyro.conf.arg(metavar="{greedy,sample,beam}")] = "greedy"
    """Take the most probable action each time, draw actions at random, or look for the most probable sequence of actions."""
    beam: OptionalNumber = None
    """With --how beam: how many sequences to keep in sight; by default 4."""
    seed: OptionalNumber = None
    """With --how sample: what decides the draws; by default each time others."""
    horizon: OptionalNumber = None
    """The most actions for an instruction; by default as the agent was trained."""
    svg: OptionalFile = None
    """Also write the states as a picture (SVG)."""
    png: OptionalFile = None
    """Also write the states as a picture (PNG)."""
    json: Switch = False
    """Print one JSON object instead: all steps with alternatives and attention."""

    def run(self) -> int:
        self._check()
        agent = load_agent(self.world, self.agent)
        start, instructions = start_state(agent.world, self.state), read_instructions(self.instructions)
        beam = BEAM if self.beam is None else self.beam
        trace = agent.follow(start, instructions, how=self.how, beam=beam, seed=self.seed, horizon=self.horizon)
        for path in (self.svg, self.png):
            if path is not None:
                trace.draw(path)
        if self.json:
            print_json(trace.to_json())
        else:
            _show(agent.world, trace)
        return 0

    def _check(self) -> None:
        """What can be said before the agent is loaded."""
        for flag, value, how in (("--beam", self.beam, "beam"), ("--seed", self.seed, "sample")):
            if value is not None and self.how != how:
                raise InputError(f"{flag} {value}: only means something with --how {how}; add that, or leave {flag} out")
        for path, suffix in ((self.svg, ".svg"), (self.png, ".png")):
            if path is not None and path.suffix.lower() != suffix:
                raise InputError(f"--{suffix[1:]} {path}: expected a name that ends in {suffix}")


def _show(world: World[Any], trace: Trace) -> None:
    from rich.console import Console
    from rich.text import Text

    from sestra.drawing.shapes import printable

    console = Console(highlight=False)
    show_state(console, world, trace.start)
    for number, turn in enumerate(trace.turns, start=1):
        console.print(Text.assemble("\n", (f"{number}. {printable(turn.instruction)}", "bold")))
        show_turn(console, world, turn)
    console.print(Text.assemble("\n", ("Final state: ", "bold"), trace.final_state), soft_wrap=True)

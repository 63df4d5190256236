"""``sestra run``: an agent follows the instructions that it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from sestra.agent.decoding import DecodingOptions, How
from sestra.cli.interaction import AgentName, Instructions, StateText, load_agent, read_instructions, show_state, show_turn, start_state
from sestra.cli.options import OptionalFile, OptionalNumber, OptionalWorldName, Switch, print_json
from sestra.errors import InputError

if TYPE_CHECKING:
    from sestra.agent import Agent
    from sestra.agent.trace import Trace
    from sestra.worlds import World


@dataclass(frozen=True)
class Instructed:
    """The flags of commands that follow instructions from a state."""

    instructions: Instructions = ()
    """What to do, one instruction per argument; without any, one per line from standard input."""
    world: OptionalWorldName = None
    """The world, whose best agent acts."""
    agent: AgentName = None
    """Another agent: a pretrained one's name, an exported folder or a run's folder."""
    state: StateText = None
    """The start state (required): in Alchemy, for example, "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_"."""

    def load(self) -> tuple[Agent, str, list[str]]:
        """The agent, the start state and the instructions."""
        agent = load_agent(self.world, self.agent)
        return agent, start_state(agent.world, self.state), read_instructions(self.instructions)


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
    svg: OptionalFile = None
    """Also write the states as a picture (SVG)."""
    png: OptionalFile = None
    """Also write the states as a picture (PNG)."""
    json: Switch = False
    """Print one JSON object instead: all steps with alternatives and attention."""

    def run(self) -> int:
        self._check()
        agent, start, instructions = self.load()
        decoding = DecodingOptions(how=self.how, seed=self.seed, horizon=self.horizon)
        if self.beam is not None:
            decoding["beam"] = self.beam
        trace = agent.follow(start, instructions, **decoding)
        for path in (self.svg, self.png):
            if path is not None:
                trace.draw(path)
        if self.json:
            print_json(trace.to_json())
        else:
            _show(agent.world, trace)
        return 0

    def _check(self) -> None:
        """What can be checked before the agent is loaded."""
        for flag, value, how in (("--beam", self.beam, "beam"), ("--seed", self.seed, "sample")):
            if value is not None and self.how != how:
                raise InputError(f"{flag} {value}: only works with --how {how}; add that, or leave out {flag}")
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

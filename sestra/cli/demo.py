"""``sestra demo``: a trained agent follows an interaction in the terminal, action by action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from sestra import pretrained
from sestra.cli.interaction import AgentFlags, load_agent, show_trace
from sestra.cli.options import OptionalNumber
from sestra.data.examples import example, phrases_of
from sestra.data.synthetic import generate
from sestra.errors import InputError, check_number
from sestra.worlds import WORLDS, get_world

if TYPE_CHECKING:
    from sestra.agent import Agent


@dataclass(frozen=True)
class Demo(AgentFlags):
    """Watch a trained agent follow an interaction in the terminal, action by action; without --world, in each world in turn."""

    seed: OptionalNumber = None
    """Generate the interaction with this seed instead of showing the built-in one."""
    delay: float = 0.6
    """Seconds to wait after each action; only if the output is a terminal."""

    def run(self) -> int:
        check_number("--delay", self.delay, 0, 60, whole=False)
        shipped = [name for name in WORLDS.names() if name in pretrained.names() and phrases_of(get_world(name)).examples]
        worlds = [self.world] if self.world or self.agent or not shipped else shipped
        agents = [load_agent(world, self.agent) for world in worlds]
        console = Console(highlight=False)
        for agent in agents:
            self._follow(console, agent)
        return 0

    def _follow(self, console: Console, agent: Agent) -> None:
        """Let the agent follow the instructions, and say whether it did what they mean."""
        world = agent.world
        interaction = example(world) if self.seed is None else generate(world, 1, seed=self.seed)[0]
        states = [None if state is None else world.format(state) for state in interaction.states]
        if states[0] is None:
            raise InputError(f"{interaction.id}: its start state is unknown; expected one to begin from")
        trace = agent.follow(states[0], interaction.instructions)
        console.print()
        console.rule(Text(world.name, style="bold"))
        console.print(Text(f"The agent {agent.name} reads the instructions and chooses every action itself.", style="italic"))
        show_trace(console, world, trace, self.delay)
        right = sum(turn.end == goal for turn, goal in zip(trace.turns, states[1:], strict=True))
        console.print(Text(f"\nThe state was as the instructions mean after {right} of {len(trace.turns)} of them.", style="italic"))

"""``sestra demo``: a trained agent follows an interaction in the terminal, action by action."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sestra.cli.interaction import AgentName, load_agent, show_state, show_turn
from sestra.cli.options import OptionalNumber, OptionalWorldName
from sestra.data.examples import example, phrases_of
from sestra.data.scone import Interaction, State
from sestra.errors import InputError
from sestra.worlds import WORLDS, Action, World, get_world

if TYPE_CHECKING:
    from rich.console import Console

    from sestra.agent import Agent


@dataclass(frozen=True)
class Demo:
    """Watch a trained agent follow an interaction in the terminal, action by action."""

    world: OptionalWorldName = None
    """The world; by default each in turn."""
    agent: AgentName = None
    """Another agent than the world's best: a pretrained one's name, an exported folder or a run's folder."""
    seed: OptionalNumber = None
    """Generate the interaction with this seed instead of showing the built-in one."""
    delay: float = 0.6
    """Seconds to wait after each action; only if the output is a terminal."""

    def run(self) -> int:
        from rich.console import Console

        if not 0 <= self.delay <= 60:
            raise InputError(f"--delay {self.delay}: expected seconds from 0 to 60")
        worlds: list[str | None] = [self.world] if self.world or self.agent else [*worlds_with_examples()] or [None]
        agents = [load_agent(world, self.agent) for world in worlds]
        console = Console(highlight=False)
        for agent in agents:
            follow(console, agent, self._interaction(agent.world), self.delay)
        return 0

    def _interaction(self, world: World[Any]) -> Interaction:
        if self.seed is None:
            return example(world)
        from sestra.data.synthetic import generate

        return generate(world, 1, seed=self.seed)[0]


def worlds_with_examples() -> list[str]:
    """The worlds that have both an example and a pretrained agent."""
    from sestra import pretrained

    return [name for name in WORLDS.names() if name in pretrained.names() and phrases_of(get_world(name)).examples]


def follow(console: Console, agent: Agent, interaction: Interaction, delay: float) -> None:
    """Let the agent follow the instructions, and say whether it did what they mean."""
    from rich.text import Text

    world, states = agent.world, [None if state is None else agent.world.format(state) for state in interaction.states]
    if states[0] is None:
        raise InputError(f"{interaction.id}: its start state is unknown; expected one to begin from")
    trace = agent.follow(states[0], interaction.instructions)
    console.print()
    console.rule(Text(world.name, style="bold"))
    console.print(Text(f"The agent {agent.name} reads the instructions and chooses every action itself.", style="italic"))
    show_state(console, world, trace.start)
    for number, turn in enumerate(trace.turns, start=1):
        console.print(Text.assemble("\n", (f"{number}. {turn.instruction}", "bold")))
        show_turn(console, world, turn, delay)
        if console.is_terminal:
            time.sleep(delay)
    right = sum(turn.end == goal for turn, goal in zip(trace.turns, states[1:], strict=True))
    console.print(Text(f"\nThe state was as the instructions mean after {right} of {len(trace.turns)} of them.", style="italic"))


def demonstrations(world: World[Any], interaction: Interaction) -> list[tuple[Action, ...] | None]:
    """The fewest actions that execute each instruction, ended by STOP; None where a state is unknown."""
    from sestra.worlds.tables import compile_world

    tables = compile_world(world)
    shortest: list[tuple[Action, ...] | None] = []
    for start, goal in zip(interaction.states, interaction.states[1:], strict=False):
        if start is None or goal is None:
            shortest.append(None)
            continue
        [execution] = tables.demonstrate(tables.encode([start]), tables.encode([goal])).tolist()
        shortest.append(tuple(tables.action(index) for index in execution))
    return shortest


def show_interaction(console: Console, world: World[Any], interaction: Interaction) -> None:
    """Each instruction, the fewest actions that execute it, and the state after it."""
    from rich.text import Text

    from sestra.drawing import changed, draw_terminal

    shortest = demonstrations(world, interaction)
    before: State | None = None
    for number, state in enumerate(interaction.states):
        if number:
            actions = shortest[number - 1]
            console.print(Text.assemble("\n", (f"{number}. {interaction.instructions[number - 1]}", "bold")))
            console.print(Text("   " + ("the way is unknown" if actions is None else " · ".join(map(str, actions))), style="cyan"))
        if state is None:
            console.print(Text("   the state is unknown", style="dim"))
        else:
            console.print(draw_terminal(world, state, highlight=() if before is None else changed(world, before, state)))
        before = state

"""``sestra demo``: a trained agent follows an interaction in the terminal, action by action."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sestra.cli.flags import OptionalNumber, OptionalWorldName
from sestra.cli.following import AgentName, load_agent, show_state, show_turn
from sestra.data.scone import Interaction, State
from sestra.errors import InputError
from sestra.worlds import Action, World, get_world

if TYPE_CHECKING:
    from rich.console import Console

    from sestra.agent import Agent

EXAMPLES = {
    "alchemy": (
        "1:g 2:_ 3:oo 4:_ 5:yy 6:p 7:rr",
        ("throw out the last beaker", "1:g 2:_ 3:oo 4:_ 5:yy 6:p 7:_"),
        ("pour the orange beaker into the purple one", "1:g 2:_ 3:_ 4:_ 5:yy 6:poo 7:_"),
        ("it turns brown", "1:g 2:_ 3:_ 4:_ 5:yy 6:bbb 7:_"),
        ("throw out one unit of it", "1:g 2:_ 3:_ 4:_ 5:yy 6:bb 7:_"),
        ("do the same with the yellow one", "1:g 2:_ 3:_ 4:_ 5:y 6:bb 7:_"),
    ),
    "scene": (
        "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:__",
        ("a man in a yellow shirt appears on the far right", "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:y_"),
        ("the man in the blue hat moves to the left end", "1:rb 2:__ 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:y_"),
        ("the man in green moves to the left of the man in yellow", "1:rb 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:g_ 10:y_"),
        ("he leaves", "1:rb 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:y_"),
        ("the man in yellow takes the blue hat", "1:r_ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:yb"),
    ),
    "tangrams": (
        "1:4 2:0 3:2 4:1 5:3",
        ("remove the last figure", "1:4 2:0 3:2 4:1"),
        ("swap the first and third figures", "1:2 2:0 3:4 4:1"),
        ("undo step 2", "1:4 2:0 3:2 4:1"),
        ("delete the second figure", "1:4 2:2 3:1"),
        ("add it back in the first place", "1:0 2:4 3:2 4:1"),
    ),
}
"""A start state, then instructions with the state that each leads to."""


def example(name: str) -> Interaction:
    """The demonstration's own interaction of that world."""
    if name not in EXAMPLES:
        raise InputError(f"the world {name!r} has no example; expected one of {', '.join(EXAMPLES)}, or --seed for a generated interaction")
    start, *turns = EXAMPLES[name]
    states = (start, *(state for _, state in turns))
    return Interaction(
        f"example-{name}", tuple(get_world(name).parse(state) for state in states), tuple(instruction for instruction, _ in turns)
    )


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
        worlds = [self.world] if self.world or self.agent else list(EXAMPLES)
        agents = [load_agent(world, self.agent) for world in worlds]
        console = Console(highlight=False)
        for agent in agents:
            follow(console, agent, self._interaction(agent.world), self.delay)
        return 0

    def _interaction(self, world: World[Any]) -> Interaction:
        if self.seed is None:
            return example(world.name)
        from sestra.data.synthetic import generate

        return generate(world.name, 1, seed=self.seed)[0]


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

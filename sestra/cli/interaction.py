"""What the commands that follow instructions have in common: which agent, from which state, and how its actions are shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from sestra.cli.options import Caution, OptionalWorldName
from sestra.errors import InputError, check_number, shortened
from sestra.worlds import WORLDS, World, get_world

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from sestra.agent import Agent
    from sestra.agent.trace import Trace, Turn

StateText = Annotated[str | None, tyro.conf.arg(metavar='"1:... 2:..."', help_behavior_hint="")]
MAX_INSTRUCTIONS = 1000
WORTH_MENTIONING = 0.05
"""The lowest probability at which an action that was not taken is shown."""


@dataclass(frozen=True)
class AgentFlags:
    """The flags of commands in which an agent acts."""

    world: OptionalWorldName = None
    """The world, whose best agent acts."""
    agent: Annotated[str | None, tyro.conf.arg(metavar="NAME|FOLDER", help_behavior_hint="")] = None
    """Another agent: a pretrained one's name, an exported folder or a run's folder."""
    caution: Caution = None

    def load_agent(self) -> Agent:
        return load_agent(self.world, self.agent, self.caution)


@dataclass(frozen=True)
class Instructed(AgentFlags):
    """The flags of commands that follow instructions from a state."""

    instructions: tyro.conf.Positional[Annotated[tuple[str, ...], tyro.conf.arg(metavar="INSTRUCTION...", help_behavior_hint="")]] = ()
    """What to do, one instruction per argument; without any, one per line from standard input."""
    state: StateText = None
    """The start state (required): in Alchemy, for example, "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_"."""

    def load(self) -> tuple[Agent, str, list[str]]:
        """The agent, the start state and the instructions."""
        agent = self.load_agent()
        return agent, start_state(agent.world, self.state), read_instructions(self.instructions)


def load_agent(world: str | None, agent: str | None, caution: float | None = None) -> Agent:
    """The agent of that name or in that folder, else the best one of the world."""
    if caution is not None:
        check_number("--caution", caution, 0, 1, whole=False)
    wanted = None if world is None else get_world(world)
    name = agent if agent is not None else world
    if name is None:
        raise InputError(
            f"which agent? Give --world ({', '.join(WORLDS.names())}) for the best one there, or --agent with a name or a folder"
        )

    from sestra import Agent

    loaded = Agent.from_pretrained(name)
    if wanted not in (None, loaded.world):
        raise InputError(f"--agent {agent}: acts in {loaded.world.name}, not in {world}; give another agent, or leave out --world")
    if caution is not None:
        loaded.caution = caution
    return loaded


def start_state(world: World[Any], text: str | None, flag: str = "--state") -> str:
    """The start state, checked; there is no default."""
    from sestra.data.examples import phrases_of

    examples = phrases_of(world).examples
    example = f'{flag} "{examples[0].start if examples else world.format((world.contents[0],) * world.slots)}"'
    if text is None:
        raise InputError(f"no state to begin from; say which one, such as {example}")
    try:
        return world.format(world.parse(" ".join(text.split())))
    except InputError as error:
        raise InputError(
            f'{flag} "{shortened(text)}": {shortened(str(error), 300)}; a state of {world.name} looks like {example}'
        ) from error


def read_instructions(given: Sequence[str]) -> list[str]:
    """The arguments, or else the lines of standard input that are not blank."""
    if given:
        return list(given)
    if sys.stdin.isatty():
        sys.stderr.write("Type the instructions, one per line; end with Ctrl-D. ('sestra play' follows each at once.)\n")
    lines: list[str] = []
    try:
        for line in filter(str.strip, sys.stdin):
            lines.append(line.strip())
            if len(lines) > MAX_INSTRUCTIONS:
                raise InputError(f"more than {MAX_INSTRUCTIONS:,} instructions on standard input; expected fewer, one per line")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8 ({error}); expected instructions as text, one per line") from error
    if not lines:
        raise InputError(
            'no instruction to follow; give them as arguments, such as "throw out the first beaker", or one per line on standard input'
        )
    return lines


def drawn(world: World[Any], state: str, before: str | None = None) -> Text:
    """The state; what is not as it was before is marked."""
    from sestra.drawing import changed, draw_terminal

    now = world.parse(state)
    return draw_terminal(world, now, highlight=() if before is None else changed(world, world.parse(before), now))


def show_trace(console: Console, world: World[Any], trace: Trace, delay: float | None = None) -> None:
    """The start state, and each instruction with what the agent did."""
    from rich.text import Text

    from sestra.drawing.shapes import printable

    console.print(drawn(world, trace.start))
    for number, turn in enumerate(trace.turns, start=1):
        console.print(Text.assemble("\n", (f"{number}. {printable(turn.instruction)}", "bold")))
        show_turn(console, world, turn, delay)
        if delay and console.is_terminal:
            time.sleep(delay)


def show_turn(console: Console, world: World[Any], turn: Turn, delay: float | None = None) -> None:
    """What the agent did; with a delay a terminal shows the state changing in its place, anything else gets one line per action."""
    from rich.text import Text

    from sestra.drawing.shapes import printable

    if not turn.understood:
        console.print(Text(f"   The agent does nothing ({turn.reason}).", style="bold"))
    elif delay is not None and console.is_terminal and not console.is_dumb_terminal:
        _animate(console, world, turn, delay)
    else:
        width = max(len(step.action) for step in turn.steps)
        for step in turn.steps:
            likely = [f"{each.action} {each.probability:.0%}" for each in step.alternatives if each.probability >= WORTH_MENTIONING]
            doubt = f"   (or {', '.join(likely)})" if likely else ""
            line = Text.assemble(f"   {step.action:<{width}}", (f"  {step.probability:>4.0%}  ", "cyan"), step.state, (doubt, "dim"))
            console.print(line, soft_wrap=True)
        console.print(drawn(world, turn.end, turn.start))
    for note in turn.notes:
        console.print(Text(f"   Note: {printable(note)}", style="yellow"), soft_wrap=True)
    for number, reading in enumerate(turn.readings, start=1):
        console.print(Text(f"   {number}. {reading.words} ({reading.probability:.0%})"), soft_wrap=True)


def _animate(console: Console, world: World[Any], turn: Turn, delay: float) -> None:
    """The start and the state after each action, in one place, under the actions so far."""
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    actions = Text("   ")
    with Live(Group(actions, drawn(world, turn.start)), console=console, auto_refresh=False) as live:
        for number, step in enumerate(turn.steps):
            time.sleep(delay)
            actions.append(" · " if number else "").append(step.action, style="bold").append(f" {step.probability:.0%}", style="cyan")
            live.update(Group(actions, drawn(world, step.state, turn.start)), refresh=True)

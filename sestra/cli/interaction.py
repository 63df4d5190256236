"""What the commands that follow instructions have in common: which agent, from which state, and how a turn is shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from sestra.errors import InputError, shortened
from sestra.worlds import WORLDS, World, get_world

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.text import Text

    from sestra.agent import Agent
    from sestra.agent.trace import Step, Turn

AgentName = Annotated[str | None, tyro.conf.arg(metavar="NAME|FOLDER", help_behavior_hint="")]
StateText = Annotated[str | None, tyro.conf.arg(metavar='"1:... 2:..."', help_behavior_hint="")]
Instructions = tyro.conf.Positional[Annotated[tuple[str, ...], tyro.conf.arg(metavar="INSTRUCTION...", help_behavior_hint="")]]

MOST_INSTRUCTIONS = 1000
WORTH_MENTIONING = 0.05
"""The lowest probability at which an action that was not taken is shown."""


def load_agent(world: str | None, agent: str | None) -> Agent:
    """The agent of that name or in that folder, else the best one of the world."""
    if world is not None:
        get_world(world)
    name = agent if agent is not None else world
    if name is None:
        raise InputError(
            f"which agent? Give --world ({', '.join(WORLDS.names())}) for the best one there, or --agent with a name or a folder"
        )

    from sestra import Agent
    from sestra.learning.runtime_settings import use_one_core

    use_one_core()
    loaded = Agent.from_pretrained(name)
    if world is not None and loaded.world is not get_world(world):
        raise InputError(f"--agent {agent}: acts in {loaded.world.name}, not in {world}; give another agent, or leave out --world")
    return loaded


def start_state(world: World[Any], text: str | None, flag: str = "--state") -> str:
    """The start state, checked; there is no default."""
    example = f'{flag} "{example_state(world)}"'
    if text is None:
        raise InputError(f"no state to begin from; say which one, such as {example}")
    try:
        return world.format(world.parse(" ".join(text.split())))
    except InputError as error:
        raise InputError(
            f'{flag} "{shortened(text)}": {shortened(str(error), 300)}; a state of {world.name} looks like {example}'
        ) from error


def example_state(world: World[Any]) -> str:
    from sestra.data.examples import phrases_of

    examples = phrases_of(world).examples
    return examples[0].start if examples else world.format((world.contents[0],) * world.slots)


def read_instructions(given: Sequence[str]) -> list[str]:
    """The arguments, or else the lines of standard input that are not blank."""
    if given:
        return list(given)
    if sys.stdin.isatty():
        sys.stderr.write("Type the instructions, one per line; end with Ctrl-D. ('sestra play' follows each at once.)\n")
    lines: list[str] = []
    try:
        for line in sys.stdin:
            lines += [line.strip()] if line.strip() else []
            if len(lines) > MOST_INSTRUCTIONS:
                raise InputError(f"more than {MOST_INSTRUCTIONS:,} instructions on standard input; expected fewer, one per line")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8 ({error}); expected instructions as text, one per line") from error
    if not lines:
        raise InputError(
            'no instruction to follow; give them as arguments, such as "throw out the first beaker", or one per line on standard input'
        )
    return lines


def show_state(console: Console, world: World[Any], state: str, before: str | None = None) -> None:
    """The drawn state; what is not as it was before is marked."""
    console.print(drawn(world, state, before))


def drawn(world: World[Any], state: str, before: str | None = None) -> Text:
    from sestra.drawing import changed, draw_terminal

    now = world.parse(state)
    return draw_terminal(world, now, highlight=() if before is None else changed(world, world.parse(before), now))


def show_turn(console: Console, world: World[Any], turn: Turn, delay: float | None = None) -> None:
    """What the agent did; with a delay a terminal shows the state changing in its place, anything else gets one line per action."""
    if delay is not None and console.is_terminal and not console.is_dumb_terminal:
        _perform_in_place(console, world, turn, delay)
    else:
        show_steps(console, turn)
        show_state(console, world, turn.end, turn.start)
    show_notes(console, turn)


def show_steps(console: Console, turn: Turn) -> None:
    """One line per action: its probability, the state after it, and what else the agent might well have done."""
    from rich.text import Text

    width = max(len(step.action) for step in turn.steps)
    for step in turn.steps:
        line = Text.assemble(f"   {step.action:<{width}}", (f"  {step.probability:>4.0%}  ", "cyan"), step.state, (_doubt(step), "dim"))
        console.print(line, soft_wrap=True)


def _doubt(step: Step) -> str:
    likely = [f"{each.action} {each.probability:.0%}" for each in step.alternatives if each.probability >= WORTH_MENTIONING]
    return f"   (or {', '.join(likely)})" if likely else ""


def show_notes(console: Console, turn: Turn) -> None:
    from rich.text import Text

    from sestra.drawing.shapes import printable

    for note in turn.notes:
        console.print(Text(f"   Note: {printable(note)}", style="yellow"), soft_wrap=True)


def _perform_in_place(console: Console, world: World[Any], turn: Turn, delay: float) -> None:
    from rich.live import Live

    frames = _frames(world, turn)
    with Live(next(frames), console=console, auto_refresh=False) as live:
        for frame in frames:
            time.sleep(delay)
            live.update(frame, refresh=True)


def _frames(world: World[Any], turn: Turn) -> Iterator[Group]:
    """The start and the state after each action, each under the actions so far."""
    from rich.console import Group
    from rich.text import Text

    said = Text("   ")
    yield Group(said.copy(), drawn(world, turn.start))
    for number, step in enumerate(turn.steps):
        said.append(" · " if number else "").append(step.action, style="bold").append(f" {step.probability:.0%}", style="cyan")
        yield Group(said.copy(), drawn(world, step.state, turn.start))


def random_state(world: World[Any], rng: Random) -> str:
    """As the world's grammar begins an interaction, or else anything."""
    if (grammar := world.grammar()) is not None:
        return world.format(grammar.start(rng).state)
    return world.format(tuple(rng.choice(world.contents) for _ in range(world.slots)))

"""``sestra play``: a session in the terminal, an instruction at a time."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from sestra.cli.interaction import AgentName, StateText, load_agent, random_state, show_state, show_turn, start_state
from sestra.cli.options import OptionalNumber, OptionalWorldName
from sestra.errors import InputError, check_number

if TYPE_CHECKING:
    from rich.console import Console

    from sestra.agent import Agent
    from sestra.agent import Session as Interaction

PROMPT = "> "
HELP = """Type an instruction, such as "{example}", and the agent follows it.
A number in brackets marks what has changed.

  /undo         take back the last instruction
  /reset        take back all instructions
  /random       begin anew from a random state
  /state TEXT   begin anew from this state, such as
                {state}
  /state        show the state as text
  /help         show this
  /quit         leave; so do Ctrl-D and Ctrl-C

A line that is nothing but a command is one without the slash, too.
Any other line is an instruction, even one like "undo step 2"."""


@dataclass(frozen=True)
class Play:
    """Type instructions in the terminal and watch the agent act; /undo, /reset, /random, /state, /help and /quit are commands."""

    world: OptionalWorldName = None
    """The world, whose best agent acts."""
    agent: AgentName = None
    """Another agent: a pretrained one's name, an exported folder or a run's folder."""
    state: StateText = None
    """The state to begin from, in SCONE's notation; by default a random one."""
    seed: OptionalNumber = None
    """Decides the random states; by default each time others."""
    delay: float = 0.5
    """Seconds to wait after each action; only if the output is a terminal."""

    def run(self) -> int:
        from rich.console import Console

        check_number("--delay", self.delay, 0, 60, whole=False)
        agent = load_agent(self.world, self.agent)
        rng = Random(self.seed)
        start = random_state(agent.world, rng) if self.state is None else start_state(agent.world, self.state)
        session = Session(Console(highlight=False), agent, rng, start, self.delay)
        session.begin()
        with suppress(KeyboardInterrupt):
            for line in _lines():
                if not session.obey(line):
                    return 0
        session.console.print()
        return 0


@dataclass
class Session:
    """One agent and one interaction at a time; nothing that is typed ends it but the command to do so."""

    console: Console
    agent: Agent
    rng: Random
    start: str
    delay: float
    interaction: Interaction = field(init=False)

    def __post_init__(self) -> None:
        self.interaction = self.agent.start(self.start)

    def begin(self) -> None:
        self.say(f"This is {self.agent.world.name}, and the agent is {self.agent.name}. Type an instruction, or /help.")
        self.show()

    def obey(self, line: str) -> bool:
        """Do what the line says; False if that is to leave."""
        name, _, rest = line.removeprefix("/").partition(" ")
        commands: dict[str, Callable[[str], None]] = {
            "undo": self.undo,
            "reset": self.reset,
            "random": self.random,
            "state": self.state,
            "help": self.help,
        }
        is_command = line.startswith("/") or not rest or (name == "state" and rest.lstrip().startswith("1:"))
        try:
            if is_command and name == "quit":
                return False
            if is_command and name in commands:
                commands[name](rest.strip())
            elif line.startswith("/"):
                raise InputError(f"/{name} is no command; expected one of {', '.join(f'/{each}' for each in (*commands, 'quit'))}")
            else:
                show_turn(self.console, self.agent.world, self.interaction.do(line), self.delay)
        except InputError as error:
            self.say(str(error), "red")
        return True

    def undo(self, _: str) -> None:
        self.interaction.undo()
        self.show()

    def reset(self, _: str) -> None:
        self.begin_from(self.start)

    def random(self, _: str) -> None:
        self.begin_from(random_state(self.agent.world, self.rng))

    def state(self, text: str) -> None:
        if text:
            self.begin_from(start_state(self.agent.world, text.strip("\"'"), "/state"))
        else:
            self.say(self.interaction.state)

    def help(self, _: str) -> None:
        from sestra.data.examples import phrases_of

        self.say(HELP.format(example=phrases_of(self.agent.world).instruction, state=self.start))

    def begin_from(self, state: str) -> None:
        self.interaction, self.start = self.agent.start(state), state
        self.show()

    def show(self) -> None:
        show_state(self.console, self.agent.world, self.interaction.state)

    def say(self, text: str, style: str = "") -> None:
        from rich.text import Text

        self.console.print(Text(text, style=style))


def _lines() -> Iterator[str]:
    """What is typed, line by line, without blank lines; from a pipe there is no prompt, and each line is shown as if it had been typed."""
    from sestra.drawing.shapes import printable

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    typed = sys.stdin.isatty()
    if typed:
        with suppress(ImportError):
            import readline  # noqa: F401  # gives input() its line editing and history
    while True:
        try:
            line = input(PROMPT if typed else "").strip()
        except EOFError:
            return
        if line and not typed:
            sys.stdout.write(f"{PROMPT}{printable(line)}\n")
        if line:
            yield line

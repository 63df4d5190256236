"""``sestra play``: a session in the terminal, an instruction at a time."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from sestra.cli.interaction import AgentFlags, StateText, drawn, show_turn, start_state
from sestra.cli.options import OptionalNumber
from sestra.data.examples import phrases_of, random_start
from sestra.drawing.shapes import printable
from sestra.errors import InputError, check_number
from sestra.worlds import World

if TYPE_CHECKING:
    from sestra.agent import Agent
    from sestra.agent.trace import Reading, Turn

PROMPT = "> "
HELP = """Type an instruction, such as "{example}", and the agent follows it.
A number in brackets marks what has changed. If the agent offers several
readings of an instruction, type the number of the one that you mean.

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
class Play(AgentFlags):
    """Type instructions in the terminal and watch the agent act; /undo, /reset, /random, /state, /help and /quit are commands."""

    state: StateText = None
    """The state to begin from, in SCONE's notation; by default a random one."""
    seed: OptionalNumber = None
    """Decides the random states; by default each time others."""
    delay: float = 0.5
    """Seconds to wait after each action; only if the output is a terminal."""

    def run(self) -> int:
        check_number("--delay", self.delay, 0, 60, whole=False)
        agent = self.load_agent()
        rng = Random(self.seed)
        start = random_state(agent.world, rng) if self.state is None else start_state(agent.world, self.state)
        session = Session(Console(highlight=False), agent, rng, self.delay)
        session.say(f"This is {agent.world.name}, and the agent is {agent.name}. Type an instruction, or /help.")
        session.begin(start)
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
    delay: float

    def obey(self, line: str) -> bool:
        """Do what the line says; False if that is to leave."""
        try:
            return self._obey(line)
        except InputError as error:
            self.say(str(error), "red")
        return True

    def _obey(self, line: str) -> bool:
        name, _, rest = line.removeprefix("/").partition(" ")
        is_command = line.startswith("/") or not rest or (name == "state" and rest.lstrip().startswith("1:"))
        match name if is_command else None:
            case "undo":
                self.interaction.undo()
                self.show()
            case "reset":
                self.begin(self.start)
            case "random":
                self.begin(random_state(self.agent.world, self.rng))
            case "state" if rest.strip():
                self.begin(start_state(self.agent.world, rest.strip().strip("\"'"), "/state"))
            case "state":
                self.say(self.interaction.state)
            case "help":
                self.say(HELP.format(example=phrases_of(self.agent.world).instruction, state=self.start))
            case "quit":
                return False
            case _ if line.startswith("/"):
                raise InputError(f"/{name} is no command; expected one of /undo, /reset, /random, /state, /help, /quit")
            case _ if (reading := self._reading(line)) is not None:
                self._show(self.interaction.choose(reading))
            case _:
                self._show(self.interaction.do(line))
        return True

    def _reading(self, line: str) -> Reading | None:
        """The reading of the last instruction that the line chooses by its number, if there are readings."""
        offered = self.interaction.turns[-1].readings if self.interaction.turns else ()
        return offered[int(line) - 1] if offered and line.isdecimal() and 1 <= int(line) <= len(offered) else None

    def _show(self, turn: Turn) -> None:
        show_turn(self.console, self.agent.world, turn, self.delay)
        if turn.readings:
            numbers = "1" if len(turn.readings) == 1 else f"a number from 1 to {len(turn.readings)}"
            self.say(f"   Type {numbers} to have that done, or say it in other words.", "yellow")

    def begin(self, state: str) -> None:
        self.interaction, self.start = self.agent.start(state), state
        self.show()

    def show(self) -> None:
        self.console.print(drawn(self.agent.world, self.interaction.state))

    def say(self, text: str, style: str = "") -> None:
        self.console.print(Text(text, style=style))


def random_state(world: World[Any], rng: Random) -> str:
    return world.format(random_start(world, rng))


def _lines() -> Iterator[str]:
    """What is typed, line by line, without blank lines; from a pipe there is no prompt, and each line is shown as if it had been typed."""
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
        if not line:
            continue
        if not typed:
            sys.stdout.write(f"{PROMPT}{printable(line)}\n")
        yield line

"""``sestra attention``: the paper's attention figures, for any interaction and turn."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from sestra.cli.interaction import AgentName, Instructions, StateText, load_agent, read_instructions, start_state
from sestra.cli.options import OptionalNumber, OptionalWorldName
from sestra.errors import InputError


@dataclass(frozen=True)
class Attention:
    """Draw what an agent looks at while it follows an instruction: words and objects by actions, a block for every attention head."""

    out: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    """The picture to write; its name ends in .svg or .png."""
    instructions: Instructions = ()
    """The instructions so far, one an argument; without any, one a line from standard input."""
    world: OptionalWorldName = None
    """The world, whose best agent acts."""
    agent: AgentName = None
    """Another agent: a pretrained one's name, an exported folder or a run's folder."""
    state: StateText = None
    """The state to begin from, which has to be given: "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_" in Alchemy, for example."""
    turn: OptionalNumber = None
    """Which instruction to draw, counted from 1; by default the last one."""

    def run(self) -> int:
        suffix = self.out.suffix.lower()
        if suffix not in (".svg", ".png"):
            raise InputError(f"--out {self.out}: cannot tell what kind of picture to write; end the name in .svg or .png")
        agent = load_agent(self.world, self.agent)
        start, instructions = start_state(agent.world, self.state), read_instructions(self.instructions)
        number = len(instructions) if self.turn is None else self.turn
        if not 1 <= number <= len(instructions):
            raise InputError(f"--turn {number}: expected a number from 1 to {len(instructions)}, the number of instructions")
        trace = agent.follow(start, instructions[:number])

        from sestra.drawing.attention import draw_attention
        from sestra.drawing.shapes import printable

        draw_attention(agent.world, trace, number, self.out)
        sys.stdout.write(printable(f"{self.out}: attention while following “{instructions[number - 1].strip()}” written") + "\n")
        return 0

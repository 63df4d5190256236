"""``sestra attention``: the paper's attention figures, for any interaction and turn."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from sestra.cli.interaction import Instructed
from sestra.cli.options import File, OptionalNumber
from sestra.cli.outputs import Force, check_output
from sestra.drawing.attention import draw_attention
from sestra.drawing.shapes import printable
from sestra.errors import InputError, check_number


@dataclass(frozen=True, kw_only=True)
class Attention(Instructed):
    """Draw the attention of an agent while it follows an instruction: words and objects by actions, one block per attention head."""

    out: File
    """The picture to write; its name ends in .svg or .png."""
    turn: OptionalNumber = None
    """Which instruction to draw, counted from 1; by default the last one."""
    force: Force = False

    def run(self) -> int:
        if self.out.suffix.lower() not in (".svg", ".png"):
            raise InputError(f"--out {self.out}: cannot tell what kind of picture to write; end the name in .svg or .png")
        check_output("--out", self.out, force=self.force)
        agent, start, instructions = self.load()
        number = len(instructions) if self.turn is None else self.turn
        check_number("--turn", number, 1, len(instructions))
        trace = agent.follow(start, instructions[:number])
        draw_attention(agent.world, trace, number, self.out)
        sys.stdout.write(printable(f"{self.out}: attention while following “{instructions[number - 1].strip()}” written") + "\n")
        return 0

"""How fast ``sestra serve`` answers: ``python benchmarks/serving.py [--clients 64] [--seconds 30] [--json]``.

The server runs as a process of its own, on loopback, and is asked first by one client alone, then by many at once, each of which asks
again as soon as it has its answer. Every answer is compared with what ``Agent.follow`` does with the same interaction. The exit status is
1 if an answer was lost or wrong, or if there were too few a second.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import tyro
from timing import one_core
from timing import show as show_table

from sestra import Agent, pretrained
from sestra.agent.trace import Turn
from sestra.data import sources
from sestra.worlds import WORLDS

INTERACTIONS = 150
CLOSE = 1e-3
"""How far a probability may be from the one that was computed in another batch."""
WANTED = 300
"""Instructions per second with many clients."""


@dataclass(frozen=True)
class Options:
    """Time the server, alone and with many clients at once."""

    agent: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """An agent, by a shipped name or as a folder; repeat it for several. By default the shipped ones."""
    clients: int = 64
    """How many ask at once."""
    seconds: float = 30.0
    """For how long."""
    workers: int = 1
    """Processes of the server."""
    alone: int = 500
    """Requests that are made one after the other."""
    seed: int = 0
    """Of the order of the questions."""
    json: bool = False
    """Print one JSON object instead of a table."""


@dataclass(frozen=True)
class Question:
    """A request as it is sent, and what the answer must be."""

    request: bytes
    expected: Turn


@dataclass
class Figures:
    """What was measured with one number of clients."""

    clients: int
    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)
    lost: int = 0
    wrong: int = 0

    def summary(self) -> dict[str, Any]:
        if len(self.milliseconds) < 2:
            raise SystemExit(f"{len(self.milliseconds)} answers with {self.clients} clients, and {self.lost} lost: too few to measure")
        cuts = statistics.quantiles(self.milliseconds, n=100, method="inclusive")
        return {
            "clients": self.clients,
            "answered": len(self.milliseconds),
            "lost": self.lost,
            "wrong": self.wrong,
            "instructions_per_second": len(self.milliseconds) / self.seconds,
            "p50_ms": cuts[49],
            "p99_ms": cuts[98],
            "slowest_ms": max(self.milliseconds),
        }


def questions(agent: Agent) -> tuple[list[Question], str]:
    """Every turn of some interactions, with the agent's own earlier turns as its history; and where the interactions are from."""
    interactions, source = sources.load(agent.world.name, "dev")
    given = [(agent.world.format(one.states[0]), one.instructions) for one in interactions[:INTERACTIONS] if one.states[0] is not None]
    asked = []
    for trace in agent.follow_many(given):
        for number, turn in enumerate(trace.turns):
            history = [{"state": earlier.start, "instruction": earlier.instruction} for earlier in trace.turns[:number]]
            body = {"world": agent.world.name, "state": turn.start, "history": history, "instruction": turn.instruction}
            asked.append(Question(as_request(body), turn))
    return asked, source.name


def as_request(body: dict[str, Any]) -> bytes:
    encoded = json.dumps(body).encode()
    head = f"POST /api/follow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(encoded)}\r\n\r\n"
    return head.encode() + encoded


@contextmanager
def serving(agents: Sequence[str], workers: int) -> Iterator[int]:
    """The port of a server that runs meanwhile."""
    command = [sys.executable, "-m", "sestra", "serve", "--port", "0", *(part for name in agents for part in ("--agent", name))]
    command += ["--workers", str(workers)] if workers > 1 else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # since it is piped
        found = re.search(r":(\d+)/", process.stdout.readline())
        if not found:
            raise SystemExit("the server did not start")
        try:
            yield int(found[1])
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> tuple[int, bytes]:
    """Status and body."""
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    found = re.search(r"(?im)^content-length: (\d+)", head)
    return int(head.split(" ", 2)[1]), await reader.readexactly(int(found[1]) if found else 0)


def is_right(status: int, body: bytes, expected: Turn) -> bool:
    if status != 200:
        return False
    given, wanted = json.loads(body), expected.to_json()
    return bool(
        given["end"] == wanted["end"]
        and [step["action"] for step in given["steps"]] == [step["action"] for step in wanted["steps"]]
        and all(abs(a["probability"] - b["probability"]) < CLOSE for a, b in zip(given["steps"], wanted["steps"], strict=True))
    )


async def client(port: int, asked: Sequence[Question], rng: random.Random, figures: Figures, until: float, most: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until and most > 0:
        most -= 1
        question, before = rng.choice(asked), time.perf_counter()
        try:
            status, body = await answer(reader, writer, question.request)
        except (OSError, asyncio.IncompleteReadError):
            figures.lost += 1
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        figures.milliseconds.append(1000 * (time.perf_counter() - before))
        figures.wrong += not is_right(status, body, question.expected)
    writer.close()


async def measure(port: int, asked: Sequence[Question], clients: int, seconds: float, seed: int, most: int = sys.maxsize) -> Figures:
    figures, begun = Figures(clients), time.perf_counter()
    rngs = [random.Random(f"{seed} {number}") for number in range(clients)]
    await asyncio.gather(*(client(port, asked, rng, figures, begun + seconds, most) for rng in rngs))
    figures.seconds = time.perf_counter() - begun
    return figures


def main() -> int:
    options = tyro.cli(Options, description=__doc__)
    names = options.agent or tuple(name for name in WORLDS.names() if name in pretrained.names())
    if not names:
        raise SystemExit("no agents ship with this version; give one with --agent FOLDER")
    asked: list[Question] = []
    data = []
    with one_core():
        for name in names:
            found, source = questions(Agent.from_pretrained(name))
            asked += found
            data.append(source)
    with serving(names, options.workers) as port:
        asyncio.run(measure(port, asked, 1, 60, options.seed, most=50))  # nothing is measured until all is warm
        alone = asyncio.run(measure(port, asked, 1, 600, options.seed + 1, most=options.alone))
        together = asyncio.run(measure(port, asked, options.clients, options.seconds, options.seed + 2))
    figures = [alone.summary(), together.summary()]
    broken = broken_promises(figures)
    show(options, figures, data, broken)
    return 1 if broken else 0


def broken_promises(figures: Sequence[dict[str, Any]]) -> list[str]:
    """What was promised and not kept; the last figures are those with many clients."""
    broken = [f"{row[what]:,} {what} with {row['clients']} clients" for row in figures for what in ("lost", "wrong") if row[what]]
    rate = figures[-1]["instructions_per_second"]
    return [*broken, *([f"{rate:,.1f} instructions per second, fewer than {WANTED}"] if rate < WANTED else [])]


def show(options: Options, figures: list[dict[str, Any]], data: list[str], broken: list[str]) -> None:
    verdict = {"kept": not broken, "broken": broken}
    kept = f"NO ({'; '.join(broken)})" if broken else "yes"
    counts, rates = ("clients", "answered", "lost", "wrong"), ("instructions_per_second", "p50_ms", "p99_ms", "slowest_ms")
    show_table(
        options.json,
        {"options": asdict(options), "data": data, "figures": figures, "verdict": verdict},
        f"POST /api/follow on loopback; {', '.join(data)}",
        (*counts, "instructions/s", "p50 ms", "p99 ms", "slowest ms"),
        [(*(f"{row[key]:,}" for key in counts), *(f"{row[key]:,.1f}" for key in rates)) for row in figures],
        f"At least {WANTED} instructions per second, nothing lost, nothing wrong: {kept}",
        left=0,
    )


if __name__ == "__main__":
    sys.exit(main())

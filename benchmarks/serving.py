"""How fast ``sestra serve`` answers: ``python benchmarks/serving.py [--clients 64 256] [--seconds 30] [--stop] [--json]``.

The server runs as a process of its own, on loopback, and is asked first by one client alone, then by many at once, each of which asks
again as soon as it has its answer. Every client has an address of its own (127.0.1.1 and so on), since there is a limit per address. A
client whose request is refused (429, 503) waits for as long as the response says. With ``--stop`` the server gets SIGTERM in the middle,
and the clients end when they are refused. Every answer is compared with what ``Agent.follow`` does with the same interaction. The exit
status is 1 if an answer was lost or wrong, or if there were too few per second.
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
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import tyro
from timing import one_core
from timing import show as show_table

from sestra import Agent, pretrained
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
    clients: tuple[int, ...] = (64,)
    """How many ask at once; several numbers are measured one after the other."""
    seconds: float = 30.0
    """For how long."""
    workers: int = 1
    """Processes of the server."""
    stop: bool = False
    """Send the server SIGTERM in the middle of each load."""
    alone: int = 500
    """Requests that are made one after the other."""
    seed: int = 0
    """Of the order of the questions."""
    json: bool = False
    """Print one JSON object instead of a table."""


@dataclass(frozen=True)
class Question:
    """A request as it is sent, and what the answer must be: the last state, the actions and their probabilities."""

    request: bytes
    end: str
    actions: list[str]
    probabilities: list[float]


@dataclass
class Figures:
    """What was measured with one number of clients."""

    clients: int
    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)
    refused: int = 0
    lost: int = 0
    wrong: int = 0
    stopped: bool = False

    def summary(self) -> dict[str, Any]:
        if len(self.milliseconds) < 2:
            raise SystemExit(f"{len(self.milliseconds)} answers with {self.clients} clients, and {self.lost} lost: too few to measure")
        cuts = statistics.quantiles(self.milliseconds, n=100, method="inclusive")
        return {
            "clients": self.clients,
            "answered": len(self.milliseconds),
            "refused": self.refused,
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
            actions, probabilities = [step.action for step in turn.steps], [step.probability for step in turn.steps]
            asked.append(Question(as_request(body), turn.end, actions, probabilities))
    return asked, source.name


def as_request(body: dict[str, Any]) -> bytes:
    encoded = json.dumps(body).encode()
    head = f"POST /api/follow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(encoded)}\r\n\r\n"
    return head.encode() + encoded


@contextmanager
def serving(agents: Sequence[str], workers: int) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The port of a server that runs meanwhile, and its process."""
    command = [sys.executable, "-m", "sestra", "serve", "--port", "0", *(part for name in agents for part in ("--agent", name))]
    command += ["--workers", str(workers)] if workers > 1 else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # since it is piped
        found = re.search(r":(\d+)/", process.stdout.readline())
        if not found:
            raise SystemExit("the server did not start")
        try:
            yield int(found[1]), process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


@dataclass(frozen=True)
class Response:
    status: int
    head: str
    body: bytes

    def number(self, header: str) -> int:
        """The value of a header, or 0."""
        found = re.search(rf"(?im)^{header}: (\d+)", self.head)
        return int(found[1]) if found else 0


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> Response:
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    response = Response(int(head.split(" ", 2)[1]), head, b"")
    return replace(response, body=await reader.readexactly(response.number("content-length")))


def is_right(response: Response, expected: Question) -> bool:
    if response.status != 200:
        return False
    given = json.loads(response.body)
    return bool(
        given["end"] == expected.end
        and [step["action"] for step in given["steps"]] == expected.actions
        and all(abs(step["probability"] - wanted) < CLOSE for step, wanted in zip(given["steps"], expected.probabilities, strict=True))
    )


class Client:
    """Asks one question after the other, from an address of its own."""

    def __init__(self, number: int, port: int, figures: Figures) -> None:
        self._address, self._port, self._figures = f"127.0.{1 + number // 250}.{1 + number % 250}", port, figures

    async def run(self, asked: Sequence[Question], rng: random.Random, until: float, most: int) -> None:
        figures, open_connection = self._figures, None
        while time.perf_counter() < until and most > 0:
            most -= 1
            question, before = rng.choice(asked), time.perf_counter()
            try:
                if open_connection is None or open_connection[0].at_eof():  # closed while it was idle, as any client checks
                    open_connection = await self._connect()
            except ConnectionRefusedError:  # nobody listens any more: nothing was sent
                figures.refused += 1
                if figures.stopped:
                    return
                raise
            reader, writer = open_connection
            try:
                response = await answer(reader, writer, question.request)
            except (OSError, asyncio.IncompleteReadError):
                figures.lost += 1
                open_connection = None
                continue
            if re.search("(?im)^connection: close", response.head):
                writer.close()
                open_connection = None
            if response.status in (429, 503):
                figures.refused += 1
                if figures.stopped and response.status == 503:
                    return
                await asyncio.sleep(response.number("retry-after"))
                continue
            figures.milliseconds.append(1000 * (time.perf_counter() - before))
            figures.wrong += not is_right(response, question)
        if open_connection:
            open_connection[1].close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._port, local_addr=(self._address, 0))


async def measure(
    port: int,
    asked: Sequence[Question],
    clients: int,
    seconds: float,
    seed: int,
    most: int = sys.maxsize,
    stop: subprocess.Popen[str] | None = None,
) -> Figures:
    """What so many clients see; the process, if one is given, gets SIGTERM after half of the time."""
    figures, begun = Figures(clients), time.perf_counter()

    async def terminate(process: subprocess.Popen[str]) -> None:
        await asyncio.sleep(seconds / 2)
        figures.stopped = True
        process.terminate()

    running = [
        Client(number, port, figures).run(asked, random.Random(f"{seed} {number}"), begun + seconds, most) for number in range(clients)
    ]
    await asyncio.gather(*running, *([terminate(stop)] if stop else []))
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
    figures: list[dict[str, Any]] = []
    for number, clients in enumerate(options.clients):
        with serving(names, options.workers) as (port, process):
            asyncio.run(measure(port, asked, 1, 60, options.seed, most=50))  # nothing is measured until all is warm
            if number == 0:
                figures.append(asyncio.run(measure(port, asked, 1, 600, options.seed + 1, most=options.alone)).summary())
            stop = process if options.stop else None
            figures.append(asyncio.run(measure(port, asked, clients, options.seconds, options.seed + 2, stop=stop)).summary())
    broken = broken_promises(figures, options)
    show(options, figures, data, broken)
    return 1 if broken else 0


def broken_promises(figures: Sequence[dict[str, Any]], options: Options) -> list[str]:
    """What was promised and not kept; the last figures are those with most clients."""
    broken = [f"{row[what]:,} {what} with {row['clients']} clients" for row in figures for what in ("lost", "wrong") if row[what]]
    rate = figures[-1]["instructions_per_second"]
    slow = rate < WANTED and not options.stop
    return [*broken, *([f"{rate:,.1f} instructions per second, fewer than {WANTED}"] if slow else [])]


def show(options: Options, figures: list[dict[str, Any]], data: list[str], broken: list[str]) -> None:
    verdict = {"kept": not broken, "broken": broken}
    kept = f"NO ({'; '.join(broken)})" if broken else "yes"
    counts, rates = ("clients", "answered", "refused", "lost", "wrong"), ("instructions_per_second", "p50_ms", "p99_ms", "slowest_ms")
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

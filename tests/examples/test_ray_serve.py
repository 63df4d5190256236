"""The replicas on Ray: the same interface as ``sestra serve``, and nothing is lost when one of them is killed under load."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from agents import STATES, write_random_agent
from fastapi.testclient import TestClient

from sestra.agent import Agent
from sestra.data.synthetic import generate
from sestra.serve.app import create_app

pytest.importorskip("ray.serve", reason="needs Ray Serve: pip install 'ray[serve]'")
pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "ray_serve.py"
MARK = "SESTRA_TEST"
CLIENTS = 16
SECONDS = 12.0
CLOSE = 1e-3
"""How far a probability may be from the one that was computed in another batch."""


@dataclass
class Service:
    address: str
    mark: str
    log: Path

    def replicas(self) -> list[int]:
        """The processes of this service's replicas."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (
                    b"ServeReplica:sestra:Replica" in (process / "cmdline").read_bytes()
                    and self.mark.encode() in (process / "environ").read_bytes()
                ):
                    found.append(int(process.name))
            except OSError:  # it has ended, or is somebody else's
                continue
        return sorted(found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random_agent(tmp_path_factory.mktemp("agents") / "alchemy")


@pytest.fixture(scope="module")
def service(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The example with two replicas, as a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log, mark = tmp_path_factory.mktemp("log") / "errors", f"{MARK}={uuid.uuid4()}"
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", **dict([mark.split("=")])}
    command = [sys.executable, str(EXAMPLE), "--replicas", "2", "--port", str(port), "--agent", str(folder)]
    with log.open("w") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as process:
        assert process.stdout is not None
        greeting = next((line for line in process.stdout if line.startswith("sestra is at ")), "")
        try:
            assert greeting, log.read_text()
            yield Service(f"http://127.0.0.1:{port}", mark, log)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


def follow(instruction: str, **changes: object) -> dict[str, object]:
    return {"world": "alchemy", "state": STATES["alchemy"], "instruction": instruction, **changes}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        *[("GET", path, None) for path in ("/healthz", "/api/worlds", "/openapi.json", "/", "/nothing", "/api/follow")],
        ("HEAD", "/", None),
        ("GET", "/api/suggestions?world=alchemy&state=1:g%202:_%203:_%204:_%205:_%206:_%207:_&seed=3", None),
        ("GET", "/api/suggestions?world=chess&state=1", None),
        ("POST", "/api/follow", json.dumps(follow("throw out first beaker"))),
        ("POST", "/api/follow", json.dumps(follow("mix it", state="1:?"))),
        ("POST", "/api/follow", "{"),
        ("POST", "/api/follow", json.dumps(follow("x" * 300_000))),
        ("POST", "/api/picture", json.dumps({"world": "alchemy", "frames": [{"caption": "now", "state": STATES["alchemy"]}]})),
    ],
)
def test_answers_as_one_server_does(service, folder, method, path, body):
    headers = {"Content-Type": "application/json"}
    with TestClient(create_app([Agent.from_pretrained(folder)])) as one:
        expected = one.request(method, path, content=body, headers=headers)
    found = httpx.request(method, service.address + path, content=body, headers=headers, timeout=30)
    assert (found.status_code, found.content) == (expected.status_code, expected.content)
    for name in ("Content-Type", "Content-Security-Policy", "Allow"):
        assert found.headers.get(name) == expected.headers.get(name)


@dataclass
class Counts:
    sent: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def questions(agent: Agent) -> list[tuple[dict[str, object], dict[str, object]]]:
    """Requests with long histories, so that replicas always have work, and what the agent itself does."""
    asked = []
    for interaction in generate("alchemy", 30, seed=8):
        trace = agent.follow(STATES["alchemy"], interaction.instructions * 8)
        *earlier, turn = trace.turns
        history = [{"state": each.start, "instruction": each.instruction} for each in earlier]
        asked.append((follow(turn.instruction, state=turn.start, history=history), turn.to_json()))
    return asked


def is_right(given: dict[str, object], expected: dict[str, object]) -> bool:
    steps = list(zip(given["steps"], expected["steps"], strict=False))
    return (
        given["end"] == expected["end"]
        and len(given["steps"]) == len(expected["steps"])
        and all(a["action"] == b["action"] and abs(a["probability"] - b["probability"]) < CLOSE for a, b in steps)
    )


async def ask(service: Service, asked: list, counts: Counts, until: float, seed: int) -> None:
    """One client, which sends no request twice: whatever is not answered is lost."""
    rng = random.Random(seed)
    async with httpx.AsyncClient(base_url=service.address, timeout=30) as client:
        while time.monotonic() < until:
            body, expected = rng.choice(asked)
            counts.sent += 1
            try:
                response = await client.post("/api/follow", json=body)
            except httpx.HTTPError as error:
                counts.lost.append(repr(error))
                continue
            if response.status_code != 200:
                counts.lost.append(f"{response.status_code} {response.text[:100]}")
            elif is_right(response.json(), expected):
                counts.right += 1
            else:
                counts.wrong.append(response.text[:200])


def test_nothing_is_lost_when_a_replica_is_killed(service, folder):
    before, counts, asked = service.replicas(), Counts(), questions(Agent.from_pretrained(folder))
    assert len(before) == 2

    async def kill() -> None:
        await asyncio.sleep(SECONDS / 3)
        os.kill(before[0], signal.SIGKILL)

    async def load() -> None:
        until = time.monotonic() + SECONDS
        await asyncio.gather(kill(), *(ask(service, asked, counts, until, seed) for seed in range(CLIENTS)))

    asyncio.run(load())
    print(f"{counts.sent} sent, {counts.right} answered rightly, {len(counts.wrong)} wrongly, {len(counts.lost)} lost")
    assert (counts.lost, counts.wrong) == ([], [])
    assert counts.right == counts.sent > 10 * CLIENTS
    resent = re.findall(r"a replica died; POST /api/follow is sent to another one", service.log.read_text())
    assert resent, "the replica was killed while it had nothing to do; the load is too small"
    for _ in range(60):
        after = service.replicas()
        if len(after) == 2:
            break
        time.sleep(1)
    assert len(after) == 2, "Ray Serve starts another replica in its place"
    assert before[0] not in after

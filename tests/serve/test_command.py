"""``sestra serve`` as a user starts and stops it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from agents import random_agent
from commands import run

from sestra import pretrained
from sestra.cli.serve import hosts
from sestra.serve import server as running

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agents") / "novice"
    random_agent("tangrams").save_pretrained(folder)
    return folder


SLOW = """
import sys, time
from sestra.agent import Agent
from sestra.cli import main, serve
from sestra.serve import server as running
load = serve.load
def load_slow(names):
    agents = load(names)
    Agent.take_turns = lambda *_: time.sleep(60)
    return agents
serve.load = load_slow
running.IDLE_TIMEOUT = 0.5
sys.exit(main(sys.argv[1:]))
"""
"""An agent that takes a minute for a turn, and a server that waits only half a second for a request's head."""
BODY = {"world": "tangrams", "state": "1:0 2:1", "instruction": "swap them"}


@contextmanager
def serving(folder: Path, *python: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, and its address."""
    command = [sys.executable, *(python or ("-m", "sestra")), "serve", "--port", "0", "--agent", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            greeting = process.stdout.readline()
            address = re.fullmatch(r"sestra is at (http://127\.0\.0\.1:\d+/) \(Ctrl-C stops it\)\n", greeting)
            assert address
            yield process, address[1]
        finally:
            process.kill()


def assert_stops(process: subprocess.Popen[str], number: int) -> None:
    """At once, and without any other word."""
    begun = time.monotonic()
    process.send_signal(number)
    assert process.wait(timeout=10) == 0
    assert time.monotonic() - begun < 4  # two seconds, on a machine that has other things to do too
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read() == ""
    assert process.stderr.read() == "stopped\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_and_stops_at_once(folder: Path, number: int):
    with serving(folder) as (process, address), httpx.Client(base_url=address) as client:  # which keeps its connection open
        assert client.get("/healthz").json()["worlds"] == ["tangrams"]
        assert client.get("/api/worlds").json()["worlds"][0]["agent"] == "novice"
        assert "<title>sestra</title>" in client.get("/").text
        assert client.post("/api/follow", json=BODY).status_code == 200
        assert client.get("/healthz", headers={"Host": "rebound.example"}).status_code == 421
        assert_stops(process, number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_at_once_while_it_is_busy(folder: Path, number: int):
    with serving(folder, "-c", SLOW) as (process, address), ThreadPoolExecutor(3) as threads:
        host, port = "127.0.0.1", int(address.rstrip("/").rsplit(":", 1)[1])
        asking = [threads.submit(httpx.post, f"{address}api/follow", json=BODY, timeout=30) for _ in range(3)]
        with socket.create_connection((host, port)) as uploading, socket.create_connection((host, port)):
            uploading.sendall(b"POST /api/follow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(1)
            assert_stops(process, number)
        assert [one.result().status_code for one in asking] == [503] * 3


def test_whoever_says_nothing_is_not_waited_for(folder: Path):
    with serving(folder, "-c", SLOW) as (_, address):
        host, port = "127.0.0.1", int(address.rstrip("/").rsplit(":", 1)[1])
        with socket.create_connection((host, port), 5) as idle, socket.create_connection((host, port), 5) as slow:
            slow.sendall(b"GET /healthz HTTP/1.1\r\nHo")
            for connection in (idle, slow):
                with suppress(ConnectionResetError):
                    assert connection.recv(1) == b""
        with httpx.Client(base_url=address) as client:
            for _ in range(12):  # for longer than that, but with something to say
                assert client.get("/healthz").status_code == 200
                time.sleep(0.1)


@dataclass(eq=False)
class Connection:
    cycle: Any = None


def test_idleness_begins_anew_after_every_request():
    done, under_way = SimpleNamespace(response_complete=True), SimpleNamespace(response_complete=False)
    connection, other = Connection(), Connection(under_way)
    idle = running.idle_connections([connection, other], {}, 1.0)
    idle = running.idle_connections([connection, other], idle, 5.0)
    assert idle == {connection: (1.0, None)}
    connection.cycle, other.cycle = done, done
    idle = running.idle_connections([connection, other], idle, 6.0)
    assert idle == {connection: (6.0, done), other: (6.0, done)}
    assert running.idle_connections([other], idle, 7.0) == {other: (6.0, done)}


def test_the_longest_idle_are_closed_where_there_are_too_many():
    idle: dict[Any, tuple[float, Any]] = {Connection(): (float(n), None) for n in (3, 1, 2)}
    third, first, second = idle
    assert running.overdue(idle, 3, 5.0) == []
    assert running.overdue(idle, running.MAX_CONNECTIONS // 2 + 2, 5.0) == [first, second]
    assert running.overdue(idle, 3, running.IDLE_TIMEOUT + 2.5) == [first, second]
    assert third in running.overdue(idle, 3, running.IDLE_TIMEOUT + 3.5)


@pytest.mark.parametrize(
    ("given", "bound", "names"),
    [
        ("127.0.0.1", "127.0.0.1", {"localhost", "127.0.0.1", "[::1]"}),
        ("::1", "::1", {"localhost", "127.0.0.1", "[::1]"}),
        ("MyMachine", "127.0.1.1", {"localhost", "127.0.0.1", "[::1]", "mymachine", "127.0.1.1"}),
        ("0.0.0.0", "0.0.0.0", None),
    ],
)
def test_on_loopback_only_its_own_names_are_answered_to(given: str, bound: str, names: set[str] | None):
    listening: Any = SimpleNamespace(getsockname=lambda: (bound, 8000))
    assert hosts(given, listening) == names


def test_a_port_in_use_is_a_clear_error(capsys: pytest.CaptureFixture[str]):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, err = run(capsys, "serve", "--port", str(port))
    assert status == 2
    assert err.startswith(f"sestra: cannot listen at 127.0.0.1 port {port} (Address already in use); choose another port with --port")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "70000"], "--port 70000: expected a whole number from 0 to 65,535"),
        (["--host", "no.such.host.invalid", "--port", "0"], "--host no.such.host.invalid: is not an address of this machine"),
        (["--host", "203.0.113.7", "--port", "0"], "cannot listen at 203.0.113.7"),
        (["--port", "0", "--agent", "nobody"], "nobody: "),
    ],
)
def test_wrong_flags_are_clear_errors(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str):
    status, _, err = run(capsys, "serve", *arguments)
    assert status == 2
    assert err.startswith(f"sestra: {message}")


def test_two_agents_of_one_name_are_refused(capsys: pytest.CaptureFixture[str], folder: Path):
    status, _, err = run(capsys, "serve", "--port", "0", "--agent", folder, "--agent", folder)
    assert status == 2
    assert "is the second agent called novice; give each once" in err


def test_without_any_agent_it_says_what_to_do(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pretrained, "names", list)
    status, _, err = run(capsys, "serve", "--port", "0")
    assert status == 2
    assert "give one with --agent FOLDER" in err


def test_without_its_packages_it_says_what_to_install(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    status, _, err = run(capsys, "serve", "--port", "0")
    assert status == 2
    assert "pip install 'sestra[serve]'" in err

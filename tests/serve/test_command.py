"""``sestra serve`` as a user starts and stops it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from agents import random_agent
from commands import run

from sestra import pretrained
from sestra.cli.serve import hosts

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
from sestra.serve import connections, server as running
load = serve.load
def load_slow(names):
    agents = load(names)
    Agent.take_turns = lambda *_, **__: time.sleep(60)
    return agents
serve.load = load_slow
connections.HEAD_TIMEOUT = 0.5
running.GRACE, running.REFUSING = 1, 0.5
sys.exit(main(sys.argv[1:]))
"""
"""An agent that takes a minute for a turn; a server that waits half a second for a request's head, and a second when it is to stop."""
BODY = {"world": "tangrams", "state": "1:0 2:1", "instruction": "swap them"}


@contextmanager
def serving(
    folder: Path, *python: str, flags: Sequence[str] = (), variables: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, and its address."""
    command = [sys.executable, *(python or ("-m", "sestra")), "serve", "--port", "0", "--agent", str(folder), *flags]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **(variables or {})}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            greeting = process.stdout.readline()
            address = re.fullmatch(r"sestra is at http://(?:127\.0\.0\.1|[\w.-]+):(\d+)/ \(Ctrl-C stops it\)\n", greeting)
            assert address
            yield process, f"http://127.0.0.1:{address[1]}/"
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
def test_it_stops_in_time_while_it_is_busy(folder: Path, number: int):
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
        with socket.create_connection((host, port), 5) as again:  # after a request that was answered
            again.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while not answer.endswith(b"}"):
                answer += again.recv(1000)
            again.sendall(b"\r\n")
            with suppress(ConnectionResetError):
                assert again.recv(1000) == b""
        with httpx.Client(base_url=address) as client:
            for _ in range(12):  # for longer than that, but with something to say
                assert client.get("/healthz").status_code == 200
                time.sleep(0.1)


@pytest.mark.parametrize(
    ("given", "bound", "names"),
    [
        ("127.0.0.1", "127.0.0.1", {"localhost", "127.0.0.1", "[::1]"}),
        ("::1", "::1", {"localhost", "127.0.0.1", "[::1]"}),
        ("MyMachine", "127.0.1.1", {"localhost", "127.0.0.1", "[::1]", "mymachine", "127.0.1.1"}),
        ("0.0.0.0", "0.0.0.0", {"localhost", "127.0.0.1", "[::1]"}),
    ],
)
def test_only_its_own_names_are_answered_to(given: str, bound: str, names: set[str]):
    listening: Any = SimpleNamespace(getsockname=lambda: (bound, 8000))
    assert hosts(given, listening) == names
    assert hosts(given, listening, ["Sestra.example.org", "2001:db8::1"]) == names | {"sestra.example.org", "[2001:db8::1]"}


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
        (["--api-key", "short"], "the API key has 5 characters"),
        (["--api-key", "with a space in the key"], "the API key has 23 characters or some that cannot be sent"),
        (["--proxy", "nginx"], "--proxy 'nginx': is not an address"),
        (["--requests-per-client", "0"], "--requests-per-client 0: expected a whole number"),
        (["--allowed-host", "*", "--port", "0"], "--allowed-host '*': is not a host name"),
        (["--host", "0.0.0.0", "--port", "0"], "--host 0.0.0.0: can be reached from other machines; set a key"),
        (["--host", "0.0.0.0", "--port", "0", "--no-auth"], "--host 0.0.0.0: can be reached from other machines; say by which names"),
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


KEY = "k" * 32


def test_other_machines_need_the_key_and_an_allowed_name(folder: Path):
    flags = ["--host", "0.0.0.0", "--allowed-host", "sestra.example.org", "--access-log"]
    with serving(folder, flags=flags, variables={"SESTRA_API_KEY": KEY}) as (process, address), httpx.Client(base_url=address) as client:
        assert client.post("/api/follow", json=BODY).status_code == 401
        client.headers["Authorization"] = f"Bearer {KEY}"
        assert client.post("/api/follow", json=BODY).status_code == 200
        assert client.get("/healthz", headers={"Host": "sestra.example.org"}).status_code == 200
        assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421
        assert 'sestra_responses_total{status="421"} 1' in client.get("/metrics").text
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
        assert process.stderr is not None
        first, *logged, last = process.stderr.read().splitlines()
    assert first.startswith("sestra: warning: --host 0.0.0.0: can be reached from other machines, without encryption; ")
    assert [line.rsplit(" ", 2)[0].split(" ", 2)[2] for line in logged][:2] == [
        "127.0.0.1 POST /api/follow 401",
        "127.0.0.1 POST /api/follow 200",
    ]
    assert last == "stopped"


DRAINING = """
import sys, time
from sestra.agent import Agent
from sestra.cli import main
take_turns = Agent.take_turns
def slowly(self, contexts, **options):
    time.sleep(2)
    return take_turns(self, contexts, **options)
Agent.take_turns = slowly
sys.exit(main(sys.argv[1:]))
"""
"""An agent that takes two seconds for a batch."""


def test_what_is_under_way_is_answered_before_it_stops(folder: Path):
    """The first is being followed, the others wait for it, and one on an open connection comes too late."""
    with (
        serving(folder, "-c", DRAINING) as (process, address),
        ThreadPoolExecutor(4) as threads,
        httpx.Client(base_url=address) as late,
    ):
        assert late.get("/readyz").status_code == 200
        asking = [threads.submit(httpx.post, f"{address}api/follow", json=BODY, timeout=30) for _ in range(4)]
        while "sestra_requests_in_flight 5\n" not in late.get("/metrics").text:  # with this one
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        while late.get("/readyz").status_code == 200:
            time.sleep(0.05)
        with httpx.Client(base_url=address) as new:
            refused = new.post("/api/follow", json=BODY)
            assert (refused.status_code, refused.headers["retry-after"], refused.headers["connection"]) == (503, "5", "close")
            assert new.get("/healthz").status_code == 200
        assert [one.result().status_code for one in asking] == [200] * 4
        assert {one.result().headers["connection"] for one in asking} == {"close"}
        assert process.wait(timeout=10) == 0

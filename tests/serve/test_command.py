"""``sestra serve`` as a user starts and stops it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from commands import run
from untrained import untrained

from sestra import pretrained

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agents") / "novice"
    untrained("tangrams").save_pretrained(folder)
    return folder


def test_it_says_where_it_is_and_stops_at_once(folder: Path):
    command = [sys.executable, "-m", "sestra", "serve", "--port", "0", "--agent", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        greeting = process.stdout.readline()
        address = re.fullmatch(r"sestra is at (http://127\.0\.0\.1:\d+/) \(Ctrl-C stops it\)\n", greeting)
        assert address
        with httpx.Client(base_url=address[1]) as client:  # which keeps its connection open
            assert client.get("/healthz").json()["worlds"] == ["tangrams"]
            assert client.get("/api/worlds").json()["worlds"][0]["agent"] == "novice"
            assert "<title>sestra</title>" in client.get("/").text
            answer = client.post("/api/follow", json={"world": "tangrams", "state": "1:0 2:1", "instruction": "swap them"})
            assert answer.status_code == 200
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=10) == 0
        assert process.stdout.read() == ""
        assert process.stderr is not None
        assert process.stderr.read() == "stopped\n"


def test_a_port_in_use_is_a_clear_error(capsys: pytest.CaptureFixture[str]):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, err = run(capsys, "serve", "--port", str(port))
    assert status == 2
    assert err.startswith(f"sestra: cannot listen at 127.0.0.1 port {port} (Address already in use); choose another port with --port")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "70000"], "--port 70000: expected a number from 0 to 65535"),
        (["--host", "no.such.host.invalid", "--port", "0"], "--host no.such.host.invalid: is not an address of this machine"),
        (["--host", "203.0.113.7", "--port", "0"], "cannot listen at 203.0.113.7"),
        (["--port", "0", "--agent", "nobody"], "nobody: "),
    ],
)
def test_wrong_flags_are_clear_errors(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str):
    status, _, err = run(capsys, "serve", *arguments)
    assert status == 2
    assert err.startswith(f"sestra: {message}")


def test_two_agents_of_one_world_are_refused(capsys: pytest.CaptureFixture[str], folder: Path):
    status, _, err = run(capsys, "serve", "--port", "0", "--agent", folder, "--agent", folder)
    assert status == 2
    assert "is an agent for tangrams, as novice is; give one a world" in err


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

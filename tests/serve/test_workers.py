"""Several processes behind one socket: one that is killed is replaced, and a signal ends all of them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

BODY = {"world": "tangrams", "state": "1:2 2:4 3:0 4:1 5:3", "history": [], "instruction": "remove the last figure"}


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def follow(port: str) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/follow", json.dumps(BODY).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return str(json.loads(answer.read())["end"])


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_killed_worker_is_replaced_and_a_signal_ends_all() -> None:
    command = [sys.executable, "-m", "sestra", "serve", "--port", "0", "--agent", "tangrams-sestra", "--workers", "2"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        [port] = re.findall(r":(\d+)/", server.stdout.readline())
        wait_until(lambda: len(children(server.pid)) == 2)
        assert {follow(port) for _ in range(4)} == {"1:2 2:4 3:0 4:1"}
        first, second = children(server.pid)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: len(children(server.pid)) == 2 and first not in children(server.pid))
        assert second in children(server.pid)
        assert {follow(port) for _ in range(4)} == {"1:2 2:4 3:0 4:1"}
        workers = children(server.pid)
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=30)
    finally:
        server.kill()
    assert server.returncode == 0
    assert errors == "sestra: a worker process was killed by signal 9; it is replaced\nstopped\n"
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_an_agent_that_cannot_be_loaded_is_said_once() -> None:
    command = [sys.executable, "-m", "sestra", "serve", "--port", "0", "--agent", "nothing", "--workers", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"sestra: nothing: is no agent [^\n]*\n", done.stderr)

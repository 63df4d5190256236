"""A server as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


class Server:
    """A server that can be stopped and started again at the same address."""

    def __init__(self, agents: list[str], *arguments: str) -> None:
        self.agents = agents
        self.arguments = arguments
        self.port = 0
        self.process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        agents = [part for name in self.agents for part in ("--agent", name)]
        command = [sys.executable, "-m", "sestra", "serve", "--port", str(self.port), *agents, *self.arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        found = re.search(r":(\d+)/", self.process.stdout.readline())
        assert found, "the server did not start"
        self.port = int(found[1])

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            assert self.process.wait(timeout=15) == 0
            if self.process.stdout is not None:
                self.process.stdout.close()
            self.process = None

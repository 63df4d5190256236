"""The files that the page on deployment shows: they are what their programs expect, and say what sestra understands."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import httpx
import pytest
import tyro
from agents import STATES, write_random_agent

from sestra.cli import CONFIG, commands
from sestra.cli.serve import Serve

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def capacity() -> ModuleType:
    spec = spec_from_file_location("capacity", ROOT / "benchmarks" / "capacity.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_that_of_the_results(capacity):
    [shown] = capacity.PLACE.findall(capacity.PAGE.read_text(encoding="utf-8"))
    assert shown == capacity.table(capacity.rate(json.loads(capacity.RESULTS.read_text()))), "run 'python benchmarks/capacity.py'"


def test_what_a_load_needs(capacity):
    figures = [{"clients": 1, "instructions_per_second": 90.0}, {"clients": 64, "instructions_per_second": 400.0}]
    assert capacity.rate({"figures": figures, "options": {}}) == 400
    assert capacity.rate({"figures": figures, "options": {"workers": 4}}) == 100
    rows = capacity.table(100.0).splitlines()
    assert "| 50 | 500 | 1 | 1 |" in rows
    assert "| 1,000 | 10,000 | 15 | 2 |" in rows  # 70 each


def served(words: list[str]) -> Serve:
    """What a command line that starts with the program means."""
    program, *arguments = words
    assert program == "/opt/sestra/bin/sestra"
    parsed = tyro.cli(commands(arguments), prog="sestra", args=arguments, config=CONFIG)
    assert isinstance(parsed, Serve)
    return parsed


def test_container():
    text = (EXAMPLES / "Containerfile").read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE):
        assert all((ROOT / name).exists() for name in line.split()[:-1]), line
    [entry] = re.findall(r"^ENTRYPOINT (.+)$", text, re.MULTILINE)
    found = served([*json.loads(entry), "--agent", "/agent"])
    assert (found.host, found.agent) == ("0.0.0.0", ("/agent",))
    assert f"EXPOSE {found.port}\n" in text
    assert f":{found.port}/healthz" in text


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="needs hadolint")
def test_container_file_is_linted():
    done = subprocess.run(["hadolint", EXAMPLES / "Containerfile"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_service():
    [command] = re.findall(r"^ExecStart=(.+)$", (EXAMPLES / "sestra.service").read_text(encoding="utf-8"), re.MULTILINE)
    assert served(shlex.split(command)).host == "127.0.0.1"


needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")


def nginx_configuration(folder: Path, port: int = 8443) -> Path:
    """The example without encryption, since there is no certificate, and with all its files in the folder."""
    text = (EXAMPLES / "nginx.conf").read_text(encoding="utf-8").replace("/var/log/nginx", str(folder))
    plain = re.sub(r"\n +ssl_certificate.*", "", text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};"))
    (folder / "nginx.conf").write_text(f"pid {folder}/pid;\nerror_log {folder}/errors;\n{plain}", encoding="utf-8")
    return folder / "nginx.conf"


@needs_nginx
def test_nginx(tmp_path):
    done = subprocess.run(["nginx", "-t", "-c", nginx_configuration(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def running(*command: str | Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)


@needs_nginx
@pytest.mark.slow
def test_nothing_is_lost_when_a_server_behind_nginx_is_killed(tmp_path):
    """Clients send no request twice: whatever is not answered is lost."""
    agent, ports, front = write_random_agent(tmp_path / "agent"), (free_port(), free_port()), free_port()
    place = nginx_configuration(tmp_path, front)
    text = re.sub(r"\n +(auth_basic|limit_req zone|limit_conn conn).*", "", place.read_text(encoding="utf-8"))
    text = text.replace("server 127.0.0.1:8000", f"server 127.0.0.1:{ports[0]}").replace(
        "# server 127.0.0.1:8001", f"server 127.0.0.1:{ports[1]}"
    )
    place.write_text(text, encoding="utf-8")
    body = {"world": "alchemy", "state": STATES["alchemy"], "instruction": "throw out first beaker"}
    statuses: Counter[int | str] = Counter()
    over = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{front}", timeout=30) as client:
            while not over.is_set():
                try:
                    statuses[client.post("/api/follow", json=body).status_code] += 1
                except httpx.HTTPError as error:
                    statuses[repr(error)] += 1

    serve = (sys.executable, "-m", "sestra", "serve", "--agent", agent, "--port")
    with running(*serve, ports[0]) as first, running(*serve, ports[1]) as second:
        for server in (first, second):
            assert server.stdout is not None
            assert "sestra is at" in server.stdout.readline()
        with running("nginx", "-c", place, "-g", "daemon off;"):
            while not (tmp_path / "pid").exists():
                time.sleep(0.05)
            clients = [threading.Thread(target=ask) for _ in range(8)]
            for client in clients:
                client.start()
            time.sleep(3)
            first.kill()
            time.sleep(4)
            over.set()
            for client in clients:
                client.join()
    logged = (tmp_path / "sestra.log").read_text(encoding="utf-8")
    assert f"127.0.0.1:{ports[0]}, 127.0.0.1:{ports[1]}" in logged, "no request was sent again; the load is too small"
    assert set(statuses) == {200}, statuses

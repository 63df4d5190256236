"""The files that the page on deployment shows: they are what their programs expect, and say what sestra understands."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
import tyro

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


@pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
def test_nginx(tmp_path):
    text = (EXAMPLES / "nginx.conf").read_text(encoding="utf-8").replace("/var/log/nginx", str(tmp_path))
    plain = re.sub(r"\n +ssl_certificate.*", "", text.replace("listen 443 ssl;", "listen 127.0.0.1:8443;"))  # there is no certificate
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\n{plain}", encoding="utf-8")
    done = subprocess.run(["nginx", "-t", "-c", tmp_path / "nginx.conf"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

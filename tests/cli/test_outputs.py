"""Files that flags name to be written: what sestra did not write is not overwritten, unless --force says so."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from agents import STATES, write_random_agent
from commands import run

from sestra.agent.calibration import Measured
from sestra.analysis.calibration import draw
from sestra.cli.outputs import check_output
from sestra.errors import InputError
from sestra.io import write_text

STATE = STATES["tangrams"]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random_agent(tmp_path_factory.mktemp("agent") / "random", "tangrams")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from sestra.cli import main

    path = tmp_path_factory.mktemp("data") / "tangrams-dev.tsv"
    assert main(["data", "generate", "--world", "tangrams", "--count", "3", "--out", str(path)]) == 0
    return path


WRITING = {
    "run --svg": ("a.svg", ["run", "--agent", "AGENT", "--state", STATE, "swap them", "--svg"]),
    "run --png": ("a.png", ["run", "--agent", "AGENT", "--state", STATE, "swap them", "--png"]),
    "attention --out": ("b.svg", ["attention", "--agent", "AGENT", "--state", STATE, "swap them", "--out"]),
    "data show --svg": ("c.svg", ["data", "show", "DATA", "--svg"]),
    "data show --png": ("c.png", ["data", "show", "DATA", "--png"]),
    "data generate --out": ("d.tsv", ["data", "generate", "--world", "scene", "--count", "2", "--out"]),
    "evaluate --out": ("e.json", ["evaluate", "AGENT", "--data", "DATA", "--out"]),
    "analyze --page": ("f.html", ["analyze", "AGENT", "--data", "DATA", "--page"]),
    "check --page": ("g.html", ["check", "AGENT", "--capability", "moves", "--page"]),
}


@pytest.mark.parametrize("command", WRITING)
def test_what_sestra_did_not_write_is_kept(capsys, tmp_path, agent, data, command):
    name, arguments = WRITING[command]
    given = {"AGENT": agent, "DATA": data}
    arguments = [given.get(each, each) for each in arguments]
    flag, path = arguments[-1], tmp_path / name
    path.write_text("my own work\n")
    status, _, errors = run(capsys, *arguments, path)
    assert status == 2
    advice = "give another name, or overwrite it with --force"
    assert errors == f"sestra: {flag} {path}: is there already, and sestra did not write it; {advice}\n"
    assert path.read_text() == "my own work\n"
    assert run(capsys, *arguments, path, "--force")[0] == 0
    written = path.read_bytes()
    assert written != b"my own work\n"
    assert run(capsys, *arguments, path)[0] == 0, "its own file is overwritten"
    assert path.read_bytes() == written


@pytest.mark.parametrize("force", [False, True])
def test_devices_pipes_folders_and_system_files_never_are(tmp_path, force):
    os.mkfifo(tmp_path / "pipe.svg")
    (tmp_path / "folder.svg").mkdir()
    for path in map(Path, ("/dev/null", "/dev/full", "/etc/passwd", tmp_path / "pipe.svg", tmp_path / "folder.svg")):
        if path.exists():
            with pytest.raises(InputError, match="is not an ordinary file, or belongs to the operating system"):
                check_output("--svg", path, force=force)


def test_a_link_is_replaced_with_force_alone(tmp_path):
    (tmp_path / "theirs").write_text("x")
    (tmp_path / "a.svg").symlink_to(tmp_path / "theirs")
    with pytest.raises(InputError, match="--force"):
        check_output("--svg", tmp_path / "a.svg", force=False)
    check_output("--svg", tmp_path / "a.svg", force=True)


def test_no_function_writes_over_a_system_file(tmp_path, monkeypatch):
    monkeypatch.setattr("sestra.io.SYSTEM", (str(tmp_path / "etc"),))
    monkeypatch.setattr("sestra.io.NOT_SYSTEM", (str(tmp_path / "etc" / "local"),))
    (tmp_path / "etc" / "local").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "etc")
    for folder in ("etc", "etc/local"):
        (tmp_path / folder / "passwd").write_text("root")
    for folder in ("etc", "link"):
        with pytest.raises(InputError, match="belongs to the operating system"):
            write_text(tmp_path / folder / "passwd", "mine")
    write_text(tmp_path / "etc" / "local" / "passwd", "mine")
    assert (tmp_path / "etc" / "passwd").read_text() == "root"


def test_a_plot_of_a_calibration_is_recognised(tmp_path):
    measured = Measured(np.array([0.2, 0.6, 0.9, 0.95]), np.array([False, True, True, True]), np.arange(4))
    draw(measured, measured.fit(), "a plot", tmp_path / "a.svg")
    check_output("--plot", tmp_path / "a.svg", force=False)

"""``sestra new world``: what it writes works, and nothing is overwritten or left half written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ROOT, run

from sestra.cli import new
from sestra.data import sources
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

FILES = ["__init__.py", "data/toy_kitchen-dev.tsv", "data/toy_kitchen-train.tsv", "test_world.py", "world.py"]


@pytest.fixture
def kitchen(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    status, output, errors = run(capsys, "new", "world", "toy_kitchen")
    assert (status, errors) == (0, "")
    assert "sestra train --world toy_kitchen/world.py:ToyKitchen --data toy_kitchen/data --out runs/toy_kitchen" in output
    return tmp_path / "toy_kitchen"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_world_with_data_that_can_be_trained_on(kitchen: Path):
    assert sorted(contents(kitchen)) == FILES
    assert not [name for name, content in contents(kitchen).items() if b"shelf" in content.lower()]
    world = get_world(f"{kitchen / 'world.py'}:ToyKitchen")
    assert (world.name, compile_world(world).actions) == ("toy_kitchen", 13)
    interactions, source = sources.load(f"{kitchen / 'world.py'}:ToyKitchen", "train", kitchen / "data")
    assert (len(interactions), source.name) == (300, "toy_kitchen-train.tsv")


def test_its_test_passes_and_fails_when_the_rules_are_wrong(kitchen: Path):
    def tested() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "toy_kitchen"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=kitchen.parent, env=environment, capture_output=True, text=True, check=False)

    assert "5 passed" in tested().stdout
    rules = (kitchen / "world.py").read_text()
    (kitchen / "world.py").write_text(rules.replace("horizon=9", "horizon=3"))
    failed = tested()
    assert failed.returncode == 1
    assert "takes 5 actions" in failed.stdout
    (kitchen / "world.py").write_text(rules.replace("return EMPTY if content != EMPTY else None", "return EMPTY"))
    assert "an edit that changes nothing is invalid" in tested().stdout


def test_nothing_is_overwritten(capsys: pytest.CaptureFixture[str], kitchen: Path):
    (kitchen / "world.py").write_text("mine")
    before = contents(kitchen)
    for flags in ([], ["--to", str(kitchen)]):
        status, output, errors = run(capsys, "new", "world", "toy_kitchen", *flags)
        assert (status, output) == (2, "")
        assert "exists already; choose another name, or another folder with --to" in errors
    assert contents(kitchen) == before
    assert run(capsys, "new", "world", "toy_kitchen", "--to", kitchen.parent / "a" / "b")[0] == 0
    assert sorted(contents(kitchen.parent / "a" / "b")) == FILES


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("Kitchen", "'Kitchen' is no name for a world; expected at most 40 lower-case letters"),
        ("", "'' is no name"),
        ("../kitchen", "'../kitchen' is no name"),
        ("2nd", "'2nd' is no name"),
        ("k" * 41, "is no name"),
        ("scene", "'scene' is a world already (alchemy, scene, tangrams)"),
        ("json", "'json' is a word or a module of Python; choose another name, such as my_json"),
        ("class", "'class' is a word or a module"),
    ],
)
def test_bad_names(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, complaint: str):
    monkeypatch.chdir(tmp_path)
    status, output, errors = run(capsys, "new", "world", name)
    assert (status, output) == (2, "")
    assert complaint in errors
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_not_left_half_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("in the way")
    status, _, errors = run(capsys, "new", "world", "kitchen", "--to", "file/kitchen")
    assert status == 2
    assert "file/kitchen: cannot be written" in errors
    monkeypatch.setattr(new, "FILES", (*new.FILES, "missing.py"))
    assert run(capsys, "new", "world", "kitchen")[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_only_worlds_can_be_begun(capsys: pytest.CaptureFixture[str]):
    assert run(capsys, "new", "policy", "mine")[0] == 2

"""A world in an installed package of its own can do all that a built-in one can; and a package can bring policies and learners."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "own-world-package"
TRAIN = ["--epochs", "1", "--execution-horizon", "6"]
"""Flags of ``sestra train`` for a run that takes seconds."""
POLICIES = {
    "attention": ["--policy", "attention", "--hidden", "8", "--embedding", "8"],
    "objects": ["--policy", "objects", "--size", "16", "--embedding", "8", "--layers", "1"],
    "recurrent": ["--policy", "recurrent", "--size", "8", "--learner", "margin", "--margin", "0.5"],
}
PLUG_INS = """
[project.entry-points."sestra.policies"]
recurrent = "sestra_boxes.own_policy:Recurrent"

[project.entry-points."sestra.learners"]
margin = "sestra_boxes.own_learner:Margin"
"""
"""Added to the package, with the files of the two other examples."""
START = "1:r 2:_ 3:g 4:_ 5:_"
COMMANDS = """
import contextlib, io, json, sys
from sestra.cli import main
printed = []
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.suppress(SystemExit):
        assert main(command) == 0, command
    printed.append(output.getvalue())
print(json.dumps(printed))
"""


class Desk:
    """A folder with data, and the package on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder, installed = folder, folder / "installed"
        shutil.copytree(PACKAGE, folder / "package", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        for example in ("own_policy.py", "own_learner.py"):
            shutil.copy(PACKAGE.parent / example, folder / "package" / "sestra_boxes")
        with (folder / "package" / "pyproject.toml").open("a") as project:
            project.write(PLUG_INS)
        quietly = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
        install = [sys.executable, "-m", "pip", "install", *quietly, "--target", str(installed), str(folder / "package")]
        subprocess.run(install, check=True, capture_output=True, text=True)
        self.environment = {**os.environ, "PYTHONPATH": f"{installed}{os.pathsep}{ROOT}", "COLUMNS": "200"}

    def python(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], check=False, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def sestra(self, *commands: list[str]) -> list[str]:
        """What each command prints, all in one process."""
        return json.loads(self.python("-c", COMMANDS, json.dumps(commands)))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    pytest.importorskip("setuptools")
    desk = Desk(tmp_path_factory.mktemp("plugin"))
    (desk.folder / "data").mkdir()
    generate = ["data", "generate", "--world", "boxes", "--count"]
    desk.sestra(
        [*generate, "40", "--seed", "0", "--out", "data/boxes-train.tsv"], [*generate, "10", "--seed", "1", "--out", "data/boxes-dev.tsv"]
    )
    return desk


def test_it_is_listed_and_its_data_is_known_by_name_and_drawn(desk: Desk):
    shown, checked, stats, _ = desk.sestra(
        ["data", "generate", "--help"],
        ["data", "check", "data/boxes-train.tsv", "data/boxes-dev.tsv", "--json"],
        ["data", "stats", "--data", "data", "--json"],
        ["data", "show", "data/boxes-dev.tsv", "--svg", "boxes.svg"],
    )
    assert "{alchemy,scene,tangrams,boxes," in shown
    assert [(each["world"], each["interactions"]) for each in json.loads(checked)["files"]] == [("boxes", 40), ("boxes", 10)]
    assert "boxes" in json.loads(stats)["worlds"]
    assert "#8a6a45" in (desk.folder / "boxes.svg").read_text(), "the colour of the board"
    assert "sestra/Boxes-v0" in desk.python("-c", "import gymnasium, sestra.envs; print(*gymnasium.registry)")


def test_its_instructions_are_analysed_and_suggested(desk: Desk):
    program = f"""
from sestra.analysis.mentions import references
from sestra.data.synthetic import generate
from sestra.drawing import drawing_of
from sestra.data.examples import in_words
from sestra.serve.phrases import examples, suggestions
from sestra.worlds import get_world
world = get_world("boxes")
assert examples(world, 3, None)[0].title == "Tidying up"
assert len(suggestions(world, world.parse("{START}"), spoken=True, seed=1)) == 4
assert in_words(world, world.parse_action("put 2 r")) == "puts a red box on place 2"
assert len(drawing_of(world).sprites().parts(world.parse("{START}"), ())) > 5
assert any(turn for each in generate("boxes", 20, seed=2) for turn in references(world, each))
"""
    desk.python("-c", program)


def test_it_is_trained_evaluated_and_followed(desk: Desk):
    commands = []
    for policy, flags in POLICIES.items():
        run = f"runs/{policy}"
        commands += [
            ["train", "--world", "boxes", "--data", "data", "--out", run, *TRAIN, *flags],
            ["evaluate", run, "--data", "data", "--json"],
            ["run", "--agent", run, "--state", START, "remove the green box", "--svg", f"{policy}.svg"],
        ]
    printed = desk.sestra(*commands)
    for number, policy in enumerate(POLICIES):
        config = json.loads((desk.folder / "runs" / policy / "config.json").read_text())
        assert (config["world"], config["policy"]["name"]) == ("boxes", policy)
        assert json.loads(printed[3 * number + 1])
        assert "remove the green box" in (desk.folder / f"{policy}.svg").read_text()

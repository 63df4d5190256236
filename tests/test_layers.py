"""The architecture, held by its imports: no cycles, layers that only look down, and no torch where agents are only used."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import sestra

PACKAGE = Path(sestra.__file__).parent
MODULES = {
    ".".join(["sestra", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
LAYERS = (
    {"errors", "io", "metrics", "pretrained", "registry", "version"},
    {"worlds"},
    {"data", "drawing"},
    {"envs"},
    {"agent"},
    {"analysis", "learning"},
    {"serve", "experiments"},
    {"cli", "__main__"},
)
"""From the bottom up; a module imports from its own layer and from those below."""
LACKING = """
import sys
class Lacking:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("torch", "onnx", "onnxscript", "onnx_ir"):
            raise ModuleNotFoundError(f"{name} was imported")
sys.meta_path.insert(0, Lacking())
"""
BEAKERS = "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_"


def imports(name: str) -> Iterator[str]:
    """The package's modules that a module imports, also those inside functions; not those that only a type checker follows."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    skipped = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "sestra":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else node.module


GRAPH = {name: set(imports(name)) - {name} for name in MODULES}


def layer(name: str) -> int:
    part = name.split(".")[1] if "." in name else "cli"  # the package itself is what a user imports, above everything
    found = [number for number, parts in enumerate(LAYERS) if part in parts]
    assert len(found) == 1, f"{name} is in {len(found)} layers; put {part!r} into one of LAYERS"
    return found[0]


def part_of_a_world(name: str) -> bool:
    """A world's own drawing, grammar, encoder, ...: loaded when it is asked for, so that it may import what is above worlds."""
    return name.startswith("sestra.worlds.") and name.count(".") == 3 and not name.endswith(".world")


def test_no_import_cycles() -> None:
    assert "sestra.worlds.alchemy.world" in GRAPH["sestra.worlds.alchemy.drawing"]
    try:
        tuple(TopologicalSorter(GRAPH).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("name", [name for name in MODULES if not part_of_a_world(name)])
def test_imports_go_down(name: str) -> None:
    wrong = [other for other in GRAPH[name] if layer(other) > layer(name) and not part_of_a_world(other)]
    assert not wrong, f"{name} imports {', '.join(wrong)}"


@pytest.mark.parametrize("name", [name for name in MODULES if part_of_a_world(name)])
def test_parts_of_worlds_know_nothing_of_applications(name: str) -> None:
    assert not [other for other in GRAPH[name] if other.split(".")[1] in {"serve", "experiments", "cli"}]


def test_the_using_half_does_not_import_learning() -> None:
    using = [
        name
        for name in MODULES
        if name.split(".")[1:2] and name.split(".")[1] in {"worlds", "data", "drawing", "envs", "agent", "serve", "pretrained"}
    ]
    found = {
        name
        for name in using
        for other in GRAPH[name]
        if other.startswith("sestra.learning") and not (part_of_a_world(name) and name.endswith(".encoder"))
    }
    assert not found


def test_only_learning_and_state_encoders_name_torch() -> None:
    for name, path in MODULES.items():
        trains = name.startswith(("sestra.learning", "sestra.experiments")) or name == "sestra.cli.train"
        if not trains and not name.endswith(".encoder"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
            named |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            assert not {each for each in named if each.partition(".")[0] == "torch"}, name


@pytest.mark.parametrize(
    "program",
    [
        "from sestra.worlds import get_world\nfrom sestra.worlds.tables import compile_world\ncompile_world(get_world('scene')).steps",
        "import sestra.data.batch, sestra.data.augment, sestra.data.synthetic; sestra.data.synthetic.generate('alchemy', 2, seed=1)",
        "import sestra.data.download, sestra.data.sources, sestra.data.statistics, sestra.data.examples",
        "import gymnasium, sestra.envs; gymnasium.make('sestra/Tangrams-v0').reset(seed=1)",
        "import sestra.drawing\nfrom sestra.worlds import get_world\nw = get_world('tangrams')\nsestra.drawing.draw_svg(w, w.parse('1:4'))",
        "from sestra.cli import main; assert main(['--version']) == 0",
        "from sestra.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from sestra.cli import main\ntry: main(['train', '--help'])\nexcept SystemExit: pass",
        f"from sestra import Agent; Agent.from_pretrained('alchemy').follow('{BEAKERS}', ['throw out first beaker', 'mix the last one'])",
        "from sestra.cli import main; assert main(['evaluate', 'tangrams-sestra', '--data', 'data', '--out', 'results.json']) == 0",
        f"from sestra.cli import main; assert main(['run', '--agent', 'alchemy', '--state', '{BEAKERS}', 'throw out first beaker']) == 0",
        "from sestra import Agent; from sestra.serve.app import create_app; create_app([Agent.from_pretrained('scene')])",
    ],
)
def test_runs_without_torch(program: str, small_data: Path, tmp_path: Path) -> None:
    """In a fresh process that lacks torch and what exports policies."""
    (tmp_path / "data").symlink_to(small_data)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-c", LACKING + program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr

"""Every command and every Python snippet in README.md and docs/ is executed here, or, where that is impossible, parsed: see RULES."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import tyro
from agents import write_random_agent
from hub_server import TOKEN, Hub

from sestra import pretrained
from sestra.cli import CONFIG, commands, main
from sestra.data import scone
from sestra.data.synthetic import generate
from sestra.learning.learners.registry import LEARNERS
from sestra.learning.policies.registry import POLICIES
from sestra.worlds import WORLDS, get_world

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SMALL = "--data small"


@dataclass(frozen=True)
class Rule:
    """What is done with the commands that begin so."""

    flags: str = ""
    """Added when the command is executed, so that it takes seconds."""
    only_parsed: str = ""
    """Why it is not executed; its flags are still parsed."""


RULES = {
    "sestra train --world shelf/world.py:Shelf": Rule("--epochs 1"),
    "sestra train --world examples/own_world": Rule("--epochs 1"),
    "sestra evaluate runs/shelf": Rule(),
    "sestra data show --world shelf/world.py:Shelf": Rule(),
    "pytest shelf": Rule(only_parsed="tests/cli/test_new.py executes it"),
    "sestra train --world tangrams --policy objects": Rule(f"{SMALL} --epochs 1 --generated 20"),
    "sestra train": Rule(f"{SMALL} --epochs 1"),
    "sestra evaluate": Rule(SMALL),
    "sestra analyze alchemy-sestra --annotations": Rule(only_parsed="needs SCONE; tests/analysis/test_annotations.py reads annotations"),
    "sestra analyze": Rule(f"{SMALL} --errors 3"),
    "sestra check": Rule("--capability colour"),
    "sestra calibrate": Rule(only_parsed="needs SCONE; tests/agent/test_calibration.py calibrates"),
    "sestra data generate": Rule("--count 20"),
    "sestra data download": Rule(only_parsed="fetches SCONE; tests/data/test_download.py fetches from a server of its own"),
    "sestra serve": Rule(only_parsed="serves until it is stopped; tests/serve talks to the application"),
    "sestra paper run": Rule(only_parsed="trains for hours; the tests of sestra.experiments run a small grid"),
    "sestra paper report": Rule(f"--results {ROOT / 'results' / 'paper'} --out RESULTS.md --no-figures"),
    "sestra sweep": Rule(only_parsed="trains for hours; the tests of sestra.experiments run a small one"),
    "python benchmarks/": Rule(only_parsed="measures a machine for minutes"),
    "python examples/ray_serve.py": Rule(only_parsed="serves until it is stopped; tests/examples/test_ray_serve.py talks to it"),
    "pip install": Rule(only_parsed="changes the environment"),
    "ray start": Rule(only_parsed="another program's, on another machine"),
    ". .venv/bin/activate": Rule(only_parsed="changes the shell that it is typed into"),
}
TYPED = "/help\n/quit\n"
"""What somebody types into ``sestra play``."""


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    code: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """Of a block for a shell; in one of a console they follow a prompt, and comments are dropped."""
        lines = self.code.splitlines()
        if self.language == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [shlex.join(words) for line in lines if (words := shlex.split(line, comments=True))]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^```(\w*)[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(page, text[: match.start()].count("\n") + 1, match[1], match[2])


BLOCKS = [block for page in PAGES for block in blocks(page)]
COMMANDS = [(block, command) for block in BLOCKS if block.language in ("sh", "console") for command in block.commands]


def rule(command: str) -> Rule:
    return next((found for begin, found in RULES.items() if command.startswith(begin)), Rule())


def parse(command: str) -> None:
    """As the command line does, but without doing anything."""
    program, *arguments = shlex.split(command)
    if program == "sestra":
        tyro.cli(commands(arguments), prog="sestra", args=arguments, config=CONFIG)
    elif program == "python":
        assert (ROOT / arguments[0]).is_file(), command


@pytest.mark.parametrize(
    ("block", "command"), [pytest.param(*each, id=f"{each[0].place} {each[1]}") for each in COMMANDS if rule(each[1]).only_parsed]
)
def test_command_that_is_only_parsed(block: Block, command: str):
    parse(command)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few interactions of each world, and one with agents by the names that the pages use."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "small").mkdir()
    for world in WORLDS.names():
        for seed, (split, count) in enumerate((("train", 12), ("dev", 4))):
            scone.write(folder / "small" / f"{world}-{split}.tsv", get_world(world), generate(world, count, seed=seed))
        if world not in pretrained.names():
            write_random_agent(folder / "agents" / world, world)
        else:
            shutil.copytree(pretrained.find(world), folder / "agents" / world)
    return folder


@pytest.fixture
def desk(small: Path, no_scone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a reader tries a page: an empty folder, no SCONE, and agents that come with the package."""
    shutil.copytree(small / "small", tmp_path / "desk" / "small")
    monkeypatch.chdir(tmp_path / "desk")
    monkeypatch.setattr(pretrained, "HERE", small / "agents")
    registries = (WORLDS, POLICIES, LEARNERS)
    before = [registry.registered() for registry in registries]
    yield tmp_path / "desk"
    for registry, registered in zip(registries, before, strict=True):
        registry._registered = registered


def execute(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = rule(command)
    if found.only_parsed:
        return None
    program, *arguments = shlex.split(f"{command} {found.flags}")
    if program == "curl":
        return ask(arguments)
    if program == "make":
        subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT, check=True, capture_output=True)
        return None
    if program != "sestra":
        pytest.fail(f"{command}: nobody knows how to try {program}; add a rule")
    monkeypatch.setattr(sys, "stdin", io.StringIO(TYPED))
    assert main(arguments) == 0, command
    return None


def ask(arguments: list[str]) -> None:
    """What curl asks, answered by the application with agents by the names that the pages use."""
    from fastapi.testclient import TestClient

    from sestra.cli.serve import load
    from sestra.serve.app import create_app

    [address] = [argument for argument in arguments if argument.startswith("http://127.0.0.1:8000/")]
    body = json.loads(arguments[arguments.index("-d") + 1])
    with TestClient(create_app(load(())), base_url="http://127.0.0.1:8000") as client:
        assert client.post(address.removeprefix("http://127.0.0.1:8000"), json=body).status_code == 200


def copy_examples(desk: Path, _page: Path) -> None:
    shutil.copytree(ROOT / "examples", desk / "examples", ignore=shutil.ignore_patterns("__pycache__"))


def copy_data(desk: Path, _page: Path) -> None:
    shutil.copytree(desk / "small", desk / "data")


PREPARED: dict[str, Callable[[Path, Path], None]] = {
    "training.md": copy_data,
    "your-own-world.md": copy_examples,
    "your-own-policy.md": copy_examples,
    "your-own-learner.md": copy_examples,
}


@pytest.fixture
def signed_in(hub_server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """As somebody is who may write to the repositories that the pages name."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)


@pytest.mark.parametrize("page", [page for page in PAGES if any(block.page == page for block in BLOCKS)], ids=lambda page: page.name)
def test_page_does_what_it_says(page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """All commands and snippets of a page, one after the other, in one folder and one Python session."""
    if page.name == "agents.md":
        request.getfixturevalue("signed_in")
    if prepare := PREPARED.get(page.name):
        prepare(desk, page)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python":
            monkeypatch.setattr(sys, "argv", ["snippet", "--version"])  # for a snippet that is a program
            program = compile(block.code, block.place, "exec")
            status = None
            try:
                exec(program, names)
            except SystemExit as stopped:
                status = stopped.code
            assert not status, block.place
        elif block.language in ("sh", "console"):
            for command in block.commands:
                execute(command, monkeypatch)


def test_other_blocks_are_of_known_languages():
    """So that a command in a block called "bash" is not passed over."""
    assert [block.place for block in BLOCKS if block.language not in ("sh", "console", "python", "text", "bibtex", "")] == []


# What the running text mentions.

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PROSE = [FENCED.sub("", page.read_text(encoding="utf-8")) for page in PAGES]
INLINE = sorted({code for text in PROSE for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)})


def named_commands() -> set[str]:
    """The commands that the pages name, without their arguments: ``data stats``."""
    spoken = [*INLINE, *(command for _, command in COMMANDS)]
    found = (re.match(r"sestra((?: [a-z]+){1,2})(?= -|$| [^a-z]| [a-z]+[/\d])", code) for code in spoken)
    return {match[1].strip() for match in found if match} | {"train --policy objects", "train --preset paper"}


def help_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--help-all" if command[0] == "train" else "--help"])
    shown = capsys.readouterr()
    assert stopped.value.code == 0, shown.err
    return shown.out


def test_commands_and_flags_in_the_text_exist(capsys: pytest.CaptureFixture[str]):
    shown = "".join(help_of(capsys, *command.split()) for command in named_commands())
    known = set(re.findall(r"--[a-z][a-z-]*", shown)) | {"--help", "--version"}
    history = FENCED.sub("", (ROOT / "docs" / "log.md").read_text(encoding="utf-8"))  # names flags that are gone
    mentioned = {flag for code in INLINE if f"`{code}`" not in history for flag in re.findall(r"(?:^|\s)(--[a-z][a-z-]*)", code)}
    assert mentioned <= known, mentioned - known


def test_extras_in_the_text_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    found = [names for text in PROSE for names in re.findall(r"(?:sestra|\.)\[([a-z,]+)\]", text)]
    mentioned = {name for names in found for name in names.split(",")}
    assert mentioned <= set(extras), mentioned - set(extras)


def test_files_in_the_text_exist():
    inside = [code for code in INLINE if re.fullmatch(r"(?:sestra|docs|tests|benchmarks|examples)/[\w./-]+", code)]
    assert [path for path in inside if not (ROOT / path).exists()] == []
    readme = re.findall(r"\]\(((?!https?:)[^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert [path for path in readme if not (ROOT / path).exists()] == []


def test_the_documentation_builds_without_a_warning(tmp_path: Path):
    pytest.importorskip("sphinx", reason="the documentation needs sphinx, furo and myst-parser: pip install '.[docs]'")
    quicker = ["-D", "toc_object_entries=0", "-D", "autodoc_use_type_comments=0"]
    options = ["-q", "-W", "--keep-going", "-b", "html", *quicker, "-d", str(tmp_path / "trees")]
    command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(tmp_path / "html")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pages = list((tmp_path / "html").rglob("*.html"))
    assert len(pages) > len(PAGES) - 2
    for page in pages:  # to read them needs no network
        fetched = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"(https?://[^\"]*)", page.read_text(encoding="utf-8"))
        assert not fetched, (page, fetched)

"""``sestra run`` as a user types it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from agents import STATES, write_random_agent
from commands import run

from sestra import Agent

STATE = STATES["alchemy"]
INSTRUCTIONS = ("throw out the first beaker", "pour the sixth beaker into the last one", "it turns brown")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random_agent(tmp_path_factory.mktemp("agents") / "alchemy")


def as_json(folder: Path, **manner: object) -> object:
    return json.loads(json.dumps(Agent.from_pretrained(folder).follow(STATE, INSTRUCTIONS, **manner).to_json()))


def test_run_shows_every_action_and_the_final_state(capsys: pytest.CaptureFixture[str], folder: Path):
    trace = Agent.from_pretrained(folder).follow(STATE, INSTRUCTIONS)
    status, out, err = run(capsys, "run", "--agent", folder, "--state", STATE, *INSTRUCTIONS)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[-1] == f"Final state: {trace.final_state}"
    for number, turn in enumerate(trace.turns, start=1):
        first = lines.index(f"{number}. {turn.instruction}") + 1
        if not turn.understood:
            assert lines[first] == f"   The agent does nothing ({turn.reason})."
            continue
        for line, step in zip(lines[first:], turn.steps, strict=False):
            assert line.split("   (or ")[0].split() == [*step.action.split(), f"{step.probability:.0%}", *step.state.split()]
    notes = [f"   Note: {note}" for turn in trace.turns for note in turn.notes]
    assert [line for line in lines if line.startswith("   Note: ")] == notes
    assert out.count("╰───╯") == 7 * (1 + sum(turn.understood for turn in trace.turns))
    assert "\x1b" not in out


def test_run_prints_the_trace_as_json(capsys: pytest.CaptureFixture[str], folder: Path):
    status, out, _ = run(capsys, "run", "--agent", folder, "--state", STATE, "--json", *INSTRUCTIONS)
    assert status == 0
    assert out.count("\n") == 1
    assert json.loads(out) == as_json(folder)


@pytest.mark.parametrize(
    ("flags", "manner"),
    [
        (["--how", "beam", "--beam", "2"], {"how": "beam", "beam": 2}),
        (["--how", "beam"], {"how": "beam", "beam": 4}),
        (["--how", "sample", "--seed", "5"], {"how": "sample", "seed": 5}),
        (["--horizon", "1"], {"horizon": 1}),
    ],
)
def test_run_passes_on_how_to_choose(capsys: pytest.CaptureFixture[str], folder: Path, flags: list[str], manner: dict[str, object]):
    status, out, _ = run(capsys, "run", "--agent", folder, "--state", STATE, "--json", *INSTRUCTIONS, *flags)
    assert status == 0
    assert json.loads(out) == as_json(folder, **manner)


def test_run_reads_standard_input(capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(("", *INSTRUCTIONS, "  ", ""))))
    status, out, _ = run(capsys, "run", "--agent", folder, "--state", STATE, "--json")
    assert status == 0
    assert json.loads(out) == as_json(folder)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (b" \n\n", "no instruction to follow"),
        (b"throw it out\n" * 2000, "more than 1,000 instructions"),
        (b"throw \xff\n", "standard input is not UTF-8"),
    ],
)
def test_run_refuses_odd_input(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch, given: bytes, expected: str
):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
    status, out, err = run(capsys, "run", "--agent", folder, "--state", STATE)
    assert (status, out) == (2, "")
    assert expected in err


def test_run_draws_the_states(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path):
    svg, png = tmp_path / "a.svg", tmp_path / "a.png"
    status, _, _ = run(capsys, "run", "--agent", folder, "--state", STATE, *INSTRUCTIONS, "--svg", svg, "--png", png)
    assert status == 0
    assert all(instruction in svg.read_text() for instruction in INSTRUCTIONS)
    assert png.read_bytes().startswith(b"\x89PNG")


def test_run_tells_of_words_that_it_does_not_know(capsys: pytest.CaptureFixture[str], folder: Path):
    status, out, _ = run(capsys, "run", "--agent", folder, "--state", STATE, "throw out the yelow \x1b[31m zxqvzxqv")
    assert status == 0
    assert "“yelow” is not a word that the agent knows; it was read as “yellow”." in out
    assert "zxqvzxqv" in out.split("Note: ", 1)[1]
    assert "\x1b" not in out  # nothing typed commands the terminal


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["throw"], 'no state to begin from; say which one, such as --state "1:'),
        (["throw", "--state", "1:x"], '--state "1:x": '),
        (["throw", "--state", "1:g " * 5000], "a state of alchemy looks like"),
        (["", "--state", STATE], "has no word in it"),
        (["throw", "?!", "--state", STATE], "instruction 2: "),
        (["word " * 2000, "--state", STATE], "characters are too many"),
        (["throw", "--state", STATE, "--world", "chess"], "unknown world 'chess'; expected one of alchemy, scene, tangrams"),
        (["throw", "--state", STATE, "--world", "scene"], "acts in alchemy, not in scene"),
        (["throw", "--state", STATE, "--beam", "2"], "--beam 2: only works with --how beam"),
        (["throw", "--state", STATE, "--seed", "2"], "--seed 2: only works with --how sample"),
        (["throw", "--state", STATE, "--how", "beam", "--beam", "0"], "beam=0; expected a whole number"),
        (["throw", "--state", STATE, "--horizon", "0"], "horizon=0; expected a whole number"),
        (["throw", "--state", STATE, "--svg", "a.png"], "--svg a.png: expected a name that ends in .svg"),
        (["throw", "--state", STATE, "--svg", "absent/a.svg"], "absent/a.svg: cannot be written"),
    ],
)
def test_run_refuses_nonsense(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], expected: str
):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "run", "--agent", folder, *arguments)
    assert (status, out) == (2, "")
    assert expected in err
    assert len(err) < 1000
    assert list(tmp_path.iterdir()) == []


def test_run_needs_an_agent(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    status, _, err = run(capsys, "run", "--state", STATE, "throw")
    assert status == 2
    assert "which agent? Give --world (alchemy, scene, tangrams)" in err
    status, _, err = run(capsys, "run", "--agent", tmp_path, "--state", STATE, "throw")
    assert status == 2
    assert str(tmp_path) in err

"""``sestra data`` and ``sestra demo`` as a user types them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from agents import write_random_agent
from commands import run

from sestra import Agent, pretrained
from sestra.agent.trace import Step, Trace, Turn
from sestra.data import download as downloads
from sestra.data import scone as reader
from sestra.data import synthetic
from sestra.data.examples import example
from sestra.data.synthetic import generate
from sestra.worlds import WORLDS, get_world

GOOD = "one\t1:4 2:0\ttake it away\t1:0\n"
BAD = "one\t1:4 2:4\ttake it away\t1:9\n"


# check


def test_check_counts_good_files(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    (tmp_path / "tangrams-mine.tsv").write_text(GOOD * 3)
    (tmp_path / "mine.tsv").write_text("one\t1:4\ttake it away\t?\tput it back\t1:4\n")
    status, out, err = run(capsys, "data", "check", tmp_path / "tangrams-mine.tsv")
    assert (status, err) == (0, "")
    assert out == f"{tmp_path}/tangrams-mine.tsv: 3 interactions, 3 instructions, 0 unknown states of tangrams: all right\n"
    status, out, err = run(capsys, "data", "check", "--world", "tangrams", tmp_path / "mine.tsv", "--json")
    assert (status, err) == (0, "")
    counts = {"file": f"{tmp_path}/mine.tsv", "world": "tangrams", "interactions": 1, "instructions": 2, "unknown": 1}
    assert json.loads(out) == {"files": [counts], "problems": []}


def test_check_lists_all_errors_of_all_files(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    (tmp_path / "tangrams-a.tsv").write_text(GOOD + BAD)
    (tmp_path / "tangrams-b.tsv").write_bytes(b"\xff\n" + BAD.encode())
    (tmp_path / "tangrams-c.tsv").write_text(GOOD)
    (tmp_path / "mine.tsv").write_text(GOOD)
    names = ["tangrams-a.tsv", "tangrams-b.tsv", "tangrams-c.tsv", "mine.tsv", "tangrams-absent.tsv", "scene-x/.."]
    status, out, err = run(capsys, "data", "check", *(tmp_path / name for name in names))
    assert status == 1
    assert out.splitlines() == [f"{tmp_path}/tangrams-c.tsv: 1 interactions, 1 instructions, 0 unknown states of tangrams: all right"]
    places = [line.removeprefix(f"{tmp_path}/").split(": ")[0] for line in err.splitlines()]
    assert places == [
        *("tangrams-a.tsv:2", "tangrams-a.tsv:2", "tangrams-b.tsv:1", "tangrams-b.tsv:2", "tangrams-b.tsv:2"),
        *("mine.tsv", "tangrams-absent.tsv", "scene-x/..", "problems"),
    ]
    assert err.splitlines()[-1] == "problems: 8, in 5 of 6 files"
    status, out, _ = run(capsys, "data", "check", tmp_path / "tangrams-a.tsv", "--json")
    assert status == 1
    assert len(json.loads(out)["problems"]) == 2


def test_check_needs_a_file_and_a_known_world(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    status, _, err = run(capsys, "data", "check")
    assert status == 2
    assert err.startswith("sestra: no file to check; expected at least one")
    status, _, err = run(capsys, "data", "check", tmp_path / "x.tsv", "--world", "chess")
    assert status == 1
    assert "unknown world 'chess'; expected one of alchemy, scene, tangrams" in err


# download


def test_download_reports_its_failures(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    status, out, err = run(capsys, "data", "download", "--url", "file:///etc/hostname", "--to", tmp_path / "to")
    assert (status, out) == (2, "")
    assert "sestra: file:///etc/hostname: is not a web address" in err
    assert not (tmp_path / "to").exists()
    for timeout in ("0", "-1", "nan", "inf"):
        assert run(capsys, "data", "download", "--timeout", timeout)[0] == 2


def test_download_tells_what_it_did(capsys: pytest.CaptureFixture[str], tmp_path: Path, no_scone: Path, monkeypatch: pytest.MonkeyPatch):
    calls = []

    def stand_in(to: Path, **options: object) -> list[str]:
        calls.append((to, options["url"]))
        options["progress"](10, None)
        return ["scene-dev.tsv"]

    monkeypatch.setattr("sestra.cli.data.download", stand_in)
    status, out, _ = run(capsys, "data", "download")
    assert (status, out) == (0, f"{no_scone}/sestra/scone: 1 files fetched, 11 there already; all 12 verified\n")
    status, out, _ = run(capsys, "data", "download", "--to", tmp_path)
    assert f"--data {tmp_path}" in out
    assert calls == [(no_scone / "sestra" / "scone", downloads.URL), (tmp_path, downloads.URL)]


# stats, generate, show


def test_stats_without_scone_say_that_they_are_of_generated_data(
    capsys: pytest.CaptureFixture[str], no_scone: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(synthetic, "TRAIN", 50)
    monkeypatch.setattr(synthetic, "DEV", 10)
    status, out, err = run(capsys, "data", "stats")
    assert (status, err) == (0, "")
    assert "SCONE was not found: this is generated data" in " ".join(out.split())
    status, out, err = run(capsys, "data", "stats", "--json")
    found = json.loads(out)
    assert found["source"] == "generated"
    for world in found["worlds"].values():
        assert world["sequences"] == {"train": 50, "dev": 10}
        assert world["steps"]["train"]["total"] == world["steps"]["train"]["reached"] == 250


def test_stats_stop_at_a_bad_file(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    (tmp_path / "tangrams-dev.tsv").write_text(BAD)
    status, out, err = run(capsys, "data", "stats", "--data", tmp_path)
    assert (status, out) == (2, "")
    assert f"{tmp_path}/tangrams-dev.tsv:1: column 2" in err
    assert run(capsys, "data", "stats", "--data", tmp_path / "absent")[0] == 2


@pytest.mark.scone
def test_stats_of_scone(capsys: pytest.CaptureFixture[str], scone: Path):
    status, out, _ = run(capsys, "data", "stats", "--data", scone)
    assert status == 0
    rows = {" ".join(line.split()[:2]): line.split()[2:] for line in out.splitlines()}
    assert rows["together train"] == ["55,990", "0", "55,990", "2.18", "6"]
    assert rows["together dev"] == ["3,210", "9", "3,210", "2.16", "6"]
    assert rows["together train-orig"] == ["18,533", "0", "18,533", "2.38", "6"]
    assert "train 3,657 3,657 3,352 3,352 4,189 4,189 dev 245 245 198 198 199 199" in " ".join(out.split())
    assert "vocabulary 695 695 816 816 475 475" in " ".join(out.split())
    assert rows["instruction length"] == ["8.0±3.2", "8.0±3.2", "10.5±5.5", "10.5±5.5", "5.4±2.4", "5.4±2.4"]


@pytest.mark.parametrize("world", WORLDS.names())
def test_generate_writes_what_check_accepts(capsys: pytest.CaptureFixture[str], tmp_path: Path, world: str):
    path = tmp_path / f"{world}-made.tsv"
    status, out, _ = run(capsys, "data", "generate", "--world", world, "--count", "7", "--seed", "3", "--out", path)
    assert (status, out) == (0, f"{path}: 7 interactions of {world} written\n")
    assert run(capsys, "data", "check", path)[0] == 0
    assert len(reader.read(path, get_world(world))) == 7
    status, out, _ = run(capsys, "data", "generate", "--world", world, "--count", "7", "--seed", "3")
    assert out == path.read_text()
    assert run(capsys, "data", "generate", "--world", world, "--count", "7", "--seed", "4")[1] != out


def test_generate_refuses_nonsense(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    for arguments in (["--world", "chess"], ["--world", "scene", "--count", "0"], ["--world", "scene", "--out", str(tmp_path)]):
        status, out, err = run(capsys, "data", "generate", *arguments)
        assert (status, out) == (2, "")
        assert err.startswith("sestra: ")
    assert list(tmp_path.iterdir()) == []


def test_show_draws_an_interaction(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "tangrams-mine.tsv"
    path.write_text(GOOD + "two\t1:3 2:1\tswap them\t?\tdrop the first\t1:3\n")
    status, out, _ = run(capsys, "data", "show", path, "--svg", tmp_path / "a.svg", "--png", tmp_path / "a.png")
    assert status == 0
    assert "1. take it away\n   remove 1 · stop\n" in out
    assert "take it away" in (tmp_path / "a.svg").read_text()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    by_id, by_index = run(capsys, "data", "show", path, "--id", "two"), run(capsys, "data", "show", path, "--index", "1")
    assert by_id == by_index
    assert "1. swap them\n   the way is unknown\n   the state is unknown\n" in by_id[1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--index", "1"], "has no interaction 1; expected --index from 0 to 0"),
        (["--index", "-1"], "--index -1: expected a whole number from 0"),
        (["--id", "none"], "no interaction is called 'none'; expected one like 'one'"),
        (["--id", "one", "--index", "0"], "both say which interaction"),
        (["--svg", "mine.png"], "--svg mine.png: expected a name that ends in .svg"),
    ],
)
def test_show_refuses_nonsense(capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], expected: str):
    path = tmp_path / "tangrams-mine.tsv"
    path.write_text(GOOD)
    status, out, err = run(capsys, "data", "show", path, *arguments)
    assert (status, out) == (2, "")
    assert expected in err


def test_show_without_scone_generates(capsys: pytest.CaptureFixture[str], no_scone: Path):
    status, out, _ = run(capsys, "data", "show", "--world", "scene", "--index", "2")
    assert status == 0
    assert "generated, because SCONE was not found" in " ".join(out.split())
    assert out.count("· stop") == 5


# demo


@pytest.mark.parametrize("name", WORLDS.names())
def test_every_instruction_of_an_example_changes_the_state(name: str):
    assert all(before != after for before, after in pairwise(example(get_world(name)).states))


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an agent for each world, which has learnt nothing."""
    folder = tmp_path_factory.mktemp("shipped")
    for name in WORLDS.names():
        write_random_agent(folder / name, name)
    return folder


def test_demo_lets_an_agent_of_every_world_act(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, shipped: Path):
    monkeypatch.setattr("sestra.pretrained.HERE", shipped)
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("waited although nobody is watching"))
    status, out, _ = run(capsys, "demo")
    assert status == 0
    for name in WORLDS.names():
        assert f"The agent {name} reads the instructions" in out
        assert all(instruction in out for instruction in example(get_world(name)).instructions)
        interaction = example(get_world(name))
        trace = Agent.from_pretrained(shipped / name).follow(get_world(name).format(interaction.states[0]), interaction.instructions)
        assert trace.final_state in out
    assert out.count("The state was as the instructions mean after ") == 3
    assert "\x1b" not in out


def test_demo_says_how_often_the_agent_was_right(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, shipped: Path):
    reached = [get_world("tangrams").format(state) for state in example(get_world("tangrams")).states]
    reached[3] = reached[0]

    def follow(self: Agent, state: str, instructions: tuple[str, ...]) -> Trace:
        turns = []
        for instruction, before, after in zip(instructions, reached, reached[1:], strict=False):
            step = Step("stop", 1.0, (), (), after)
            turns.append(Turn(instruction, (), before, after, True, (), (step,)))
        return Trace("tangrams", state, tuple(turns))

    monkeypatch.setattr("sestra.agent.Agent.follow", follow)
    status, out, _ = run(capsys, "demo", "--agent", shipped / "tangrams")
    assert status == 0
    assert "The state was as the instructions mean after 4 of 5 of them." in out


def test_demo_of_one_world_generated(capsys: pytest.CaptureFixture[str], shipped: Path):
    status, out, _ = run(capsys, "demo", "--agent", shipped / "scene", "--seed", "1")
    assert status == 0
    assert all(instruction in out for instruction in generate("scene", 1, seed=1)[0].instructions)
    assert run(capsys, "demo", "--world", "scene", "--agent", shipped / "scene", "--seed", "1")[1] == out
    assert run(capsys, "demo", "--delay", "-1")[0] == 2
    assert run(capsys, "demo", "--world", "chess")[0] == 2
    status, out, err = run(capsys, "demo", "--world", "alchemy", "--agent", shipped / "scene")
    assert (status, out) == (2, "")
    assert "acts in scene, not in alchemy" in err


def test_demo_without_an_agent_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("sestra.pretrained.HERE", tmp_path)
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "demo")
    assert (status, out) == (2, "")
    assert "alchemy" in err


@pytest.mark.parametrize("name", WORLDS.names())
def test_the_agents_that_ship_understand_the_demo(capsys: pytest.CaptureFixture[str], name: str):
    if name not in pretrained.names():
        pytest.skip(f"no agent for {name} ships with this version yet")
    status, out, _ = run(capsys, "demo", "--world", name)
    assert status == 0
    assert "after 5 of 5" in out or "after 4 of 5" in out

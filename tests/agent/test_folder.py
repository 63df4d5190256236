"""Agents' folders: read back as they were written, or refused in one line that names the place."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from agents import STATES, random_agent, words_of, write_random_agent
from onnx import helper, numpy_helper
from safetensors.numpy import save_file
from small_networks import random_network

from sestra.agent import Agent, folder
from sestra.agent.folder import ABOUT, CARD, IN_RUN, MAX_NETWORKS, VOCABULARY, About
from sestra.data.vocabulary import Vocabulary
from sestra.errors import InputError
from sestra.worlds import get_world
from sestra.worlds.tables import compile_world

INSTRUCTIONS = ["throw out the first beaker", "pour it into the last green one"]
FILES = (ABOUT, CARD, VOCABULARY, "encode-1.onnx", "step-1.onnx")
SECONDS = 2.0
"""In which a refusal comes, even on a busy machine."""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    return write_random_agent(tmp_path / "mine")


def refusal(name: Any, load: Callable[[Any], object] = Agent.from_pretrained) -> str:
    """What is said of something that is no agent: one line, not long, at once."""
    begun = time.process_time()
    with pytest.raises(InputError) as caught:
        load(name)
    said = str(caught.value)
    assert time.process_time() - begun < SECONDS
    assert "\n" not in said
    assert len(said) < 700
    return said


def content(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


def describe(place: Path, **changes: Any) -> None:
    """Change what agent.json says, and give it the checksums of the files as they are now."""
    about = json.loads((place / ABOUT).read_text())
    about["files"] = {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in about["files"]}
    (place / ABOUT).write_text(json.dumps(about | changes))


# Good ones.


def test_what_is_written_is_read(agent: Path):
    contents = folder.read(agent)
    assert set(content(agent)) == set(FILES)
    assert (contents.about.world, contents.about.horizon, contents.about.verbosity) == ("alchemy", 8, 0.1)
    assert contents.about.training["seed"] == 7
    assert contents.vocabulary == words_of("alchemy")
    assert contents.tables.world is get_world("alchemy")
    assert contents.networks == (random_network(contents.tables, len(contents.vocabulary)),)
    assert contents.card == "# A card\n"


def test_an_agent_knows_what_its_folder_says(agent: Path):
    loaded = Agent.from_pretrained(str(agent))
    assert (loaded.name, loaded.world.name, loaded.card) == ("mine", "alchemy", "# A card\n")
    assert (loaded.world_reference, loaded.verbosity, loaded.training["learner"]) == ("alchemy", 0.1, "none")
    assert "mine" in repr(loaded)


def test_what_is_saved_again_is_the_same_to_the_bit(agent: Path, tmp_path: Path):
    first = Agent.from_pretrained(agent)
    first.save_pretrained(tmp_path / "deep" / "copy")
    assert content(tmp_path / "deep" / "copy") == content(agent)
    second = Agent.from_pretrained(tmp_path / "deep" / "copy")
    assert first.follow(STATES["alchemy"], INSTRUCTIONS) == second.follow(STATES["alchemy"], INSTRUCTIONS)


def test_the_checksum_is_of_the_networks_alone(agent: Path, tmp_path: Path):
    same = write_random_agent(tmp_path / "same")
    describe(same, horizon=3)
    other = write_random_agent(tmp_path / "other", seed=8)
    assert folder.read(agent).checksum == folder.read(same).checksum != folder.read(other).checksum


def test_nothing_is_left_of_the_agent_that_was_there(agent: Path, tmp_path: Path):
    """Neither its card nor its other networks; whatever else lies there stays."""
    two = write_random_agent(tmp_path / "two", networks=2)
    (two / "notes.txt").write_text("mine")
    contents = folder.read(agent)
    folder.write(two, contents.about, contents.vocabulary, contents.networks)
    assert set(content(two)) == {*FILES, "notes.txt"} - {CARD}
    assert Agent.from_pretrained(two).card == ""


def test_a_folder_that_is_no_agents_is_not_written_to(agent: Path, tmp_path: Path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text("{}")
    loaded = Agent.from_pretrained(agent)
    assert "is there already and is no agent" in refusal(tmp_path / "run", loaded.save_pretrained)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["config.json"]


def test_places_that_cannot_be_written_to(agent: Path, tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "odd" / ABOUT).mkdir(parents=True)
    loaded = Agent.from_pretrained(agent)
    for place in ("file", "file/agent", "odd", "n" * 300):
        assert str(tmp_path / place)[:100] in refusal(tmp_path / place, loaded.save_pretrained)


def test_a_failure_leaves_no_agent(agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Not one made of old and new files."""
    other = write_random_agent(tmp_path / "other", seed=8)
    contents, write, written = folder.read(agent), Path.write_bytes, []

    def fail(self: Path, data: bytes) -> int:
        written.append(self.name)
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", fail)
    assert "No space left" in refusal(other, lambda place: folder.write(place, contents.about, contents.vocabulary, contents.networks))
    assert "is no agent" in refusal(other)
    assert not list(other.glob(".*"))


def test_a_network_that_takes_no_attention_and_an_older_card_are_no_reason(agent: Path):
    (agent / CARD).unlink()
    about = json.loads((agent / ABOUT).read_text())
    del about["files"][CARD]
    (agent / ABOUT).write_text(json.dumps(about))
    assert Agent.from_pretrained(agent).card == ""


# Damaged ones.


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(agent: Path, name: str):
    (agent / name).unlink()
    assert ("is no agent" if name == ABOUT else f"{name}: cannot be read") in refusal(agent)


@pytest.mark.parametrize("name", FILES[1:])
@pytest.mark.parametrize("place", [0, 0.5, -1])
def test_a_damaged_byte(agent: Path, name: str, place: float):
    found = bytearray((agent / name).read_bytes())
    found[place if place <= 0 else len(found) // 2] ^= 1
    (agent / name).write_bytes(found)
    assert f"{name}: is not as it was written (its checksum differs)" in refusal(agent)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["FIFO", "directory", "device", "socket", "loop"])
def test_other_things_in_the_place_of_a_file(agent: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch):
    """None of them is waited for."""
    (agent / name).unlink()
    if kind == "FIFO":
        os.mkfifo(agent / name)
    elif kind == "directory":
        (agent / name).mkdir()
    elif kind == "device":
        (agent / name).symlink_to("/dev/zero")
    elif kind == "socket":
        import socket

        monkeypatch.chdir(agent)
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(name)
    else:
        (agent / name).symlink_to(agent / name)
    said = refusal(agent)
    assert name in said
    assert "is not an ordinary file" in said or "cannot be read" in said or "is no agent" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ("\xff\xfe", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"world":' * 30 + "1" + "}" * 30, "levels deep"),
        ("[" * 30 + "]" * 30, "levels deep"),
        ("9" * 5_000, "is not JSON"),
        ('{"horizon": ' + "9" * 5_000 + "}", "is not JSON"),
        ('{"world": "\\ud800"}', "is not JSON"),
        ("[]", "expected"),
        ("null", "expected"),
        (f'["{"x" * 100_000}"]', "expected"),
        ("{}", "missing"),
        (f'{{"{"x" * 100_000}": 1}}', "unknown field"),
    ],
)
def test_descriptions_that_are_not_as_written(agent: Path, text: str, said: str):
    (agent / ABOUT).write_text(text, encoding="latin-1")
    assert said in refusal(agent)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": 2}, "has format 2; this version of sestra reads format 1"),
        ({"format": 10**4000}, "has format 1000"),
        ({"format": "1"}, "format is '1'"),
        ({"format": True}, "format is True"),
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"horizon": 0}, "horizon=0"),
        ({"horizon": 10**4000}, "horizon=1000"),
        ({"horizon": 2.5}, "horizon is 2.5"),
        ({"horizon": [1] * 10_000}, "horizon is [1, 1"),
        ({"verbosity": -1}, "verbosity=-1"),
        ({"verbosity": float("nan")}, "verbosity=nan"),
        ({"verbosity": "much"}, "verbosity is 'much'"),
        ({"training": [1]}, "training is [1]"),
        ({"version": 3}, "version is 3"),
        ({"world": "mars"}, "unknown world 'mars'"),
        ({"world": ""}, "is not the name of a world"),
        ({"world": "m" * 50_000}, "unknown world 'mmm"),
        ({"world": "alchemy\n"}, "world is 'alchemy"),
        ({"world": "/tmp/\0.py:World"}, "world is '/tmp/"),
        ({"world": "code.py:World"}, "code must not come with data"),
        ({"world": "nowhere.module:World"}, "cannot be imported"),
        ({"files": {}}, "lists other files than an agent has"),
        ({"files": []}, "files is []"),
        ({"files": {"vocab.json": 1}}, "files is {"),
    ],
)
def test_descriptions_of_something_else(agent: Path, changes: dict[str, Any], said: str):
    describe(agent, **changes)
    found = refusal(agent)
    assert ABOUT in found
    assert said in found


def test_a_field_that_is_missing(agent: Path):
    for name in ("world", "horizon", "verbosity"):
        about = json.loads((agent / ABOUT).read_text())
        del about[name]
        (agent / ABOUT).write_text(json.dumps(about))
        assert f"missing 1 required positional argument: '{name}'" in refusal(agent)
        describe(agent, **{name: {"world": "alchemy"}.get(name, 1)})
    Agent.from_pretrained(agent)


@pytest.mark.parametrize(
    "name",
    ["more.onnx", "encode-2.onnx", "encode-0.onnx", "encode-02.onnx", "../encode-1.onnx", "/etc/passwd", "encode-1.onnx/../x", ABOUT],
)
def test_lists_of_files_that_no_agent_has(agent: Path, name: str, tmp_path: Path):
    (tmp_path / "encode-1.onnx").write_bytes((agent / "encode-1.onnx").read_bytes())
    about = json.loads((agent / ABOUT).read_text())
    for files in (about["files"] | {name: "0" * 64}, {name if each == "encode-1.onnx" else each: d for each, d in about["files"].items()}):
        (agent / ABOUT).write_text(json.dumps(about | {"files": files}))
        assert "lists other files than an agent has" in refusal(agent)


def test_too_many_networks(agent: Path):
    about = json.loads((agent / ABOUT).read_text())
    files = {f"{part}-{number}.onnx": "0" * 64 for number in range(1, MAX_NETWORKS + 2) for part in ("encode", "step")}
    (agent / ABOUT).write_text(json.dumps(about | {"files": {VOCABULARY: "0" * 64} | files}))
    assert "lists other files than an agent has" in refusal(agent)


def test_files_that_are_too_large(agent: Path):
    for name, limit in ((ABOUT, folder.MAX_TEXT), (VOCABULARY, folder.MAX_TEXT), ("step-1.onnx", folder.MAX_GRAPH)):
        before = (agent / name).read_bytes()
        os.truncate(agent / name, limit + 1)  # a sparse file
        assert f"{name}: has {limit + 1:,} bytes" in refusal(agent)
        (agent / name).write_bytes(before)


@pytest.mark.parametrize("words", [{}, "beaker", [1], [["beaker"]], ["a", None], ["x" * 400], ["x" * 101], ["\ud800"]])
def test_vocabularies_that_are_none(agent: Path, words: Any):
    (agent / VOCABULARY).write_text(json.dumps(words))
    describe(agent)
    assert VOCABULARY in refusal(agent)


def test_deep_and_long_numbers_in_the_vocabulary(agent: Path):
    for text in ("[" * 100_000, "[" * 30 + "]" * 30, f"[{'9' * 5_000}]"):
        (agent / VOCABULARY).write_text(text)
        describe(agent)
        assert VOCABULARY in refusal(agent)


def test_more_words_than_the_network_takes(agent: Path):
    words = json.loads((agent / VOCABULARY).read_text())
    (agent / VOCABULARY).write_text(json.dumps([*words, "more"]))
    describe(agent)
    assert "network 1: fails (" in refusal(agent)


@pytest.mark.parametrize("world", ["scene", "tangrams"])
def test_the_network_of_another_world(agent: Path, world: str):
    describe(agent, world=world)
    assert f"{agent}: network 1: " in refusal(agent)


def test_a_network_with_another_number_of_actions(agent: Path):
    tables = compile_world(get_world("alchemy"))
    other = SimpleNamespace(world=tables.world, slots=tables.slots, actions=tables.actions + 1, stop=tables.stop)
    contents = folder.read(agent)
    folder.write(agent, contents.about, contents.vocabulary, [random_network(other, len(contents.vocabulary))])
    assert "gives scores of shape (2, 51) for two states; expected 50 for each" in refusal(agent)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
def test_a_graph_that_allocates_without_end(agent: Path):
    """Eight gigabytes that have nothing to do with the scores, in a step that is otherwise as it was."""
    step = onnx.load_model_from_string((agent / "step-1.onnx").read_bytes())
    for node in step.graph.node:
        node.output[:] = ["scores" if name == "logits" else name for name in node.output]
        node.input[:] = ["scores" if name == "logits" else name for name in node.input]
    step.graph.initializer.append(numpy_helper.from_array(np.array([1 << 31]), "large"))
    step.graph.node.append(helper.make_node("ConstantOfShape", ["large"], ["zeros"]))
    step.graph.node.append(helper.make_node("ReduceMax", ["zeros"], ["zero"], keepdims=0))
    step.graph.node.append(helper.make_node("Add", ["scores", "zero"], ["logits"]))
    (agent / "step-1.onnx").write_bytes(step.SerializeToString())
    describe(agent)
    import resource

    limits, peak = resource.getrlimit(resource.RLIMIT_AS), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "alloc" in refusal(agent)
    assert resource.getrlimit(resource.RLIMIT_AS) == limits
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 1 << 20  # kilobytes


def test_graphs_that_do_not_fit_each_other(agent: Path):
    encode, step = (agent / "encode-1.onnx").read_bytes(), (agent / "step-1.onnx").read_bytes()
    for one, other in ((step, encode), (encode, encode), (step, step), (b"", step), (encode, b""), (b"\x80\x04pickle", step)):
        (agent / "encode-1.onnx").write_bytes(one)
        (agent / "step-1.onnx").write_bytes(other)
        describe(agent)
        assert "network 1: " in refusal(agent)


def test_a_card_that_is_not_text(agent: Path):
    (agent / CARD).write_bytes(b"\xff\xfe\xff")
    describe(agent)
    assert "utf-8" in refusal(agent)


# Names.


def test_a_name_does_not_command_the_terminal():
    assert refusal("\x1b[31mred").startswith(r"'\x1b[31mred': is no agent")
    assert refusal("").startswith("'': is no agent")


@pytest.mark.parametrize(
    "name",
    [
        *["no-such-agent", "", ".", "..", "\0", "a\0b", "\ud800", "/dev/null", "/dev/zero", "~", "a/b/c", "n" * 300, "n" * 5_000],
        *["d/" * 2_000, Path("n" * 300), Path("\0"), 5, None, b"alchemy", ["alchemy"], {}, 2.5, object],
    ],
    ids=lambda name: repr(name)[:20],
)
def test_names_of_nothing(name: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert "expected the folder of an agent or of a run, or one of alchemy" in refusal(name)


def test_agents_of_earlier_versions(tmp_path: Path):
    """They had a configuration and weights."""
    (tmp_path / "old").mkdir()
    for name in ("config.json", "vocab.json", "CARD.md", "model.safetensors"):
        (tmp_path / "old" / name).write_text("{}")
    assert "was exported by an earlier version of sestra; export the run again" in refusal(tmp_path / "old")


# The agent in a run's folder.


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that has been exported, as far as its agent is concerned."""
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    save_file({"weight": np.zeros(1, np.float32)}, run / "model.safetensors", {"sha256": "first"})
    write_random_agent(run / IN_RUN)
    about = json.loads((run / IN_RUN / ABOUT).read_text())
    describe(run / IN_RUN, training={**about["training"], "model": "first"})
    return run


def test_a_run_is_its_agent(run: Path):
    assert folder.is_run(run)
    assert folder.is_current(run)
    assert folder.find(run) == run / IN_RUN
    assert Agent.from_pretrained(run).name == "run"


def test_a_run_that_has_gone_on_is_to_be_exported(run: Path):
    save_file({"weight": np.ones(1, np.float32)}, run / "model.safetensors", {"sha256": "second"})
    assert not folder.is_current(run)
    assert refusal(run) == f"{run}: is a run whose selected model has not been exported yet; export it with: sestra export {run}"
    shutil.rmtree(run / IN_RUN)
    assert not folder.is_current(run)
    assert "export it with: sestra export" in refusal(run)


@pytest.mark.parametrize("training", [{}, {"model": None}, {"model": ["first"]}])
def test_an_agent_that_does_not_say_what_it_is_of_is_not_current(run: Path, training: dict[str, Any]):
    describe(run / IN_RUN, training=training)
    assert not folder.is_current(run)


@pytest.mark.parametrize("kind", ["missing", "damaged", "FIFO", "directory"])
def test_a_run_whose_model_cannot_be_read(run: Path, kind: str):
    (run / "model.safetensors").unlink()
    if kind == "damaged":
        (run / "model.safetensors").write_bytes(b"\x80\x04pickle")
    elif kind == "FIFO":
        os.mkfifo(run / "model.safetensors")
    elif kind == "directory":
        (run / "model.safetensors").mkdir()
    assert "model.safetensors" in refusal(run)


def test_a_run_whose_agent_is_damaged(run: Path):
    (run / IN_RUN / ABOUT).write_text("{")
    assert f"{IN_RUN}/{ABOUT}: is not JSON" in refusal(run)


# Several as one.


def test_joined_agents_have_the_networks_of_all(tmp_path: Path):
    places = [write_random_agent(tmp_path / str(seed), networks=count, seed=seed) for seed, count in ((1, 1), (5, 2))]
    folder.join(places, tmp_path / "both")
    joined, parts = folder.read(tmp_path / "both"), [folder.read(place) for place in places]
    assert joined.networks == (*parts[0].networks, *parts[1].networks)
    assert (joined.vocabulary, joined.about.world, joined.card) == (parts[0].vocabulary, "alchemy", "")
    assert joined.about.training["chosen"] == {"members": [{"seed": seed, "learner": "none", "epoch": 0} for seed in (1, 5)]}
    assert joined.about.training["parameters"] == 10
    again = write_random_agent(tmp_path / "9", seed=9)
    folder.join([tmp_path / "both", again], tmp_path / "three")
    assert [each["seed"] for each in folder.read(tmp_path / "three").about.training["chosen"]["members"]] == [1, 5, 9]
    Agent.from_pretrained(tmp_path / "three").follow(STATES["alchemy"], INSTRUCTIONS)


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("policy", {"training": {"config": {"policy": {"name": "other"}}, "data": None}}),
        ("training data", {"training": {"config": {"policy": {"name": "random"}}, "data": {"name": "other"}}}),
        ("policy", {"training": {"config": 5, "chosen": [], "parameters": "many"}}),
    ],
)
def test_agents_of_different_kinds_are_not_joined(tmp_path: Path, what: str, changes: dict[str, Any]):
    first, second = write_random_agent(tmp_path / "1"), write_random_agent(tmp_path / "2", seed=8)
    describe(second, **changes)
    said = refusal([first, second], lambda places: folder.join(places, tmp_path / "both"))
    assert said == f"{second}: has another {what} than {first}; join runs that share it"
    assert not (tmp_path / "both").exists()


def test_agents_of_different_worlds_or_words_are_not_joined(tmp_path: Path):
    first, second = write_random_agent(tmp_path / "1"), write_random_agent(tmp_path / "2", "scene")
    assert "has another world than" in refusal([first, second], lambda places: folder.join(places, tmp_path / "both"))
    contents = folder.read(first)
    folder.write(second, contents.about, Vocabulary(contents.vocabulary.words[1:]), contents.networks)
    assert "has another vocabulary than" in refusal([first, second], lambda places: folder.join(places, tmp_path / "both"))


def test_agents_that_say_little_of_themselves_are_joined(tmp_path: Path):
    """Nothing depends on how they were trained."""
    places = [write_random_agent(tmp_path / name) for name in "ab"]
    for place in places:
        describe(place, training={"config": None, "chosen": {"members": "nobody"}, "parameters": None})
    folder.join(places, tmp_path / "both")
    assert len(folder.read(tmp_path / "both").networks) == 2


def test_what_is_no_choice_to_join(tmp_path: Path):
    first, second = write_random_agent(tmp_path / "1"), write_random_agent(tmp_path / "2")

    def join(places: list[Path]) -> None:
        folder.join(places, tmp_path / "both")

    for places in ([], [first], [first, first], [first, tmp_path / "2" / ".." / "1"]):
        assert "expected two or more" in refusal(places, join)
    assert f"{tmp_path / 'none' / ABOUT}: cannot be read" in refusal([first, tmp_path / "none"], join)
    assert "is there already" in refusal([first, second], lambda places: folder.join(places, first))
    many = write_random_agent(tmp_path / "many", networks=MAX_NETWORKS)
    assert f"more than {MAX_NETWORKS} networks" in refusal([first, many], join)
    assert not (tmp_path / "both").exists()


def test_an_ensemble_of_one_network_twice_is_the_network(agent: Path, tmp_path: Path):
    contents = folder.read(agent)
    folder.write(tmp_path / "twice", replace(contents.about, files={}), contents.vocabulary, contents.networks * 2)
    one, two = (Agent.from_pretrained(place).follow(STATES["alchemy"], INSTRUCTIONS) for place in (agent, tmp_path / "twice"))
    assert [turn.actions for turn in one.turns] == [turn.actions for turn in two.turns]
    for first, second in zip(one.turns[0].steps, two.turns[0].steps, strict=True):
        assert first.probability == pytest.approx(second.probability, abs=1e-6)


def test_about_has_defaults_for_what_the_writer_fills_in():
    assert About("alchemy", 8, 0.1).format == folder.FORMAT
    assert random_agent().about.files.keys() == {*FILES} - {ABOUT}

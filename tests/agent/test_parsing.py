"""What an agent is made from and given: read back as it was written, or refused with a reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from agents import STATES, obedient_agent, random_agent, random_trained, write_random_agent
from lamps import Lamps

import sestra
from sestra import pretrained
from sestra.agent import Agent, Context
from sestra.agent.spelling import Speller
from sestra.data.synthetic import generate
from sestra.errors import InputError
from sestra.learning import checkpoint
from sestra.learning.run_folder import RunFolder, load_trained
from sestra.worlds import WORLDS

DARK = "1:_ 2:_ 3:_"


@pytest.fixture
def obedient(monkeypatch) -> Agent:
    monkeypatch.setitem(WORLDS._registered, "lamps", Lamps)
    return obedient_agent()


@pytest.mark.parametrize(
    ("state", "instructions", "message"),
    [
        ("1:g", ["x"], r"start state: .*7"),
        ("", ["x"], "start state"),
        ("1:x 2:_ 3:_ 4:_ 5:_ 6:_ 7:_", ["go"], r"start state: unknown colour 'x'"),
        ("1:" + "g" * 30000, ["go"], r"30,002 characters"),
        ("1:g " * 400 + "x", ["go"], r"start state: "),
        ("1:" + "g" * 1900, ["go"], r"start state: 1 objects"),
        ("1:" + "g" * 1900 + " 2:_ 3:_ 4:_ 5:_ 6:_ 7:_", ["go"], r"start state: 1900 units"),
        (None, ["go"], "start state: .*not text"),
        (STATES["alchemy"], ["throw it", ""], r"instruction 2: '' has no word"),
        (STATES["alchemy"], ["  \n"], r"instruction 1: .*no word"),
        (STATES["alchemy"], ["... !"], r"instruction 1: '\.\.\. !' has no word"),
        (STATES["alchemy"], ["p " * 500] * 3, r"1,500 words in all instructions together"),
        (STATES["alchemy"], ["p" * 1001], r"instruction 1: 1,001 characters"),
        (STATES["alchemy"], [3], r"instruction 1: .*3.* is not text"),
        (STATES["alchemy"], "throw it", r"one text; expected a list"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_done(state, instructions, message):
    with pytest.raises(InputError, match=message) as error:
        random_agent().follow(state, instructions)
    assert len(str(error.value)) < 400


def test_the_place_of_a_wrong_one_among_many(obedient):
    with pytest.raises(InputError, match="interaction 2: instruction 1: "):
        obedient.follow_many([(DARK, ["stop"]), (DARK, ["?"])])
    with pytest.raises(InputError, match="context 2: state 1: "):
        obedient.take_turns([Context((DARK,), ("stop",)), Context(("1:_",), ("stop",))])


@pytest.mark.parametrize(
    "context",
    [
        Context((), ()),
        Context((DARK,), ()),
        Context((DARK,), ("stop", "stop")),
        Context(DARK, "stop"),
        Context((DARK, "?"), ("stop", "stop")),
    ],
)
def test_contexts_that_make_no_sense(obedient, context):
    for use in (obedient.check, lambda context: obedient.take_turns([context])):
        with pytest.raises(InputError):
            use(context)


def test_a_context_that_grew_too_long(obedient):
    many = Context((DARK,) * 6, ("out1 " * 190,) * 6)
    with pytest.raises(InputError, match="1,140 words in all instructions together; expected at most 1,000; start a new interaction"):
        obedient.check(many)
    obedient.check(Context(many.states[:5], many.instructions[:5]))


def test_what_is_too_long_is_refused_before_it_is_spelt(obedient, monkeypatch):
    monkeypatch.setattr(Speller, "read", lambda *_: pytest.fail("it was spelt"))
    for instructions in (("ot1 " * 1001,), ("ot1 " * 200,) * 6, ("ot1", "?")):
        with pytest.raises(InputError):
            obedient.check(Context((DARK,) * len(instructions), instructions))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("how", "magic"), ("how", None), ("beam", 0), ("beam", 101), ("beam", 2.0), ("beam", True), ("horizon", 0), ("horizon", 1001)],
        *[("horizon", "5"), ("seed", -1), ("seed", 2**64), ("seed", 0.5)],
    ],
)
def test_ways_that_make_no_sense(obedient, name, value):
    for use in (lambda **way: obedient.follow(DARK, ["stop"], **way), lambda **way: obedient.start(DARK, **way)):
        with pytest.raises(InputError, match=f"{name}={value!r}"):
            use(**{name: value})


# Folders.


def test_folder(tmp_path):
    agent = Agent.from_pretrained(write_random_agent(tmp_path / "mine"))
    assert (agent.name, agent.world.name, agent.card) == ("mine", "alchemy", "# A card\n")
    assert agent.config == random_trained().config
    assert "mine" in repr(agent)


def test_what_is_saved_is_read_back_to_the_bit(tmp_path):
    first = Agent.from_pretrained(str(write_random_agent(tmp_path / "mine")))
    first.save_pretrained(tmp_path / "deep" / "copy")
    second = Agent.from_pretrained(tmp_path / "deep" / "copy")
    [interaction] = generate("alchemy", 1, seed=3)
    assert first.follow(STATES["alchemy"], interaction.instructions) == second.follow(STATES["alchemy"], interaction.instructions)
    for name in ("vocab.json", "CARD.md", "config.json"):
        assert (tmp_path / "mine" / name).read_bytes() == (tmp_path / "deep" / "copy" / name).read_bytes()
    (one, about), (other, about_other) = (checkpoint.load(tmp_path / name / "model.safetensors") for name in ("mine", "deep/copy"))
    assert about == about_other
    assert all(torch.equal(one[name], other[name]) for name in {*one, *other})


def test_an_agent_without_a_card_does_not_take_anothers(tmp_path):
    folder = write_random_agent(tmp_path / "mine")
    Agent(random_trained(), "other").save_pretrained(folder)
    assert Agent.from_pretrained(folder).card == ""


def test_a_run_is_not_overwritten(tmp_path):
    folder = write_random_agent(tmp_path / "run")
    (folder / "data.json").write_text("{}")
    before = (folder / "model.safetensors").read_bytes()
    with pytest.raises(InputError, match="is the folder of a run"):
        random_agent(seed=8).save_pretrained(folder)
    assert (folder / "model.safetensors").read_bytes() == before


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be made"):
        random_agent().save_pretrained(tmp_path / "file" / "agent")


@pytest.mark.parametrize("name", ["no-such-agent", "", ".", "../sestra", "\0"])
def test_unknown_names(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="neither the folder of a run"):
        Agent.from_pretrained(name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *[
            ("config.json", b"{"),
            ("config.json", b"\xff"),
            ("vocab.json", b"[1]"),
            ("vocab.json", b'["one"]'),
            ("CARD.md", b"\xff\xfe\xff"),
        ],
        *[("model.safetensors", b""), ("model.safetensors", b"\x80\x04pickle")],
    ],
)
def test_damaged_folders_are_refused(tmp_path, name, content):
    folder = write_random_agent(tmp_path / "mine")
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=name.replace("vocab.json", "(vocab|model)")):
        Agent.from_pretrained(folder)


def test_a_flipped_bit_is_noticed(tmp_path):
    folder = write_random_agent(tmp_path / "mine")
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-100] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="checksum"):
        Agent.from_pretrained(folder)


# The package.


def test_the_package_does_not_load_torch():
    code = (
        "import sys, sestra\n"
        "assert 'torch' not in sys.modules\n"
        "from sestra import Agent\n"
        "assert 'torch' in sys.modules and Agent is sestra.Agent and Agent.__module__ == 'sestra.agent.agent'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_has_nothing_else():
    assert sestra.Agent is Agent
    with pytest.raises(AttributeError, match="nothing"):
        _ = sestra.nothing


# Agents that ship with the package.


@pytest.mark.parametrize("name", pretrained.names())
def test_shipped_agents_follow_generated_instructions(name):
    agent = Agent.from_pretrained(name)
    assert agent.name == name
    assert agent.world.name in agent.card
    assert load_trained(RunFolder.find(name)).config == agent.config
    data = generate(agent.world.name, 20, seed=1)
    traces = agent.follow_many([(agent.world.format(each.states[0]), each.instructions) for each in data])
    turns = [turn for trace in traces for turn in trace.turns]
    assert sum(turn.stopped for turn in turns) > 0.8 * len(turns)
    assert sum(turn.end != turn.start for turn in turns) > 0.8 * len(turns)


def test_a_folder_does_not_stand_in_for_an_agent_that_ships(tmp_path, monkeypatch):
    Agent.from_pretrained("scene").save_pretrained(tmp_path / "alchemy")
    monkeypatch.chdir(tmp_path)
    assert Agent.from_pretrained("alchemy").world.name == "alchemy"
    assert Agent.from_pretrained("./alchemy").world.name == "scene"
    assert Agent.from_pretrained(Path("alchemy")).world.name == "scene"


def test_the_first_example():
    trace = Agent.from_pretrained("alchemy").follow(
        STATES["alchemy"], ["throw out first beaker", "pour the sixth beaker into the third one", "it turns brown"]
    )
    assert trace.turns[0].actions == ("pop 1",)
    assert trace.final_state == "1:_ 2:_ 3:bbb 4:_ 5:y 6:_ 7:_"


def test_what_ships():
    """Every world has the paper's agent and a best one, and all of it is small."""
    assert {*WORLDS.names(), *(f"{world}-sestra" for world in WORLDS.names())} <= {*pretrained.names()}
    assert sum(path.stat().st_size for path in pretrained.HERE.parent.rglob("*") if path.is_file()) < 30_000_000

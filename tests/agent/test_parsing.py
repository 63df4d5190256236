"""What an agent is given, understood or refused with a reason; what the package offers, and the agents that ship with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents import STATES, obedient_agent, random_agent
from commands import python
from lamps import Lamps

import sestra
from sestra import pretrained
from sestra.agent import Agent, Context
from sestra.agent.spelling import Speller
from sestra.data.synthetic import generate
from sestra.errors import InputError
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
        ("1:" + "g" * 150, ["go"], r"start state: 1 objects"),
        ("1:" + "g" * 150 + " 2:_ 3:_ 4:_ 5:_ 6:_ 7:_", ["go"], r"start state: 150 units"),
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


# The package.


def test_an_agent_is_used_without_torch():
    """Nor anything else that only training needs; and importing the package loads nothing at all."""
    code = f"""
import sys
import sestra
assert not {{"numpy", "onnxruntime"}} & set(sys.modules)
for name in ("torch", "onnx", "onnxscript", "filelock", "tensorboard"):
    sys.modules[name] = None  # an import of it fails
from sestra import Agent
assert Agent is sestra.Agent and Agent.__module__ == "sestra.agent.agent"
print(Agent.from_pretrained("alchemy").follow({STATES["alchemy"]!r}, ["throw out first beaker"]).turns[0].actions)
"""
    done = python(code)
    assert (done.returncode, done.stdout) == (0, "('pop 1',)\n"), done.stderr


def test_the_package_has_nothing_else():
    assert sestra.Agent is Agent
    with pytest.raises(AttributeError, match="nothing"):
        _ = sestra.nothing


# Agents that ship with the package.


@pytest.mark.parametrize("name", pretrained.names())
def test_shipped_agents_follow_generated_instructions(name):
    agent = Agent.from_pretrained(name)
    assert agent.name == name
    assert agent.about.world == agent.world.name
    assert agent.training.keys() >= {"learner", "seed", "chosen", "config", "parameters", "data"}
    data = generate(agent.world.name, 20, seed=1)
    traces = agent.follow_many([(agent.world.format(each.states[0]), each.instructions) for each in data], caution=0)
    turns = [turn for trace in traces for turn in trace.turns]
    assert sum(turn.stopped for turn in turns) > 0.8 * len(turns)
    assert sum(turn.end != turn.start for turn in turns) > 0.8 * len(turns)


@pytest.mark.parametrize("name", pretrained.names())
def test_shipped_agents_have_a_card(name):
    agent = Agent.from_pretrained(name)
    assert f"for the world *{agent.world.name}*" in " ".join(agent.card.split())


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

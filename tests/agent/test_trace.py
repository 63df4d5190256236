"""What a trace says of itself, as text, as JSON and as a picture."""

from __future__ import annotations

import json

import pytest

from sestra.agent.trace import Alternative, Attention, Step, Trace, Turn, Weight, Word
from sestra.errors import InputError

START, MIDDLE, END = "1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_", "1:gg 2:_ 3:_ 4:_ 5:_ 6:_ 7:_", "1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:_"
CURRENT = Attention("current", "words", ((Weight("ad", 0.25), Weight("green", 0.75)),))
STATE = Attention("state", "objects", ((Weight("1", 0.5), Weight("2", 0.5)), (Weight("1", 1.0), Weight("2", 0.0))))


def step(action: str, state: str) -> Step:
    return Step(action, 0.75, (Alternative("pop 2", 0.125), Alternative("stop", 0.0625)), (CURRENT, STATE), state)


FIRST = Turn(
    "Ad green",
    (Word("ad", "add", known=True), Word("green", "green", known=True)),
    START,
    MIDDLE,
    stopped=True,
    notes=("“ad” was read as “add”.",),
    steps=(step("push 1 g", MIDDLE), step("stop", MIDDLE)),
)
SECOND = Turn("empty it", (), MIDDLE, END, stopped=False, notes=(), steps=(step("pop 1", START), step("pop 1", END)))
TRACE = Trace("alchemy", START, (FIRST, SECOND))


def test_ends():
    assert TRACE.final_state == END
    assert Trace("alchemy", START).final_state == START


def test_actions_are_without_stop():
    assert FIRST.actions == ("push 1 g",)
    assert SECOND.actions == ("pop 1", "pop 1")


def test_json():
    value = TRACE.to_json()
    assert json.loads(json.dumps(value)) == value  # plain lists and dictionaries
    assert value == {"world": "alchemy", "start": START, "turns": [FIRST.to_json(), SECOND.to_json()], "final_state": END}
    described = {
        "action": "push 1 g",
        "probability": 0.75,
        "alternatives": [{"action": "pop 2", "probability": 0.125}, {"action": "stop", "probability": 0.0625}],
        "attention": [
            {"name": "current", "over": "words", "heads": [[{"label": "ad", "weight": 0.25}, {"label": "green", "weight": 0.75}]]},
            {
                "name": "state",
                "over": "objects",
                "heads": [
                    [{"label": "1", "weight": 0.5}, {"label": "2", "weight": 0.5}],
                    [{"label": "1", "weight": 1.0}, {"label": "2", "weight": 0.0}],
                ],
            },
        ],
        "state": MIDDLE,
    }
    assert value["turns"][0] == {
        "instruction": "Ad green",
        "words": [{"text": "ad", "read_as": "add", "known": True}, {"text": "green", "read_as": "green", "known": True}],
        "start": START,
        "end": MIDDLE,
        "stopped": True,
        "notes": ["“ad” was read as “add”."],
        "steps": [described, {**described, "action": "stop"}],
        "understood": True,
        "reason": None,
        "confidence": 1.0,
        "readings": [],
    }


def test_pictures(tmp_path):
    TRACE.draw(tmp_path / "out.svg")
    svg = (tmp_path / "out.svg").read_text()
    assert svg.startswith("<svg")
    assert all(text in svg for text in ("Ad green", "empty it"))
    TRACE.draw(str(tmp_path / "out.PNG"))
    assert (tmp_path / "out.PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["out.gif", "out", "none/out.svg", "none/out.png"])
def test_pictures_that_cannot_be_written(tmp_path, name):
    with pytest.raises(InputError, match=name):
        TRACE.draw(tmp_path / name)
    assert not list(tmp_path.iterdir())

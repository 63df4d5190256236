"""The HTTP interface: right answers, and every wrong request refused in the same way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import random_agent
from fastapi.testclient import TestClient
from refusals import GOOD, assert_refused

import sestra.serve
from sestra.agent.limits import MAX_INSTRUCTION_LENGTH, MAX_WORDS, max_state_length
from sestra.agent.trace import Turn
from sestra.data.synthetic import generate
from sestra.drawing import draw_strip_svg
from sestra.serve.schemas import MAX_BODY_BYTES, MAX_TURNS
from sestra.worlds import WORLDS, get_world

STATES = {
    "alchemy": "1:g 2:_ 3:p 4:_ 5:y 6:oo 7:_",
    "scene": "1:__ 2:rb 3:__ 4:__ 5:g_ 6:__ 7:__ 8:__ 9:__ 10:__",
    "tangrams": "1:0 2:1 3:2",
}
EARLIER = {"state": STATES["alchemy"], "instruction": "x"}
STATIC = Path(sestra.serve.__file__).parent / "static"


def bodies(world: str, instructions: list[str]) -> Iterator[tuple[dict[str, Any], Turn]]:
    """Each turn of an interaction as a request, and what the agent itself answers."""
    trace = random_agent(world).follow(STATES[world], instructions)
    for number, turn in enumerate(trace.turns):
        understood = [earlier for earlier in trace.turns[:number] if earlier.understood]
        history = [{"state": earlier.start, "instruction": earlier.instruction} for earlier in understood]
        yield {"world": world, "state": turn.start, "history": history, "instruction": turn.instruction}, turn


@pytest.mark.parametrize("world", WORLDS.names())
def test_following_is_what_the_agent_does(client: TestClient, world: str):
    for body, turn in bodies(world, ["do it", "take the yelow one awya", "zxqv!", "again"]):
        answer = client.post("/api/follow", json=body)
        assert answer.status_code == 200
        given, wanted = answer.json(), json.loads(json.dumps(turn.to_json()))
        for one, other in zip((given, *given["readings"]), (wanted, *wanted["readings"]), strict=True):
            number = "confidence" if "confidence" in one else "probability"
            assert one.pop(number) == pytest.approx(other.pop(number), abs=1e-5)
        for one, other in zip(given["steps"], wanted["steps"], strict=True):
            assert one.pop("probability") == pytest.approx(other.pop("probability"), abs=1e-5)
            for kind in ("alternatives", "attention"):  # almost equal numbers: the batch may differ
                assert len(one.pop(kind)) == len(other.pop(kind))
        assert given == wanted


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"world": "atlantis"}, "world"),
        ({"world": ""}, "world"),
        ({"world": None}, "world"),
        ({"world": "a" * 1000}, "world"),
        ({"state": "1:z 2:_ 3:p 4:_ 5:y 6:oo 7:_"}, "state"),
        ({"state": ""}, "state"),
        ({"state": 7}, "state"),
        ({"state": "1:ggggg 2:_ 3:_ 4:_ 5:_ 6:_ 7:_"}, "state"),
        ({"state": STATES["scene"]}, "state"),
        ({"state": "1" * (max_state_length(get_world("alchemy")) + 1)}, "state"),
        ({"instruction": ""}, "instruction"),
        ({"instruction": "   "}, "instruction"),
        ({"instruction": "a" * (MAX_INSTRUCTION_LENGTH + 1)}, "instruction"),
        ({"instruction": ["throw it out"]}, "instruction"),
        ({"instruction": "\ud800"}, "instruction"),
        ({"history": {}}, "history"),
        ({"history": [GOOD]}, "history.0.world"),
        ({"history": [{"state": "?", "instruction": "x"}]}, "history.0.state"),
        (
            {"history": [{"state": GOOD["state"], "instruction": "x"}, {"state": GOOD["state"], "instruction": " "}]},
            "history.1.instruction",
        ),
        ({"history": [EARLIER] * (MAX_TURNS + 1)}, "history"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_wrong_field_is_refused_with_its_place(client: TestClient, change: dict[str, Any], where: str):
    answer = client.post("/api/follow", content=json.dumps({**GOOD, **change}), headers={"Content-Type": "application/json"})
    problems = assert_refused(answer)["problems"]
    assert where in {problem["where"] for problem in problems}


@pytest.mark.parametrize("missing", ["world", "state", "instruction"])
def test_a_missing_field_is_refused(client: TestClient, missing: str):
    assert_refused(client.post("/api/follow", json={key: value for key, value in GOOD.items() if key != missing}))


@pytest.mark.parametrize(
    "content", [b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b"{" * 5000, b"[" * 100_000, b"1" * 5000, b'{"world": NaN}']
)
def test_a_body_that_is_no_object_is_refused(client: TestClient, content: bytes):
    answer = client.post("/api/follow", content=content, headers={"Content-Type": "application/json"})
    assert_refused(answer)


def test_a_body_of_another_type_is_refused(client: TestClient):
    assert_refused(client.post("/api/follow", content=json.dumps(GOOD), headers={"Content-Type": "text/plain"}))


def test_messages_say_how_long_is_too_long(client: TestClient):
    reason = assert_refused(client.post("/api/follow", json={**GOOD, "instruction": "a" * 10_000}))["reason"]
    assert reason == "instruction: 10,000 characters; expected at most 1,000; write less"


def test_large_bodies_are_counted_not_believed(client: TestClient):
    def chunks() -> Iterator[bytes]:
        for _ in range(1 + MAX_BODY_BYTES // 1024):
            yield b" " * 1024

    assert_refused(client.post("/api/follow", content=b" " * (MAX_BODY_BYTES + 1)), 413)
    assert_refused(client.post("/api/follow", content=chunks()), 413)
    assert_refused(client.post("/healthz", content=chunks()), 413)


def test_other_refusals_have_the_same_shape(client: TestClient):
    assert_refused(client.get("/nowhere"), 404)
    assert_refused(client.get("/../app.py"), 404)
    assert_refused(client.get("/api/follow"), 405)
    assert_refused(client.delete("/healthz"), 405)
    assert_refused(client.get("/api/examples"))
    assert_refused(client.get("/api/examples?world=alchemy&count=1000"))
    assert_refused(client.get("/api/examples?world=alchemy&seed=-1"))
    assert_refused(client.get("/api/suggestions?world=alchemy&state=x"))
    assert_refused(client.get("/api/drawing?world=x"))
    assert_refused(client.post("/api/picture", json={"world": "alchemy", "frames": []}))
    assert_refused(client.post("/api/picture", json={"world": "alchemy", "frames": [{"caption": "", "state": "x"}]}))


def test_what_there_is(client: TestClient):
    assert client.get("/healthz").json()["worlds"] == WORLDS.names()
    offered = client.get("/api/worlds").json()
    assert [world["name"] for world in offered["worlds"]] == WORLDS.names()
    for world in offered["worlds"]:
        assert set(world["actions"]) == {str(action) for action in get_world(world["name"]).actions}
        assert all("{" not in words and "  " not in words for words in world["actions"].values())
        assert len(set(world["actions"].values())) == len(world["actions"])
    limits = {
        "instruction": MAX_INSTRUCTION_LENGTH,
        "state": max(max_state_length(get_world(name)) for name in WORLDS.names()),
        "history": MAX_TURNS,
        "words": MAX_WORDS,
        "body": MAX_BODY_BYTES,
    }
    assert offered["limits"] == limits


@pytest.mark.parametrize("world", WORLDS.names())
def test_examples_and_suggestions_are_of_the_world(client: TestClient, world: str):
    examples = client.get("/api/examples", params={"world": world}).json()["examples"]
    assert len(examples) == 6
    generated = client.get("/api/examples", params={"world": world, "seed": 3, "count": 2}).json()["examples"]
    assert generated == client.get("/api/examples", params={"world": world, "seed": 3, "count": 2}).json()["examples"]
    for example in examples + generated:
        get_world(world).parse(example["state"])
        assert example["instructions"]
        parameters = {"world": world, "state": example["state"], "spoken": True}
        suggestions = client.get("/api/suggestions", params=parameters).json()["suggestions"]
        assert 1 <= len(suggestions) == len(set(suggestions)) <= 4
        assert suggestions == client.get("/api/suggestions", params=parameters).json()["suggestions"]


@pytest.mark.parametrize("world", WORLDS.names())
def test_every_state_has_suggestions_or_none(client: TestClient, world: str):
    """A state that was edited by hand may be one that the grammar never meets."""
    contents, slots = get_world(world).contents, get_world(world).slots
    for seed in range(60):
        state = tuple(contents[(7919 * seed + 31 * slot * seed) % len(contents)] for slot in range(slots))
        parameters = {"world": world, "state": get_world(world).format(state), "seed": seed}
        assert client.get("/api/suggestions", params=parameters).status_code == 200


@pytest.mark.parametrize("world", WORLDS.names())
def test_pictures_are_the_package_s_own(client: TestClient, world: str):
    [interaction] = generate(world, 1, seed=1)
    states = [get_world(world).format(state) for state in interaction.states if state is not None]
    frames = [{"caption": f"<b>{n}</b>", "state": state} for n, state in enumerate(states)]
    answer = client.post("/api/picture", json={"world": world, "frames": frames})
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.text == draw_strip_svg(get_world(world), [(frame["caption"], get_world(world).parse(frame["state"])) for frame in frames])


def test_everything_is_sent_with_strict_headers(client: TestClient):
    for answer in (client.get("/"), client.get("/main.js"), client.get("/healthz"), client.get("/nowhere"), client.post("/api/follow")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers


def test_pictures_come_from_the_server_alone(client: TestClient):
    """A download of a blob is no picture; should the page ever show one, its policy must allow it."""
    shown = any(
        sign in path.read_text(encoding="utf-8") for path in STATIC.glob("*.js") for sign in ("new Image", 'make("img"', 'makeSvg("image"')
    )
    assert ("blob:" in client.get("/").headers["content-security-policy"]) <= shown


def test_the_page_needs_nothing_from_elsewhere_and_nothing_inline():
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        for forbidden in ("http:", "https:", "//cdn", "innerHTML", "outerHTML", "document.write", "eval(", " style=", "<style", "@import"):
            assert forbidden not in text, (path.name, forbidden)
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1
    assert " onclick" not in page


def test_the_interface_is_described(client: TestClient):
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {
        "/api/follow", "/api/worlds", "/api/examples", "/api/suggestions", "/api/drawing", "/api/frames", "/api/edit", "/api/picture",
        "/healthz", "/readyz", "/metrics",
    }  # fmt: skip
    assert described["paths"]["/api/follow"]["post"]["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith(
        "Refusal"
    )

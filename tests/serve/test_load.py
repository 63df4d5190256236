"""Much at once: what is too much is refused, and what nobody waits for is not computed."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest
from agents import random_agent
from fastapi import FastAPI
from fastapi.testclient import TestClient
from loops import run_alone
from refusals import GOOD, assert_refused

from sestra.agent import Agent
from sestra.agent.spelling import Speller
from sestra.agent.trace import Context, Turn
from sestra.data.synthetic import generate
from sestra.serve.app import create_app
from sestra.serve.batching import MAX_PADDED, Batcher
from sestra.worlds import get_world


class Gate:
    """In an agent's place: it answers when it may."""

    def __init__(self, take_turns: Any) -> None:
        self._take_turns, self._opened = take_turns, threading.Event()
        self.open = self._opened.set

    def __get__(self, agent: Agent, _kind: type) -> Any:
        return partial(self._answer, agent)

    def _answer(self, agent: Agent, contexts: list[Context], **options: Any) -> Any:
        self._opened.wait(10)
        return self._take_turns(agent, contexts, **options)


async def together(app: FastAPI, count: int, then: Callable[[], None]) -> list[httpx.Response]:
    """The answers to requests of which the first is being answered when the others come, and after which something is done."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        asking = []
        for _ in range(count):
            asking.append(asyncio.create_task(client.post("/api/follow", json=GOOD)))
            await asyncio.sleep(0.1)
        then()
        return await asyncio.gather(*asking)


def test_an_interaction_of_too_many_words_is_refused_before_it_is_read(client: TestClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Speller, "read", lambda *_: pytest.fail("it was read"))
    monkeypatch.setattr(Agent, "take_turns", lambda *_, **__: pytest.fail("it was followed"))
    history = [{"state": GOOD["state"], "instruction": "por " * 200}] * 5
    [problem] = assert_refused(client.post("/api/follow", json={**GOOD, "history": history}))["problems"]
    assert problem["where"] == "history"
    assert problem["reason"].endswith("words in all instructions together; expected at most 1,000; start a new interaction")


def test_the_longest_interaction_is_answered(client: TestClient):
    history = [{"state": GOOD["state"], "instruction": "por " * 249}] * 4
    answer = client.post("/api/follow", json={**GOOD, "history": history})
    assert answer.status_code == 200
    assert len(answer.content) < 8_000_000


def test_a_text_is_spelt_once_and_not_in_the_event_loop(monkeypatch: pytest.MonkeyPatch):
    read: list[tuple[str, str]] = []
    spell = Speller.read

    def noted(self: Speller, instruction: str) -> Any:
        read.append((instruction, threading.current_thread().name.split("_")[0]))
        return spell(self, instruction)

    monkeypatch.setattr(Speller, "read", noted)
    history = [{"state": GOOD["state"], "instruction": "one"}]
    answer = TestClient(create_app([random_agent("alchemy")])).post("/api/follow", json={**GOOD, "history": history})
    assert answer.status_code == 200
    assert read == [("one", "model"), (GOOD["instruction"], "model")]


def test_long_interactions_are_followed_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch):
    agent, sizes = random_agent("tangrams"), []
    take_turns, gate = Agent.take_turns, threading.Event()

    def counted(self: Agent, contexts: list[Context], **options: Any) -> list[Turn]:
        gate.wait(5)
        sizes.append(len(contexts))
        return take_turns(self, contexts[:1], **options) * len(contexts)

    monkeypatch.setattr(Agent, "take_turns", counted)
    body = {"world": "tangrams", "state": "1:0", "history": [], "instruction": "a " * 450}

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(create_app([agent]))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            asking = [asyncio.create_task(client.post("/api/follow", json=body)) for _ in range(20)]
            await asyncio.sleep(0.5)
            gate.set()
            return await asyncio.gather(*asking)

    assert {answer.status_code for answer in run_alone(ask())} == {200}
    assert max(sizes) * 450 <= MAX_PADDED


def test_too_many_at_once_are_told_to_come_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sestra.serve.app.Batcher", partial(Batcher, waiting=2))
    monkeypatch.setattr(Agent, "take_turns", slowly := Gate(Agent.take_turns))
    answers = run_alone(together(create_app([random_agent("alchemy")]), 6, slowly.open))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 429, 429, 429]
    for answer in answers:
        if answer.status_code == 429:
            assert_refused(answer, 429)
            assert answer.headers["retry-after"] == "1"


def test_while_it_stops_whoever_waits_or_asks_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Agent, "take_turns", slowly := Gate(Agent.take_turns))
    app = create_app([random_agent("alchemy")])
    answers = run_alone(together(app, 3, app.state.batcher.close))
    slowly.open()
    for answer in [*answers, TestClient(app).post("/api/follow", json=GOOD)]:
        assert "is stopping" in assert_refused(answer, 503)["reason"]
        assert answer.headers["retry-after"] == "5"


def test_the_application_can_be_started_again():
    app = create_app([random_agent("alchemy")])
    for _ in range(2):
        with TestClient(app) as client:
            assert client.post("/api/follow", json=GOOD).status_code == 200


def test_nothing_is_computed_for_those_who_left(monkeypatch: pytest.MonkeyPatch):
    followed: list[str] = []

    def noted(_self: Agent, contexts: list[Context], **options: Any) -> list[Turn]:
        followed.extend(context.instructions[-1] for context in contexts)
        return take_turns(_self, contexts, **options)

    take_turns = Agent.take_turns
    monkeypatch.setattr(Agent, "take_turns", slowly := Gate(noted))
    app = create_app([random_agent("alchemy")])

    async def leave() -> list[int]:
        left, statuses = asyncio.Event(), []

        async def ask(instruction: str, *, stays: bool) -> None:
            messages = iter([{"type": "http.request", "body": json.dumps({**GOOD, "instruction": instruction}).encode()}])

            async def receive() -> Any:
                if (message := next(messages, None)) is None:
                    await (asyncio.Event() if stays else left).wait()
                    return {"type": "http.disconnect"}
                return message

            async def send(message: Any) -> None:
                if stays:
                    statuses.append(message.get("status", 0))

            headers = [(b"content-type", b"application/json")]
            scope = {
                "type": "http",
                "method": "POST",
                "path": "/api/follow",
                "headers": headers,
                "query_string": b"",
                "http_version": "1.1",
            }
            await app(scope, receive, send)

        first = asyncio.create_task(ask("first", stays=True))
        await asyncio.sleep(0.1)
        second, third = asyncio.create_task(ask("second", stays=False)), asyncio.create_task(ask("third", stays=True))
        await asyncio.sleep(0.1)
        left.set()
        async with asyncio.timeout(5):
            await second
        slowly.open()
        await asyncio.gather(first, third)
        return statuses

    assert run_alone(leave()) == [200, 0, 200, 0]
    assert followed == ["first", "third"]


def test_many_at_once_go_together_and_each_gets_its_own_answer(monkeypatch: pytest.MonkeyPatch):
    agent, sizes = random_agent("alchemy"), []
    take_turns = type(agent).take_turns

    def counted(self: Any, contexts: list[Context], **options: Any) -> list[Turn]:
        sizes.append(len(contexts))
        return take_turns(self, contexts, **options)

    monkeypatch.setattr(type(agent), "take_turns", counted)
    [*asked] = [
        ({"world": "alchemy", "state": state, "history": [], "instruction": instruction}, agent.follow(state, [instruction]).final_state)
        for interaction in generate("alchemy", 20, seed=5)
        for state in [get_world("alchemy").format(interaction.states[0])]
        for instruction in interaction.instructions
    ]

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(create_app([agent], per_client=200))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            bad = {**GOOD, "instruction": " "}
            return await asyncio.gather(*(client.post("/api/follow", json=body) for body, _ in [*asked, (bad, "")]))

    *answers, refused = run_alone(ask())
    assert [answer.json()["end"] for answer in answers] == [end for _, end in asked]
    assert_refused(refused)
    assert sum(sizes) == len(asked) == 100
    assert len(sizes) < 20
    assert max(sizes) <= 64

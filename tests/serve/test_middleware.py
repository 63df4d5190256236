"""What reaches the application, and what does not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from itertools import count
from typing import Any

import pytest
from agents import random_agent
from fastapi import FastAPI
from fastapi.testclient import TestClient
from loops import run_alone
from refusals import assert_refused

from sestra.serve.app import create_app
from sestra.serve.middleware import HEADERS, Guard
from sestra.serve.schemas import MAX_BODY_BYTES


def ask(app: Any, messages: Iterable[dict[str, Any]], *, forever: bool = False) -> list[dict[str, Any]]:
    """What is sent to a client that sends these messages and then leaves, or for ever says no more."""
    sent, left = [], iter(messages)

    async def receive() -> dict[str, Any]:
        if (message := next(left, None)) is None:
            await asyncio.sleep(60 if forever else 0)
            return {"type": "http.disconnect"}
        return message

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/follow", "headers": [], "query_string": b"", "http_version": "1.1"}
    run_alone(app(scope, receive, send))
    return sent


def test_a_body_that_does_not_come_is_not_waited_for(app: FastAPI, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sestra.serve.middleware.PATIENCE", 0.1)
    start, body = ask(app, [{"type": "http.request", "body": b"{", "more_body": True}], forever=True)
    assert start["status"] == 408
    headers = dict(start["headers"])
    assert headers[b"connection"] == b"close"
    assert b"content-security-policy" in headers
    assert json.loads(body["body"])["problems"] == [{"where": "body", "reason": "did not arrive within 0.1 seconds; send it again"}]


def test_a_body_is_not_read_further_than_the_limit(app: FastAPI):
    read = count()
    start, _ = ask(app, ({"type": "http.request", "body": b" " * 65536, "more_body": True} for _ in read))
    assert start["status"] == 413
    assert next(read) <= MAX_BODY_BYTES // 65536 + 1


def test_half_a_body_is_not_passed_on():
    async def reached(*_: Any) -> None:
        pytest.fail("the application was asked")

    assert ask(Guard(reached), [{"type": "http.request", "body": b"{}", "more_body": True}]) == []


def test_a_failure_after_the_answer_began_is_not_answered_again():
    async def breaks(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        ask(Guard(breaks), [{"type": "http.request", "body": b""}])


def test_a_failure_is_answered_with_all_headers():
    app = create_app([])

    @app.get("/broken/now")
    async def broken() -> None:
        raise ArithmeticError("secret")

    answer = TestClient(app).get("/broken/now")
    assert "secret" not in assert_refused(answer, 500)["reason"]
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:8000", "[::1]", "[::1]:8000", "localhost:"])
def test_its_own_names_are_answered_to(host: str):
    client = TestClient(create_app([random_agent("tangrams")], {"localhost", "127.0.0.1", "[::1]"}))
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil", "", ":80", "[::2]"])
def test_other_names_are_not(host: str):
    client = TestClient(create_app([random_agent("tangrams")], {"localhost", "127.0.0.1", "[::1]"}))
    for path in ("/", "/healthz", "/openapi.json"):
        answer = client.get(path, headers={"Host": host})
        assert_refused(answer, 421)
        assert "content-security-policy" in answer.headers

"""Who is answered: the key, the number of requests and connections of a client, and what is counted."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from agents import random_agent
from fastapi.testclient import TestClient
from loops import run_alone
from refusals import GOOD, assert_refused

from sestra.serve import connections
from sestra.serve.app import STATIC, create_app
from sestra.serve.connections import Connection, OpenConnections
from sestra.serve.metrics import Metrics

KEY = "0123456789abcdef"


@pytest.fixture
def locked() -> TestClient:
    return TestClient(create_app([random_agent("alchemy")], api_key=KEY))


@pytest.mark.parametrize("given", [None, "", "Bearer", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", f"bearer {KEY}", KEY, "Bearer \xe9"])
def test_without_the_key_there_is_no_answer(locked: TestClient, given: str | None):
    headers = {} if given is None else {"Authorization": given.encode("latin-1")}
    for path in ("/api/worlds", "/metrics", "/openapi.json", "/nowhere", "/api/suggestions?world=alchemy&state=x", "/healthz/", "/HEALTHZ"):
        answer = locked.get(path, headers=headers)
        assert_refused(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer"
    assert_refused(locked.post("/api/follow", json=GOOD, headers=headers), 401)


def test_with_the_key_there_is(locked: TestClient):
    answer = locked.post("/api/follow", json=GOOD, headers={"Authorization": f"Bearer {KEY}"})
    assert answer.status_code == 200


def test_the_page_and_probes_need_no_key(locked: TestClient):
    for path in ("/", "/healthz", "/readyz", *(f"/{file.name}" for file in STATIC.iterdir())):
        assert locked.get(path).status_code == 200


def test_nothing_is_redirected():
    client = TestClient(create_app([random_agent("alchemy")]), follow_redirects=False)
    for path in ("/healthz/", "/api/worlds/", "/api/follow/", "/main.js/"):
        assert client.get(path, headers={"Host": "evil.example"}).status_code == 404


def test_a_client_with_many_requests_is_told_to_wait_and_others_are_answered():
    app = create_app([random_agent("alchemy")], per_client=3)

    async def ask() -> list[list[httpx.Response]]:
        async def of(address: str, count: int) -> list[httpx.Response]:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app, client=(address, 1)), base_url="http://test") as client:
                return await asyncio.gather(*(client.post("/api/follow", json=GOOD) for _ in range(count)))

        return await asyncio.gather(of("192.0.2.1", 10), of("192.0.2.2", 3), of("2001:db8::1", 2), of("2001:db8::2", 2))

    greedy, other, *network = run_alone(ask())
    assert sorted(answer.status_code for answer in greedy) == [200] * 3 + [429] * 7
    assert {answer.headers["retry-after"] for answer in greedy if answer.status_code == 429} == {"1"}
    assert [answer.status_code for answer in other] == [200] * 3
    assert sorted(answer.status_code for answers in network for answer in answers) == [200, 200, 200, 429]
    assert app.state.admission.metrics.in_flight == 0


class Transport:
    """In a connection's place."""

    def __init__(self, address: str) -> None:
        self.address, self.written, self.closed = address, b"", False

    def get_extra_info(self, name: str) -> Any:
        return (self.address, 1) if name == "peername" else None

    def write(self, data: bytes) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading
    abort = close


HEAD = b"POST /api/follow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def connect(counted: OpenConnections, address: str, app: Any) -> tuple[Any, Transport]:
    import uvicorn
    from uvicorn.server import ServerState

    config = uvicorn.Config(app, ws="none")
    config.load()
    transport = Transport(address)
    connection: Any = Connection(counted=counted, config=config, server_state=ServerState(), app_state={})
    connection.connection_made(transport)
    return connection, transport


def test_connections_that_are_too_many_get_503_and_are_not_cut(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 4)
    monkeypatch.setattr(connections, "MAX_PER_CLIENT", 2)

    async def statuses() -> list[bytes]:
        app, metrics = create_app([random_agent("alchemy")]), Metrics()
        counted = OpenConnections(metrics, proxies={"192.0.2.9"})
        opened = [connect(counted, f"192.0.2.{number}", app) for number in (1, 1, 1, 2, 2, 9)]
        for connection, _ in opened:
            connection.data_received(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.data_received(b"GET /api/worlds HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.sleep(0.5)
        assert metrics.connections == 6
        for connection, _ in opened:
            connection.connection_lost(None)
        assert metrics.connections == 0
        again, transport = connect(counted, "192.0.2.1", app)
        again.data_received(b"GET /api/worlds HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.sleep(0.2)
        written = [each.written.rpartition(b"HTTP/1.1 ")[2] for _, each in opened] + [transport.written.rpartition(b"HTTP/1.1 ")[2]]
        assert all((b"retry-after: 1\r\n" in answer) == answer.startswith(b"503") for answer in written)
        return [answer[:3] for answer in written]

    assert run_alone(statuses()) == [b"200", b"200", b"503", b"200", b"503", b"503", b"200"]


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nX: ", b"GET /"])
def test_a_head_is_not_read_further_than_the_limit(sent: bytes):
    async def closed() -> tuple[bytes, bool]:
        connection, transport = connect(OpenConnections(Metrics()), "192.0.2.1", create_app([]))
        connection.data_received(sent)
        for _ in range(connections.MAX_HEAD_LENGTH // 1024):
            assert not transport.closed
            connection.data_received(b"x" * 1024)
        return transport.written, transport.closed

    written, is_closed = run_alone(closed())
    assert written.startswith(b"HTTP/1.1 400 ")
    assert is_closed


def test_workers_count_together():
    metrics = Metrics(workers=3)
    for worker in (0, 1, 2):
        metrics.use(worker)
        metrics.count_response(200)
        metrics.count_response(418)
        metrics.count_batch(5)
        metrics.count_followed(0.003 * 10**worker)
        metrics.connections += 2
    metrics.use(1)  # a worker that replaces the second one
    assert metrics.connections == 0
    found = dict(line.rsplit(" ", 1) for line in metrics.text().splitlines() if not line.startswith("#"))
    assert found['sestra_responses_total{status="200"}'] == "3"
    assert found['sestra_responses_total{status="other"}'] == "3"
    assert found["sestra_batches_total"] == "3"
    assert found["sestra_batched_instructions_total"] == "15"
    assert found["sestra_connections"] == "4"
    assert found['sestra_follow_seconds_bucket{le="0.005"}'] == "1"
    assert found['sestra_follow_seconds_bucket{le="0.05"}'] == "2"
    assert found['sestra_follow_seconds_bucket{le="+Inf"}'] == found["sestra_follow_seconds_count"] == "3"
    assert float(found["sestra_follow_seconds_sum"]) == pytest.approx(0.333)


def test_what_is_counted_is_shown():
    client = TestClient(create_app([random_agent("alchemy")]))
    assert client.post("/api/follow", json=GOOD).status_code == 200
    assert client.post("/api/follow", json={}).status_code == 422
    shown = client.get("/metrics")
    assert shown.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'sestra_responses_total{status="200"} 1\n' in shown.text
    assert 'sestra_responses_total{status="422"} 1\n' in shown.text
    assert "sestra_follow_seconds_count 1\n" in shown.text
    assert "sestra_batched_instructions_total 1\n" in shown.text
    assert "sestra_requests_in_flight 1\n" in shown.text  # this one

"""The end of the server: no connection is closed while a request on it, or one that is on its way, has no response."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest
import uvicorn
from loops import run_alone

from sestra.serve import server
from sestra.serve.admission import Admission
from sestra.serve.connections import OpenConnections


class Ending:
    """A server that stops, and what it does when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.admission, self.closed_batcher, self.closed, self.in_flight_then = Admission(), 0.0, 0.0, -1
        state = SimpleNamespace(admission=self.admission, batcher=SimpleNamespace(close=self._close_batcher))
        config = SimpleNamespace(app=SimpleNamespace(state=state))
        monkeypatch.setattr(uvicorn.Server, "__init__", lambda each, config: each.__dict__.update(config=config, force_exit=False))
        monkeypatch.setattr(uvicorn.Server, "shutdown", self._close_connections)
        self.server = server.Server(config, "", OpenConnections(self.admission.metrics))
        self.server.server_state = SimpleNamespace(total_requests=0)

    def _close_batcher(self) -> None:
        self.closed_batcher = time.monotonic()

    async def _close_connections(self, *_: object) -> None:
        self.closed, self.in_flight_then = time.monotonic(), self.admission.metrics.in_flight


def test_a_request_that_comes_right_after_the_last_answer_is_refused_before_connections_are_closed(monkeypatch):
    """As from clients that ask again as soon as they have their answers."""
    ending = Ending(monkeypatch)
    metrics = ending.admission.metrics

    async def load() -> float:
        metrics.in_flight = 1
        await asyncio.sleep(server.LINGER + 0.2)
        metrics.in_flight = 0
        await asyncio.sleep(server.LINGER / 2)
        metrics.in_flight = 1
        await asyncio.sleep(0.2)
        metrics.in_flight = 0
        return time.monotonic()

    async def both() -> float:
        _, done = await asyncio.gather(ending.server.shutdown(), load())
        return done

    done = run_alone(both())
    assert ending.in_flight_then == 0
    assert ending.closed >= done


def test_refusals_that_take_a_while_are_waited_for(monkeypatch):
    """As on a machine that is busy with other things."""
    monkeypatch.setattr(server, "GRACE", 0.3)
    ending = Ending(monkeypatch)
    metrics = ending.admission.metrics
    metrics.in_flight = 3

    async def refuse() -> None:
        while not ending.closed_batcher:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        metrics.in_flight = 0

    async def both() -> None:
        await asyncio.gather(ending.server.shutdown(), refuse())

    run_alone(both())
    assert ending.in_flight_then == 0


def test_it_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(server, "GRACE", 0.2)
    monkeypatch.setattr(server, "REFUSING", 0.2)
    ending = Ending(monkeypatch)
    ending.admission.metrics.in_flight = 1
    run_alone(asyncio.wait_for(ending.server.shutdown(), 5))
    assert ending.in_flight_then == 1

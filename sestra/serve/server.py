"""Run the application on a socket until a signal ends it."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import time
from collections.abc import Collection
from typing import Any

import uvicorn
from fastapi import FastAPI

from sestra.serve.batching import Batcher

MAX_CONNECTIONS = 512
"""Beyond this uvicorn answers 503; beyond half of it the connections that have been idle longest are closed."""
IDLE_TIMEOUT = 10
"""Seconds for the head of a request to arrive; uvicorn itself would wait forever."""
KEEP_ALIVE = 5
"""Seconds that a connection stays open between two requests."""
MAX_HEAD_LENGTH = 16 * 1024
"""Bytes of a request's line and headers."""
GRACE = 1
"""Seconds for the last responses, once the server is to stop."""


def run(app: FastAPI, listening: socket.socket, greeting: str) -> None:
    """Serve until SIGINT or SIGTERM; requests that still wait then get 503."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=2 * GRACE,
        h11_max_incomplete_event_size=MAX_HEAD_LENGTH,
    )
    server = Server(config, greeting, app.state.batcher)

    def stop(*_: Any) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}  # uvicorn raises them again at its end
    try:
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Server(uvicorn.Server):
    """Uvicorn's server, which also prints a greeting, closes idle connections, and stops in time."""

    def __init__(self, config: uvicorn.Config, greeting: str, batcher: Batcher) -> None:
        super().__init__(config)
        self._greeting, self._batcher = greeting, batcher
        self._idle: dict[Any, tuple[float, Any]] = {}

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stdout.write(self._greeting)
        sys.stdout.flush()

    async def on_tick(self, counter: int) -> bool:
        self._idle = idle_connections(self.server_state.connections, self._idle, time.monotonic())
        for connection in overdue(self._idle, len(self.server_state.connections), time.monotonic()):
            connection.transport.abort()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._batcher.close()
        asyncio.get_running_loop().call_later(GRACE, self._hang_up)
        await super().shutdown(sockets)

    def _hang_up(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def idle_connections(connections: Collection[Any], before: dict[Any, tuple[float, Any]], now: float) -> dict[Any, tuple[float, Any]]:
    """The connections without a running request: since when, and their last request, which shows later whether there was another."""
    found = {}
    for connection in connections:
        cycle = connection.cycle  # uvicorn's name for a request and its response
        if cycle is None or cycle.response_complete:
            since, last = before.get(connection, (now, cycle))
            found[connection] = (since if last is cycle else now, cycle)
    return found


def overdue(idle: dict[Any, tuple[float, Any]], connections: int, now: float) -> list[Any]:
    """The connections to close: idle for too long, or idle longest where there are too many."""
    longest_first = sorted(idle, key=lambda connection: idle[connection][0])
    excess = max(0, connections - MAX_CONNECTIONS // 2)
    return [each for place, each in enumerate(longest_first) if place < excess or now - idle[each][0] > IDLE_TIMEOUT]

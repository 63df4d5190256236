"""The application on a socket, until a signal ends it."""

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

MOST_CONNECTIONS = 512
"""Beyond this uvicorn answers 503; beyond half of it those that have been silent longest are closed."""
PATIENCE = 10
"""Seconds for a request's head to arrive, which uvicorn itself would wait for without end."""
KEPT_ALIVE = 5
"""Seconds that a connection stays open between two requests."""
LONGEST_HEAD = 16 * 1024
"""Bytes of a request's line and headers."""
GRACE = 1
"""Seconds to send the last answers in, once the server is to stop."""


def run(app: FastAPI, listening: socket.socket, greeting: str) -> None:
    """Serve until SIGINT or SIGTERM; whoever still waits then is told that the server stops."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEPT_ALIVE,
        timeout_graceful_shutdown=2 * GRACE,
        h11_max_incomplete_event_size=LONGEST_HEAD,
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
    """Uvicorn's, which greets, does not wait for those who say nothing, and stops in time."""

    def __init__(self, config: uvicorn.Config, greeting: str, batcher: Batcher[Any, Any]) -> None:
        super().__init__(config)
        self._greeting, self._batcher = greeting, batcher
        self._silent: dict[Any, tuple[float, Any]] = {}

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stdout.write(self._greeting)
        sys.stdout.flush()

    async def on_tick(self, counter: int) -> bool:
        self._silent = silences(self.server_state.connections, self._silent, time.monotonic())
        for connection in overdue(self._silent, len(self.server_state.connections), time.monotonic()):
            connection.transport.abort()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._batcher.close()
        asyncio.get_running_loop().call_later(GRACE, self._hang_up)
        await super().shutdown(sockets)

    def _hang_up(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def silences(connections: Collection[Any], before: dict[Any, tuple[float, Any]], now: float) -> dict[Any, tuple[float, Any]]:
    """Of connections with no request under way: since when, and the last request, by which a later look knows whether there was another."""
    found = {}
    for connection in connections:
        cycle = connection.cycle
        if cycle is None or cycle.response_complete:
            since, last = before.get(connection, (now, cycle))
            found[connection] = (since if last is cycle else now, cycle)
    return found


def overdue(silent: dict[Any, tuple[float, Any]], connections: int, now: float) -> list[Any]:
    """Those that have been silent for too long, or longest where there are too many connections."""
    longest_first = sorted(silent, key=lambda connection: silent[connection][0])
    excess = max(0, connections - MOST_CONNECTIONS // 2)
    return [each for place, each in enumerate(longest_first) if place < excess or now - silent[each][0] > PATIENCE]

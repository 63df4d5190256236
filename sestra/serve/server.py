"""Run the application on a socket until a signal ends it."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import time
from collections.abc import Collection
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI

from sestra.serve.connections import Connection, OpenConnections

KEEP_ALIVE = 5
"""Seconds that a connection stays open between two requests."""
GRACE = 6
"""Seconds for the requests that are under way when the server is to stop; what is not answered then gets 503."""
LINGER = 0.5
"""Seconds without anything new after which connections are closed: requests that were already on their way get a response before."""
REFUSING = 2
"""Seconds in which what was not answered, and what clients send anew after their last answers, is refused with a response."""
LAST_RESPONSES = 1
"""Seconds for clients to read the last responses; then their connections are closed."""


def run(app: FastAPI, listening: socket.socket, greeting: str, proxies: Collection[str] = ()) -> None:
    """Serve until SIGINT or SIGTERM, then answer what is under way; ``proxies`` are addresses whose ``X-Forwarded-For`` is believed."""
    counted = OpenConnections(app.state.admission.metrics, proxies)
    protocol: Any = partial(Connection, counted=counted)
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="on",
        log_level="error",  # what clients do wrong is no reason to fill the log
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=2 * LAST_RESPONSES,
    )
    server = Server(config, greeting, counted)

    def stop(*_: Any) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}  # uvicorn raises them again at its end
    try:
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if server.unwritten is not None:
        raise server.unwritten


class Server(uvicorn.Server):
    """Uvicorn's server, which also prints a greeting, and answers the requests that are under way before it closes any connection."""

    def __init__(self, config: uvicorn.Config, greeting: str, connections: OpenConnections) -> None:
        super().__init__(config)
        self._greeting, self._connections = greeting, connections
        self.unwritten: OSError | None = None
        """Why the greeting could not be written, which ends the server."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        try:
            sys.stdout.write(self._greeting)
            sys.stdout.flush()
        except OSError as error:  # uvicorn would log a traceback
            self.unwritten = error
            asyncio.get_running_loop().call_soon(setattr, self, "should_exit", True)  # at once, uvicorn would skip its shutdown

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        state: Any = self.config.app.state  # type: ignore[union-attr]  # ``run`` gave it
        state.admission.close()
        drained = await self._drain(GRACE)
        state.batcher.close()
        if not drained:
            await self._drain(REFUSING)
        self.force_exit = False  # a second Ctrl-C has ended the waiting; the end of the application is not skipped
        asyncio.get_running_loop().call_later(LAST_RESPONSES, self._connections.abort)
        await super().shutdown(sockets)

    async def _drain(self, seconds: float) -> bool:
        """Wait until all requests are answered and nothing new has come for a while, at most for so many seconds; whether it is so."""
        metrics = self._connections.metrics
        begun = quiet_since = time.monotonic()
        before: tuple[int, ...] = ()
        while not self.force_exit and (now := time.monotonic()) - begun < seconds:
            seen = metrics.in_flight, metrics.connections, self.server_state.total_requests
            if seen != before or metrics.in_flight:
                before, quiet_since = seen, now
            elif now - quiet_since >= LINGER:
                return True
            await asyncio.sleep(0.05)
        return False

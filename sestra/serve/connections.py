"""Connections: how many there may be, of one client and in all, and how long and how large the head of a request may be."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Collection
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sestra.serve.metrics import Metrics

MAX_CONNECTIONS = 1024
"""Beyond this, requests on new connections get 503."""
MAX_PER_CLIENT = 256
"""The same for the connections of one client."""
HEAD_TIMEOUT = 10
"""Seconds for the head of a request to arrive; uvicorn itself would wait forever."""
MAX_HEAD_LENGTH = 16 * 1024
"""Bytes of a request's line and headers; what arrives in one piece may be longer, up to the size of the event loop's buffer."""
REFUSED = "refused"
"""In the state of the requests of a connection that is one too many: why it is refused."""


def client_of(host: str | None) -> str:
    """Whom an address belongs to: an IPv4 address, or the network of an IPv6 address, since a client has all of it.

    >>> client_of("192.0.2.7"), client_of("::ffff:192.0.2.7"), client_of("2001:db8:1:2:3::4")
    ('192.0.2.7', '192.0.2.7', '2001:db8:1:2::/64')
    """
    if not host or ":" not in host:
        return host or ""
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return host
    return str(address.ipv4_mapped or ipaddress.IPv6Network((address, 64), strict=False))


class OpenConnections:
    """Counts the open connections; ``proxies`` are addresses that send the requests of many clients."""

    def __init__(self, metrics: Metrics, proxies: Collection[str] = ()) -> None:
        self.metrics, self._proxies = metrics, proxies
        self._open: dict[asyncio.Transport, str] = {}
        self._clients: Counter[str] = Counter()

    def add(self, connection: asyncio.Transport) -> str:
        """Count one more; why its requests are to be refused, or nothing."""
        peer = connection.get_extra_info("peername")
        client = self._open[connection] = client_of(peer[0] if isinstance(peer, tuple) else None)
        self._clients[client] += 1
        self.metrics.connections = len(self._open)
        if len(self._open) > MAX_CONNECTIONS:
            return f"the server has more than {MAX_CONNECTIONS:,} connections"
        if self._clients[client] > MAX_PER_CLIENT and client not in self._proxies:
            return f"more than {MAX_PER_CLIENT:,} connections from your address; use fewer"
        return ""

    def remove(self, connection: asyncio.Transport) -> None:
        client = self._open.pop(connection)
        self._clients[client] -= 1
        if not self._clients[client]:
            del self._clients[client]
        self.metrics.connections = len(self._open)

    def abort(self) -> None:
        """Close all of them at once."""
        for connection in list(self._open):
            connection.abort()


class Connection(HttpToolsProtocol):
    """Uvicorn's connection with these limits. One that is too many is not cut: it is marked, and its request is read and refused."""

    def __init__(self, *, counted: OpenConnections, **given: Any) -> None:
        super().__init__(**given)
        self._counted = counted
        self._in_head = False
        self._head_length = 0
        self._unanswered = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if reason := self._counted.add(transport):
            self.app_state = {**self.app_state, REFUSED: reason}
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head_length += len(data)
            if self._head_length > MAX_HEAD_LENGTH:
                self.send_400_response("The head of the request is too large.")
        if not self._unanswered and self._timer is None:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_length = True, 0

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._in_head = False
        self._unanswered += 1
        self._stop_waiting()

    def on_response_complete(self) -> None:
        self._unanswered -= 1
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._counted.remove(self.transport)
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(HEAD_TIMEOUT, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

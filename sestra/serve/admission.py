"""Which requests are answered: those with the key, not too many of one client, and none that arrives while the server stops."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from sestra.serve.connections import REFUSED, client_of
from sestra.serve.metrics import Metrics
from sestra.serve.refusals import refusal

MAX_PER_CLIENT = 64
"""Requests of one client that may be under way at once."""
PROBES = ("/healthz", "/readyz")
"""What is answered to everybody, also while the server stops."""


class Admission:
    """Counts requests and refuses some; ``public`` are the paths that need no key, besides those of probes."""

    def __init__(
        self,
        metrics: Metrics | None = None,
        *,
        api_key: str | None = None,
        public: Collection[str] = (),
        per_client: int = MAX_PER_CLIENT,
    ) -> None:
        self.metrics = metrics or Metrics()
        self.closed = False
        self._expected = None if api_key is None else f"Bearer {api_key}".encode()
        self._public, self._per_client = public, per_client
        self._clients: Counter[str] = Counter()

    def close(self) -> None:
        """Refuse everything from now on, and have connections closed after their responses."""
        self.closed = True

    @contextmanager
    def request(self, scope: Scope) -> Iterator[Response | None]:
        """A request while it is under way; what it is to be refused with, or None."""
        client = client_of((scope.get("client") or ("",))[0])
        refused = self._refusal(scope, client)
        self.metrics.in_flight += 1
        self._clients[client] += refused is None
        try:
            yield refused
        finally:
            self.metrics.in_flight -= 1
            self._clients[client] -= refused is None
            if not self._clients[client]:
                del self._clients[client]

    def _refusal(self, scope: Scope, client: str) -> Response | None:
        if scope["path"] in PROBES:
            return None
        if self.closed:
            return refusal(503, [("", "the server is stopping; try again when it is back")], {"Retry-After": "5", "Connection": "close"})
        if reason := scope.get("state", {}).get(REFUSED):
            return refusal(503, [("", f"{reason}; try again later")], {"Retry-After": "1", "Connection": "close"})
        if self._expected is not None and scope["path"] not in self._public:
            given = Headers(scope=scope).get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(given, self._expected):
                needed = "a key is needed; send the header 'Authorization: Bearer KEY', or open the page with #key=KEY in its address"
                return refusal(401, [("", needed)], {"WWW-Authenticate": "Bearer"})
        if self._clients[client] >= self._per_client:
            reason = f"{self._per_client} requests from your address are under way; wait for their answers"
            return refusal(429, [("", reason)], {"Retry-After": "1"})
        return None

"""What every request passes first: its host, admission, a limit on its body; security headers on its response; the access log."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sestra.serve.admission import Admission
from sestra.serve.refusals import refusal
from sestra.serve.schemas import MAX_BODY_BYTES

PATIENCE = 30
"""Seconds for a body to arrive."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}

log = logging.getLogger("sestra.serve")
access_log = logging.getLogger("sestra.access")


class Guard:
    """An ASGI application around another one; ``hosts`` are the host names that it accepts, by default any."""

    def __init__(
        self,
        app: ASGIApp,
        largest_body: int = MAX_BODY_BYTES,
        hosts: Collection[str] | None = None,
        admission: Admission | None = None,
    ) -> None:
        self._app, self._largest, self._hosts = app, largest_body, hosts
        self._admission = admission or Admission()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, begun = 0, time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self._admission.closed:
                    headers["Connection"] = "close"
            await send(message)

        try:
            answer = await self._answer(scope, receive, send_with_headers)
        except ClientDisconnect:
            return
        except Exception as error:
            log.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
            if status:
                raise
            answer = refusal(500, [("", "internal server error; see the server's log")])
        if answer is not None:
            await answer(scope, receive, send_with_headers)
        self._admission.metrics.count_response(status)
        if access_log.isEnabledFor(logging.INFO):
            client, milliseconds = (scope.get("client") or ("-",))[0], 1000 * (time.perf_counter() - begun)
            access_log.info("%s %s %s %d %.1f ms", client, scope["method"], quote(scope["path"]), status, milliseconds)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """A refusal of the request, or None after the application has answered it."""
        if self._hosts is not None and not all(_name(host) in self._hosts for host in Headers(scope=scope).getlist("host") or [""]):
            expected = " or ".join(sorted(self._hosts))
            return refusal(421, [("", f"the request is for another host; expected {expected}")], {"Connection": "close"})
        with self._admission.request(scope) as refused:
            try:
                async with asyncio.timeout(PATIENCE):
                    body = await self._body(receive)  # also if it is refused: a client that is still sending might not see the response
            except TimeoutError:
                return refusal(408, [("body", f"did not arrive within {PATIENCE} seconds; send it again")], {"Connection": "close"})
            if body is None:
                return refusal(413, [("body", f"more than {self._largest:,} bytes; send less")], {"Connection": "close"})
            if refused is None:
                await self._app(scope, _replay(body, receive), send)
            return refused

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body, or None as soon as it is too large, whatever its headers say."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > self._largest:
                return None
            if not message.get("more_body", False):
                return bytes(body)


def _name(host: str) -> str:
    """A Host header without its port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and (port.isdecimal() or not port) else host).lower()


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again

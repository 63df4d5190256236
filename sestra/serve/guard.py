"""What stands between the network and the application: a limit on bodies, and headers that forbid a page all that it does not need."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sestra.serve.models import LARGEST_BODY, Problem, Refusal

PATIENCE = 30
"""Seconds for a body to arrive."""

HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' blob:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def refusal(status: int, problems: Iterable[tuple[str, str]], headers: dict[str, str] | None = None) -> Response:
    """The one shape of every answer that says no: ``problems`` are places and reasons."""
    found = [Problem(where=where, reason=reason) for where, reason in problems]
    together = "; ".join(f"{problem.where}: {problem.reason}" if problem.where else problem.reason for problem in found)
    body = Refusal(reason=together, problems=found).model_dump_json().encode("utf-8", "backslashreplace")
    return Response(body, status, headers, media_type="application/json")


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, largest_body: int = LARGEST_BODY) -> None:
        self._app, self._largest = app, largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            async with asyncio.timeout(PATIENCE):
                body = await self._body(receive)
        except TimeoutError:
            answer = refusal(408, [("body", f"did not arrive within {PATIENCE} seconds; send it again")], {"Connection": "close"})
            await answer(scope, receive, send_with_headers)
            return
        if body is None:
            answer = refusal(413, [("body", f"more than {self._largest:,} bytes; send less")], {"Connection": "close"})
            await answer(scope, receive, send_with_headers)
            return
        await self._app(scope, _replayed(body, receive), send_with_headers)

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body, or None as soon as it has grown too large, whatever its headers said."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":  # the client went away
                return bytes(body)
            body += message.get("body", b"")
            if len(body) > self._largest:
                return None
            if not message.get("more_body", False):
                return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again

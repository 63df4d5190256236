"""The HTTP interface of ``sestra serve`` from several replicas on a Ray cluster: ``python examples/ray_serve.py --replicas 2``.

Needs ``pip install 'sestra[serve]' 'ray[serve]'`` on every machine. Each replica is a process with all agents. A gateway receives the
requests and passes each one to a replica. The server keeps no state between requests, so a request can be repeated: if a replica dies
before it has answered, the gateway sends the request to another one, and the client notices nothing but the delay.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
from dataclasses import dataclass
from typing import Any

import ray
import tyro
from ray import serve
from ray.exceptions import RayActorError
from ray.serve.config import HTTPOptions
from ray.serve.schema import LoggingConfig

APPLICATION = "sestra"
ATTEMPTS = 5
"""How often a request is sent before the client gets 503."""
LARGEST_BATCH = 64
"""Requests that a replica works on at once; the others wait in the gateway, where no replica's death can reach them."""

Answer = tuple[int, list[tuple[bytes, bytes]], bytes]
"""Status, headers and body."""


@dataclass(frozen=True)
class Options:
    """Serve agents from replicas on Ray, until Ctrl-C."""

    agent: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """An agent, by a shipped name, as a folder that every machine has, or as a repository of the hub; repeat it for several."""
    replicas: int = 2
    """Processes that follow instructions; each takes one core."""
    gateways: int = 1
    """Processes that pass requests to them."""
    host: str = "127.0.0.1"
    """The address to listen at."""
    port: int = 8000
    """The port to listen at."""
    address: str = "local"
    """The Ray cluster: 'auto' for the one of this machine; 'local' starts one."""


class Replica:
    """The application of ``sestra serve``, called without a network."""

    def __init__(self, agents: tuple[str, ...]) -> None:
        from sestra.cli.serve import load
        from sestra.serve.app import create_app

        self._app = create_app(load(agents))

    async def answer(self, scope: dict[str, Any], body: bytes) -> Answer:
        messages: list[dict[str, Any]] = []
        received = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> dict[str, Any]:
            for message in received:
                return message
            await asyncio.Event().wait()  # the client stays until it has its answer
            raise AssertionError

        async def send(message: Any) -> None:
            messages.append(message)

        await self._app({**scope, "app": None}, receive, send)
        start, *rest = messages
        return start["status"], list(start["headers"]), b"".join(message.get("body", b"") for message in rest)


def gateway() -> Any:
    """The application of the gateway: it limits requests as ``sestra serve`` does, and passes them on."""
    from sestra.serve.middleware import Guard
    from sestra.serve.refusals import refusal

    log = logging.getLogger("ray.serve")
    replicas = serve.get_deployment_handle("Replica", APPLICATION)
    passed_on = ("type", "asgi", "http_version", "method", "scheme", "path", "raw_path", "query_string", "root_path", "headers")

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = (await receive()).get("body", b"")  # whole: the guard has read it
        request = {name: scope[name] for name in passed_on if name in scope}
        for _ in range(ATTEMPTS):
            try:
                status, headers, answer = await replicas.answer.remote(request, body)
            except RayActorError:
                log.warning("a replica died; %s %s is sent to another one", scope["method"], scope["path"])
                continue
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": answer})
            return
        await refusal(503, [("", "no replica answers; try again later")], {"Retry-After": "5"})(scope, receive, send)

    return Guard(app)  # type: ignore[arg-type]


def application(options: Options) -> serve.Application:
    follow = serve.deployment(Replica, num_replicas=options.replicas, max_ongoing_requests=LARGEST_BATCH, ray_actor_options={"num_cpus": 1})
    receive = serve.deployment(
        serve.ingress(gateway)(),
        name="Gateway",
        num_replicas=options.gateways,
        max_ongoing_requests=1000,
        ray_actor_options={"num_cpus": 0},
    )
    return receive.bind(follow.bind(options.agent))


def main() -> None:
    options = tyro.cli(Options)
    ray.init(address=options.address, include_dashboard=False if options.address == "local" else None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    quiet = LoggingConfig(log_level="WARNING", enable_access_log=False)
    serve.start(http_options=HTTPOptions(host=options.host, port=options.port), logging_config=quiet)
    serve.run(application(options), name=APPLICATION, route_prefix="/", logging_config=quiet)
    sys.stdout.write(f"sestra is at http://{options.host}:{options.port}/ with {options.replicas} replicas (Ctrl-C stops it)\n")
    sys.stdout.flush()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        serve.shutdown()


if __name__ == "__main__":
    main()

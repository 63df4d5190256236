"""``sestra serve``: the page, and the agents over HTTP."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from sestra.cli.options import Caution, Switch
from sestra.errors import InputError, check_number, shortened
from sestra.worlds import WORLDS

if TYPE_CHECKING:
    from sestra.agent import Agent
    from sestra.serve.metrics import Metrics
    from sestra.serve.watch import WatchedRun


KEY_VARIABLE = "SESTRA_API_KEY"
SHORTEST_KEY = 16
BACKLOG = 2048
"""Connections that may wait to be accepted, as uvicorn has it."""


@dataclass(frozen=True)
class Serve:
    """Serve the page and the HTTP interface, until Ctrl-C."""

    host: str = "127.0.0.1"
    """The address to listen at; the default one can be reached from this machine only."""
    port: int = 8000
    """The port to listen at; 0 takes any free one."""
    agent: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME|FOLDER", help_behavior_hint="")] = ()
    """An agent, by a shipped name or the folder of a run or an export; repeat it for several. Default: the shipped ones."""
    watch: Annotated[Path | None, tyro.conf.arg(metavar="RUN", help_behavior_hint="")] = None
    """The folder of a run to watch on a page while it trains, or afterwards; without --agent, the run's own agent alone is served."""
    workers: int = 1
    """How many processes answer requests: at most one per core makes sense."""
    api_key: Annotated[str | None, tyro.conf.arg(metavar="KEY", help_behavior_hint="")] = None
    """The key that requests must have. Better give it in the environment variable SESTRA_API_KEY: other users see command lines."""
    no_auth: Switch = False
    """Serve other machines without a key."""
    allowed_host: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = ()
    """A host name that requests may ask for, as it is in the page's address; repeat it for several. Loopback names are always allowed."""
    proxy: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="ADDRESS", help_behavior_hint="")] = ()
    """The address of a reverse proxy whose X-Forwarded-For header says who a client is; repeat it for several."""
    requests_per_client: int = 64
    """How many requests of one client may be under way at once, in each process."""
    caution: Caution = None
    access_log: Switch = False
    """Log every request to standard error."""

    def run(self) -> int:
        check_number("--port", self.port, 0, 65_535)
        check_number("--workers", self.workers, 1, 256)
        check_number("--requests-per-client", self.requests_per_client, 1, 1_000_000)
        if self.caution is not None:
            check_number("--caution", self.caution, 0, 1, whole=False)
        key = checked_key(os.environ.get(KEY_VARIABLE) if self.api_key is None else self.api_key)
        for address in self.proxy:
            _check_address(address)
        for package in ("fastapi", "httptools", "uvicorn"):
            import_module(package)
        from sestra.serve.metrics import Metrics
        from sestra.serve.watch import WatchedRun

        with _listening(self.host, self.port) as listening:
            names = self._hosts(listening, key)
            watched = WatchedRun(self.watch) if self.watch else None
            agents = load(self.agent) if self.agent or not watched else own_agent(watched)
            metrics = Metrics(self.workers)
            if self.caution is not None:
                for agent in agents:
                    agent.caution = self.caution

            def serve(worker: int = 0, announces: bool = True) -> int:
                return self._serve(agents, watched, listening, names, key, metrics, worker, announces=announces)

            if self.workers == 1:
                status = serve()
            else:
                from sestra.serve.workers import run_workers

                listening.listen(BACKLOG)
                status = run_workers(self.workers, serve)
        sys.stderr.write("stopped\n")
        return status

    def _hosts(self, listening: socket.socket, key: str | None) -> set[str]:
        """The names that requests may ask for; InputError if others could reach the server without enough being said about it."""
        names = hosts(self.host, listening, self.allowed_host)
        if not _is_loopback(listening):
            place = f"--host {self.host}: can be reached from other machines"
            if key is None and not self.no_auth:
                raise InputError(f"{place}; set a key in the environment variable {KEY_VARIABLE}, or say --no-auth to serve everybody")
            if not self.allowed_host:
                raise InputError(f"{place}; say by which names, such as --allowed-host sestra.example.org")
            without = "without encryption" if key else "without encryption and without a key"
            sys.stderr.write(f"sestra: warning: {place}, {without}; put a proxy with TLS in front of it\n")
        return names

    def _serve(
        self,
        agents: list[Agent],
        watched: WatchedRun | None,
        listening: socket.socket,
        names: set[str],
        key: str | None,
        metrics: Metrics,
        worker: int,
        *,
        announces: bool,
    ) -> int:
        from sestra.serve import server
        from sestra.serve.app import create_app

        metrics.use(worker)
        if self.access_log:
            log_access()
        app = create_app(agents, names, api_key=key, per_client=self.requests_per_client, metrics=metrics, watched=watched)
        page = "watch.html" if watched else ""
        server.run(app, listening, f"sestra is at {_address(listening)}{page} (Ctrl-C stops it)\n" if announces else "", self.proxy)
        if app.state.batcher.busy:  # nobody waits for its answer, but Python would
            sys.stderr.write("stopped\n" if announces else "")
            sys.stderr.flush()
            os._exit(0)
        return 0


def hosts(given: str, listening: socket.socket, allowed: Sequence[str] = ()) -> set[str]:
    """The names that requests may ask for, and no others, so that no page from elsewhere can have itself resolved to this server."""
    own = (given, listening.getsockname()[0]) if _is_loopback(listening) else ()
    for name in allowed:
        if not name or not name.isprintable() or any(sign in name for sign in " /@*,"):
            raise InputError(f"--allowed-host {shortened(repr(name))}: is not a host name; expected one such as sestra.example.org")
    return {"localhost", "127.0.0.1", "[::1]"} | {_as_host(name) for name in (*own, *allowed)}


def _as_host(name: str) -> str:
    """As a Host header has it, without a port."""
    bare = name.strip("[]").lower()
    return f"[{bare}]" if ":" in bare else bare


def _is_loopback(listening: socket.socket) -> bool:
    return ipaddress.ip_address(listening.getsockname()[0]).is_loopback


def checked_key(key: str | None) -> str | None:
    """The key, or None if there is none; InputError for one that could be guessed or not be sent."""
    if key is None or (len(key) >= SHORTEST_KEY and key.isascii() and key.isprintable() and " " not in key):
        return key
    raise InputError(
        f"the API key has {len(key):,} characters or some that cannot be sent; expected {SHORTEST_KEY} or more letters and digits, such as "
        "those that this prints: python -c 'import secrets; print(secrets.token_urlsafe())'"
    )


def _check_address(address: str) -> None:
    try:
        ipaddress.ip_address(address)
    except ValueError as error:
        raise InputError(f"--proxy {shortened(repr(address))}: is not an address; expected one such as 127.0.0.1") from error


def log_access() -> None:
    """Log every request to standard error, with the time."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("sestra.access")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def load(given: Sequence[str]) -> list[Agent]:
    """The agents, ready to answer at once; a world's first is the one that follows instructions if none is named."""
    from sestra import pretrained
    from sestra.agent import Agent, Context
    from sestra.data.synthetic import generate

    names = list(given) or sorted(pretrained.names(), key=lambda name: (name not in WORLDS.names(), name))
    if not names:
        raise InputError("no agents ship with this version; give one with --agent FOLDER, such as a run's folder")
    agents: dict[str, Agent] = {}
    for name in names:
        agent = Agent.from_pretrained(name)
        if agent.name in agents:
            raise InputError(f"--agent {name}: is the second agent called {agent.name}; give each once, and folders of different names")
        if agent.world.grammar() is not None:  # the first call of a model is its slowest
            [example] = generate(agent.world, 1, seed=0)
            state = example.states[0]
            assert state is not None  # a generated state is known
            agent.take_turns([Context((agent.world.format(state),), example.instructions[:1])])
        agents[agent.name] = agent
    return list(agents.values())


def own_agent(watched: WatchedRun) -> list[Agent]:
    """The agent of a run that is watched, if it has ended."""
    return load([str(watched.path)]) if watched.finished() else []


def _listening(host: str, port: int) -> socket.socket:
    """A socket bound to the address, before anything slow is done."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise InputError(f"--host {host}: is not an address of this machine ({error}); try 127.0.0.1") from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise InputError(
            f"cannot listen at {host} port {port} ({error.strerror}); choose another port with --port (0 takes any free one)"
        ) from error
    return bound


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = socket.gethostname()
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

"""``sestra serve``: the page, and the agents over HTTP."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import tyro

from sestra.errors import InputError, check_number
from sestra.worlds import WORLDS

if TYPE_CHECKING:
    from sestra.agent import Agent


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
    workers: int = 1
    """How many processes answer requests: at most one per core makes sense."""

    def run(self) -> int:
        check_number("--port", self.port, 0, 65_535)
        check_number("--workers", self.workers, 1, 256)
        for package in ("fastapi", "uvicorn"):
            import_module(package)
        with _listening(self.host, self.port) as listening:
            agents = load(self.agent)
            if self.workers == 1:
                status = self._serve(agents, listening)
            else:
                from sestra.serve.workers import run_workers

                listening.listen(BACKLOG)
                status = run_workers(self.workers, lambda announces: self._serve(agents, listening, announces=announces))
        sys.stderr.write("stopped\n")
        return status

    def _serve(self, agents: list[Agent], listening: socket.socket, *, announces: bool = True) -> int:
        from sestra.serve import server
        from sestra.serve.app import create_app

        app = create_app(agents, hosts(self.host, listening))
        server.run(app, listening, f"sestra is at {_address(listening)} (Ctrl-C stops it)\n" if announces else "")
        if app.state.batcher.busy:  # nobody waits for its answer, but Python would
            sys.stderr.write("stopped\n" if announces else "")
            sys.stderr.flush()
            os._exit(0)
        return 0


def hosts(given: str, listening: socket.socket) -> set[str] | None:
    """The names that requests may ask for: on loopback only its own, so that no page from elsewhere can have itself resolved to it."""
    bound = listening.getsockname()[0]
    if not ipaddress.ip_address(bound).is_loopback:
        return None
    return {"localhost", "127.0.0.1", "[::1]"} | {f"[{name}]" if ":" in name else name.lower() for name in (given, bound)}


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

"""Requests damaged at random, sent to a running server: each is answered as the interface promises, and the server stays as it was.

python tests/fuzz/http_requests.py --minutes 10 --seed 1
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(TESTS), str(Path(__file__).parent)]

from agents import STATES, write_random_agent  # noqa: E402
from fuzzing import command_line  # noqa: E402

WORLD = "tangrams"
GOOD = {"world": WORLD, "state": STATES[WORLD], "history": [{"state": STATES[WORLD], "instruction": "swap them"}], "instruction": "again"}
STATUSES = {200, 304, 400, 401, 404, 405, 408, 413, 421, 422, 429, 503}
"""Those that the interface promises; 500 is not among them."""
TIMEOUT = 20.0
"""Seconds for a response; no request here needs more than a fraction of one."""
PATHS = (
    "/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/main.js",
    "/api/worlds",
    "/api/drawing",
    "/api/picture",
    "/api/examples",
    "/api/suggestions",
    "/api/follow",
)
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e308,
    10**400,
    "",
    " ",
    "x" * 1_001,
    "\0",
    "\u202e",
    "\ud800",
    "1:0",
    "alchemy",
    [],
    {},
    [[]],
    ["a"] * 60,
    {"a": {"b": [1]}},
)
HEADERS = (
    "Transfer-Encoding: chunked",
    "Content-Length: 5",
    "Content-Length: -1",
    "Content-Length: 99999999999",
    "Connection: close",
    "Upgrade: h2c",
    "Connection: Upgrade",
    "Expect: 100-continue",
    "Host: evil.example",
    "X-Forwarded-For: 192.0.2.1",
    "Authorization: Bearer x",
    "A: " + "b" * 9_000,
    "Content-Type: text/plain",
    "Content-Type: application/json; charset=utf-16",
    "Range: bytes=0-",
    "If-None-Match: *",
    "Cookie: \xff",
    "no colon",
    ": x",
)


def change_body(rng: random.Random) -> bytes:
    """A request to follow with one thing in it that should not be there, or damaged bytes."""
    body: dict[str, Any] = json.loads(json.dumps(GOOD))
    if rng.random() < 0.2:
        return rng.choice((b"", b"null", b"[" * 9_000, b"\xff", b"{" * 50, b" " * rng.choice((1, 300_000)), b'{"world": NaN}'))
    for _ in range(rng.choice((0, 1, 1, 2))):
        part: dict[str, Any] = body["history"][0] if rng.random() < 0.3 and body.get("history") in (GOOD["history"],) else body
        key = rng.choice([*part, "surprise"])
        if rng.random() < 0.2:
            part.pop(key, None)
        else:
            part[key] = rng.choice(ODD)
    text = bytearray(json.dumps(body).encode())
    if rng.random() < 0.3:
        for _ in range(rng.choice((1, 1, 5))):
            text[rng.randrange(len(text))] = rng.randrange(256)
    return bytes(text)


def make_request(rng: random.Random) -> bytes:
    method = rng.choice(("POST", "POST", "POST", "GET", "GET", "HEAD", "PUT", "OPTIONS", "DELETE", "PATCH", "BREW"))
    path = "/api/follow" if method == "POST" and rng.random() < 0.7 else rng.choice(PATHS)
    path += rng.choice(
        ("", "", "", "/", "?world=tangrams", "?world=%00&state=x&count=-1&seed=9999999999999", "/../x", "%0a", "?" + "q" * 3_000)
    )
    body = change_body(rng) if method in ("POST", "PUT", "PATCH") else b""
    headers = ["Host: localhost", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        if rng.random() < 0.5:
            headers[rng.randrange(len(headers))] = rng.choice(HEADERS)
        else:
            headers.append(rng.choice(HEADERS))
    version = rng.choice(("1.1",) * 12 + ("1.0", "2.0", "0.9", "x"))
    found = bytearray("\r\n".join([f"{method} {path} HTTP/{version}", *headers, "", ""]).encode("latin-1") + body)
    if rng.random() < 0.2:
        for _ in range(rng.choice((1, 1, 4, 40))):
            found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def send(port: int, request: bytes, rng: random.Random) -> bytes:
    """What comes back to a client that sends the request in pieces or at once, and then nothing more."""
    with socket.create_connection(("127.0.0.1", port), TIMEOUT) as connection:
        with suppress(OSError):  # the server may have answered and closed already
            place = rng.randrange(len(request)) if rng.random() < 0.2 else 0
            connection.sendall(request[:place])
            if place:
                time.sleep(0.002)
            connection.sendall(request[place:])
            connection.shutdown(socket.SHUT_WR)
        received = b""
        with suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                received += piece
        return received


def judge(answer: bytes) -> tuple[str, str]:
    """The statuses of the responses, and what is wrong with them."""
    if not answer:
        return "closed", ""  # half a request has no answer
    seen = []
    while answer:
        head, end, rest = answer.partition(b"\r\n\r\n")
        found = re.match(rb"HTTP/1\.1 (\d{3}) ", head)
        if not found or not end:
            return "broken", f"not HTTP: {answer[:80]!r}"
        status, length = int(found[1]), re.search(rb"(?im)^content-length: (\d+)", head)
        if status == 100:
            answer = rest
            continue
        if status not in STATUSES:
            return str(status), f"status {status}: {answer[:300]!r}"
        seen.append(str(status))
        if length is None:
            return "+".join(seen), ""
        body, answer = rest[: int(length[1])], rest[int(length[1]) :]
        if status >= 401 and body and set(json.loads(body)) != {"reason", "problems"}:
            return "+".join(seen), f"a refusal of another shape: {body[:100]!r}"
        if answer and not answer.startswith(b"HTTP/"):  # the response to HEAD says how long the one to GET would be
            return "+".join(seen), f"more than its length: {answer[:80]!r}"
    return "+".join(seen), ""


@contextmanager
def serving() -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A server with an agent that has learnt nothing; its port and its process."""
    with tempfile.TemporaryDirectory() as place:
        agent = write_random_agent(Path(place) / "agent", WORLD)
        command = [sys.executable, "-m", "sestra", "serve", "--port", "0", "--agent", str(agent)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            try:
                [port] = re.findall(r":(\d+)/", process.stdout.readline())
                yield int(port), process
            finally:
                process.kill()


def ask(port: int) -> bytes:
    """The answer to a good request."""
    body = json.dumps(GOOD).encode()
    head = f"POST /api/follow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return send(port, head.encode() + body, random.Random(0)).rpartition(b"\r\n\r\n")[2]


def run(minutes: float, seed: int, report: Callable[[str], object] = print) -> tuple[Counter[str], list[str]]:
    """How often there was each answer, and what must not be."""
    rng, counts, wrong = random.Random(seed), Counter[str](), list[str]()
    with serving() as (port, process):
        expected, until, number = ask(port), time.monotonic() + 60 * minutes, 0
        while time.monotonic() < until or number == 0:
            number += 1
            request = make_request(rng)
            try:
                outcome, said = judge(send(port, request, rng))
                if not said and number % 100 == 0 and ask(port) != expected:
                    said = "a good request is answered differently now"
            except (OSError, ValueError) as error:
                outcome, said = "failed", repr(error)
            counts[outcome] += 1
            if said or process.poll() is not None:
                wrong.append(f"seed {seed}, request {number}: {said or 'the server has ended'}; sent {request[:300]!r}")
                report(wrong[-1])
                if process.poll() is not None:
                    break
        process.terminate()
        _, errors = process.communicate(timeout=30)
        if errors != "stopped\n":
            wrong.append(f"seed {seed}: the server wrote {errors[:2_000]!r}")
            report(wrong[-1])
    return counts, wrong


if __name__ == "__main__":
    sys.exit(command_line(__doc__, run, "requests"))

"""Several processes that serve the same socket, for machines with several cores."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PAUSE = 1.0
"""Seconds before a process that died is started again, so that one that cannot run does not fill the log."""


def run_workers(count: int, serve: Callable[[int, bool], int]) -> int:
    """Run ``serve`` in so many processes until SIGINT or SIGTERM, which they are sent; one that dies is replaced.

    ``serve`` is told its worker's number, from 0, and whether it is the one that announces the server. If a process ends by itself, as all
    do when the server cannot start, the others are stopped.
    """
    workers: dict[int, int] = {}  # the number of each process
    stopping = False

    def stop(*_: Any) -> None:
        nonlocal stopping
        stopping = True
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGTERM)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in range(count):
            workers[_start(serve, before, number, announces=number == 0)] = number
        status = 0
        while workers:
            worker, ended = os.wait()
            number = workers.pop(worker)
            code = os.waitstatus_to_exitcode(ended)
            if stopping or code >= 0:  # it ended by itself
                status = status or max(code, 0)
                if not stopping:
                    stop()
                continue
            sys.stderr.write(f"sestra: a worker process was killed by signal {-code}; it is replaced\n")
            time.sleep(PAUSE)
            if not stopping:
                workers[_start(serve, before, number, announces=False)] = number
        return status
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _start(serve: Callable[[int, bool], int], handlers: dict[Any, Any], number: int, *, announces: bool) -> int:
    """The id of a new process that serves."""
    sys.stdout.flush()
    sys.stderr.flush()
    worker = os.fork()
    if worker:
        return worker
    for signal_number, handler in handlers.items():
        signal.signal(signal_number, handler)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the first one passes it on as SIGTERM
    status = 1
    try:
        status = serve(number, announces)
    except BaseException as error:  # noqa: BLE001  the process must end here, whatever happens
        sys.stderr.write(f"sestra: {type(error).__name__}: {error}\n")
    finally:
        with suppress(OSError):  # what cannot be written must not keep the process from ending here
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)

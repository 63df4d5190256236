"""What the server counts, for Prometheus: ``GET /metrics``."""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections.abc import Iterator

STATUSES = (200, 304, 400, 401, 404, 405, 408, 413, 421, 422, 429, 499, 500, 503)
"""Those that are counted one by one; any other is counted as 0."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper bounds of the times that instructions took; longer ones are beyond the last."""

_IN_FLIGHT, _CONNECTIONS, _BATCHES, _BATCHED, _TIME = range(5)
_FIRST_STATUS = 5
_FIRST_BOUND = _FIRST_STATUS + len(STATUSES) + 1
_SIZE = _FIRST_BOUND + len(SECONDS) + 1

MEDIA_TYPE = "text/plain; version=0.0.4"


class Metrics:
    """Numbers in memory that worker processes share: each changes its own, and any can show the sums.

    Made before the processes are, each of which then says which of them it is.
    """

    def __init__(self, workers: int = 1) -> None:
        self._all = memoryview(mmap.mmap(-1, 8 * _SIZE * workers)).cast("d")
        self._workers = workers
        self._own = self._all[:_SIZE]

    def use(self, worker: int) -> None:
        """Count as the worker of that number, from 0; one that replaces another goes on counting, but has no connections."""
        self._own = self._all[worker * _SIZE : (worker + 1) * _SIZE]
        self._own[_IN_FLIGHT] = self._own[_CONNECTIONS] = 0

    @property
    def in_flight(self) -> int:
        """Requests of this process that have arrived and are not answered."""
        return int(self._own[_IN_FLIGHT])

    @in_flight.setter
    def in_flight(self, count: int) -> None:
        self._own[_IN_FLIGHT] = count

    @property
    def connections(self) -> int:
        """Open connections of this process."""
        return int(self._own[_CONNECTIONS])

    @connections.setter
    def connections(self, count: int) -> None:
        self._own[_CONNECTIONS] = count

    def count_response(self, status: int) -> None:
        self._own[_FIRST_STATUS + (STATUSES.index(status) if status in STATUSES else len(STATUSES))] += 1

    def count_followed(self, seconds: float) -> None:
        """An instruction that was followed, and how long its request took."""
        self._own[_FIRST_BOUND + bisect_left(SECONDS, seconds)] += 1
        self._own[_TIME] += seconds

    def count_batch(self, size: int) -> None:
        self._own[_BATCHES] += 1
        self._own[_BATCHED] += size

    def text(self) -> str:
        """In Prometheus' text format, summed over the processes."""
        sums = [sum(self._all[number::_SIZE]) for number in range(_SIZE)]
        return "".join(f"{line}\n" for line in _lines(sums))


def _lines(sums: list[float]) -> Iterator[str]:
    yield from _described("sestra_requests_in_flight", "gauge", "Requests that have arrived and are not answered.")
    yield f"sestra_requests_in_flight {sums[_IN_FLIGHT]:.0f}"
    yield from _described("sestra_connections", "gauge", "Open connections.")
    yield f"sestra_connections {sums[_CONNECTIONS]:.0f}"
    yield from _described("sestra_batches_total", "counter", "Calls of the policies.")
    yield f"sestra_batches_total {sums[_BATCHES]:.0f}"
    yield from _described("sestra_batched_instructions_total", "counter", "Instructions in these calls.")
    yield f"sestra_batched_instructions_total {sums[_BATCHED]:.0f}"
    yield from _described("sestra_responses_total", "counter", "Responses by status.")
    for number, status in enumerate((*STATUSES, 0), start=_FIRST_STATUS):
        yield f'sestra_responses_total{{status="{status or "other"}"}} {sums[number]:.0f}'
    yield from _described("sestra_follow_seconds", "histogram", "How long requests to follow an instruction took, if it was followed.")
    total = 0.0
    for number, bound in enumerate((*SECONDS, "+Inf"), start=_FIRST_BOUND):
        total += sums[number]
        yield f'sestra_follow_seconds_bucket{{le="{bound}"}} {total:.0f}'
    yield f"sestra_follow_seconds_sum {sums[_TIME]:.6f}"
    yield f"sestra_follow_seconds_count {total:.0f}"


def _described(name: str, kind: str, help_text: str) -> Iterator[str]:
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} {kind}"

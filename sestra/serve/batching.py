"""Requests that arrive while the policy is busy are answered together, as one batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

MAX_BATCH = 64
MAX_PADDED = 64 * MAX_BATCH
"""The largest size of a batch after padding: its number of items times the size of the largest item."""
MAX_WAITING = 256

Function = Callable[[Sequence[Any]], Sequence[Any]]
"""The result of each item of a batch."""


class BusyError(Exception):
    """Too many items are waiting."""


class ClosedError(Exception):
    """The batcher accepts nothing more."""


@dataclass(frozen=True)
class _Waiting:
    key: str
    item: Any
    size: int
    result: asyncio.Future[Any]


class Batcher:
    """Calls functions that take a batch of items, one call at a time, in a thread of its own.

    An item that comes alone is processed at once. Those that arrive meanwhile wait, and form a batch when the thread is free again.
    """

    def __init__(
        self, functions: Mapping[str, Function], *, largest: int = MAX_BATCH, padded: int = MAX_PADDED, waiting: int = MAX_WAITING
    ) -> None:
        self._functions = functions
        self._largest, self._most_padded, self._most_waiting = largest, padded, waiting
        self._waiting: list[_Waiting] = []
        self._running: list[_Waiting] = []
        self._thread: ThreadPoolExecutor | None = None
        self._call: Future[list[Any]] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a call is running; nothing can interrupt it."""
        return self._call is not None and not self._call.done()

    async def submit(self, key: str, item: Any, size: int = 1) -> Any:
        """The result of the function of that name; if an item makes it fail, only the caller of that item gets the exception."""
        if self._closed:
            raise ClosedError
        if len(self._waiting) >= self._most_waiting:
            self._drop_cancelled()
        if len(self._waiting) >= self._most_waiting:
            raise BusyError
        loop = asyncio.get_running_loop()
        waiting = _Waiting(key, item, size, loop.create_future())
        self._waiting.append(waiting)
        if self._pump is None or self._pump.done() or self._pump.get_loop() is not loop:
            self._pump = asyncio.create_task(self._run_batches())
        return await waiting.result

    def close(self) -> None:
        """Raise ClosedError in all callers, now and from now on; the running call is not waited for."""
        self._closed = True
        if self._pump is not None:
            self._pump.cancel()
        for each in (*self._running, *self._waiting):
            if not each.result.done():
                each.result.set_exception(ClosedError())
        self._waiting.clear()
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)

    def open(self) -> None:
        """Accept items again."""
        self._closed, self._thread, self._pump = False, None, None

    async def _run_batches(self) -> None:
        while batch := self._next_batch():
            self._running = batch
            self._thread = self._thread or ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
            self._call = self._thread.submit(_results, self._functions, batch[0].key, [each.item for each in batch])
            results = await asyncio.wrap_future(self._call)
            for each, result in zip(batch, results, strict=True):
                if each.result.done():  # the client has disconnected
                    continue
                if isinstance(result, Exception):
                    each.result.set_exception(result)
                else:
                    each.result.set_result(result)

    def _next_batch(self) -> list[_Waiting]:
        """The oldest item, and all others for the same function that fit into its batch."""
        self._drop_cancelled()
        batch: list[_Waiting] = []
        left: list[_Waiting] = []
        for each in self._waiting:
            together = [*batch, each]
            padded = len(together) * max(one.size for one in together)
            fits = each.key == together[0].key and len(together) <= self._largest and padded <= self._most_padded
            (batch if fits or not batch else left).append(each)
        self._waiting = left
        return batch

    def _drop_cancelled(self) -> None:
        self._waiting = [each for each in self._waiting if not each.result.done()]


def _results(functions: Mapping[str, Function], key: str, items: Sequence[Any]) -> list[Any]:
    """Of each item its result or its exception; if a batch fails, each of its items is tried alone, so that one cannot spoil the others."""
    try:
        results = list(functions[key](items))
        if len(results) != len(items):
            raise RuntimeError(f"{len(results)} results for {len(items)} items; expected one each")
        return results
    except BaseException as error:  # noqa: BLE001
        if len(items) == 1:
            return [error if isinstance(error, Exception) else RuntimeError(f"the call ended with {error!r}")]
    return [result for item in items for result in _results(functions, key, [item])]

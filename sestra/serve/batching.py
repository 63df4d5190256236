"""Requests that arrive while the policy is busy are answered together, as one batch."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

LARGEST_BATCH = 64
MOST_PADDED = 64 * LARGEST_BATCH
"""The largest size of a batch after padding: its number of items times the size of the largest item."""
MOST_WAITING = 256


class BusyError(Exception):
    """Too many items are waiting."""


class ClosedError(Exception):
    """The batcher accepts nothing more."""


@dataclass(frozen=True)
class _Waiting(Generic[Item, Result]):
    key: str
    item: Item
    size: int
    result: asyncio.Future[Result]


class Batcher(Generic[Item, Result]):
    """Calls functions that take a batch of items, one call at a time, in a thread of its own.

    An item that comes alone is processed at once. Those that arrive meanwhile wait, and form a batch when the thread is free again.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[[Sequence[Item]], Sequence[Result]]],
        *,
        largest: int = LARGEST_BATCH,
        padded: int = MOST_PADDED,
        waiting: int = MOST_WAITING,
    ) -> None:
        self._functions = functions
        self._largest, self._most_padded, self._most_waiting = largest, padded, waiting
        self._waiting: deque[_Waiting[Item, Result]] = deque()
        self._running: list[_Waiting[Item, Result]] = []
        self._thread: ThreadPoolExecutor | None = None
        self._call: Future[list[Result | _Failure]] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a call is running; nothing can interrupt it."""
        return self._call is not None and not self._call.done()

    async def submit(self, key: str, item: Item, size: int = 1) -> Result:
        """The result of the function of that name; if an item makes it fail, only the caller of that item gets the exception."""
        if self._closed:
            raise ClosedError
        if len(self._waiting) >= self._most_waiting:
            self._drop_cancelled()
        if len(self._waiting) >= self._most_waiting:
            raise BusyError
        loop = asyncio.get_running_loop()
        waiting = _Waiting[Item, Result](key, item, size, loop.create_future())
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
            results: Sequence[Result | _Failure]
            try:
                results = await self._in_thread(partial(_call, self._functions[batch[0].key], [each.item for each in batch]))
            except Exception as error:  # noqa: BLE001
                results = [_Failure(error)] * len(batch)
            for each, result in zip(batch, results, strict=True):
                if each.result.done():  # the client has disconnected
                    continue
                if isinstance(result, _Failure):
                    each.result.set_exception(result.error)
                else:
                    each.result.set_result(result)

    def _next_batch(self) -> list[_Waiting[Item, Result]]:
        """The oldest item, and all others for the same function that fit into its batch."""
        self._drop_cancelled()
        batch: list[_Waiting[Item, Result]] = []
        left: deque[_Waiting[Item, Result]] = deque()
        size = 0
        for each in self._waiting:
            if not batch or self._fits(each, batch, size):
                batch.append(each)
                size = max(size, each.size)
            else:
                left.append(each)
        self._waiting = left
        return batch

    def _fits(self, one: _Waiting[Item, Result], batch: Sequence[_Waiting[Item, Result]], size: int) -> bool:
        count = len(batch) + 1
        return one.key == batch[0].key and count <= self._largest and count * max(size, one.size) <= self._most_padded

    def _drop_cancelled(self) -> None:
        self._waiting = deque(each for each in self._waiting if not each.result.done())

    async def _in_thread(self, call: Callable[[], list[Result | _Failure]]) -> list[Result | _Failure]:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        self._call = self._thread.submit(call)
        return await asyncio.wrap_future(self._call)


@dataclass(frozen=True)
class _Failure:
    error: Exception


def _call(function: Callable[[Sequence[Item]], Sequence[Result]], items: Sequence[Item]) -> list[Result | _Failure]:
    """All results; if a batch fails, each of its items is tried alone, so that one cannot make the others fail."""
    try:
        results = list(function(items))
        if len(results) != len(items):
            raise RuntimeError(f"{len(results)} results for {len(items)} items; expected one each")
        return [*results]
    except BaseException as error:  # noqa: BLE001
        if len(items) == 1:
            return [_Failure(error if isinstance(error, Exception) else RuntimeError(f"the call ended with {error!r}"))]
    return [result for item in items for result in _call(function, [item])]

"""Turns that are asked for at the same time go through the model together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")

LARGEST_BATCH = 64
MOST_PADDED = 64 * LARGEST_BATCH
"""The most that a batch may come to when all its questions are as large as the largest, since they are padded to that."""
MOST_WAITING = 256


class BusyError(Exception):
    """Too much is waiting already."""


class ClosedError(Exception):
    """No more questions are answered."""


@dataclass(frozen=True)
class _Waiting(Generic[Question, Answer]):
    key: str
    question: Question
    size: int
    answer: asyncio.Future[Answer]


class Batcher(Generic[Question, Answer]):
    """Asks functions that answer many questions at once, one call at a time, in a thread of its own.

    A lone question is asked at once. While it is being answered others gather, and go together when the thread is free again.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[[Sequence[Question]], Sequence[Answer]]],
        *,
        largest: int = LARGEST_BATCH,
        padded: int = MOST_PADDED,
        waiting: int = MOST_WAITING,
    ) -> None:
        self._functions = functions
        self._largest, self._most_padded, self._most_waiting = largest, padded, waiting
        self._waiting: deque[_Waiting[Question, Answer]] = deque()
        self._asked: list[_Waiting[Question, Answer]] = []
        self._thread: ThreadPoolExecutor | None = None
        self._call: Future[list[Answer | _Failure]] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a call is under way; nothing can interrupt it."""
        return self._call is not None and not self._call.done()

    async def ask(self, key: str, question: Question, size: int = 1) -> Answer:
        """The answer of the function of that name; an exception that the question alone causes is raised to its asker alone."""
        if self._closed:
            raise ClosedError
        if len(self._waiting) >= self._most_waiting:
            self._forget_the_gone()
        if len(self._waiting) >= self._most_waiting:
            raise BusyError
        loop = asyncio.get_running_loop()
        waiting = _Waiting[Question, Answer](key, question, size, loop.create_future())
        self._waiting.append(waiting)
        if self._pump is None or self._pump.done() or self._pump.get_loop() is not loop:
            self._pump = asyncio.create_task(self._answer_all())
        return await waiting.answer

    def close(self) -> None:
        """Raise ClosedError to all who ask and all who wait; the call that is under way is not waited for."""
        self._closed = True
        if self._pump is not None:
            self._pump.cancel()
        for each in (*self._asked, *self._waiting):
            if not each.answer.done():
                each.answer.set_exception(ClosedError())
        self._waiting.clear()
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)

    def open(self) -> None:
        """Answer again after all."""
        self._closed, self._thread, self._pump = False, None, None

    async def _answer_all(self) -> None:
        while batch := self._next_batch():
            self._asked = batch
            answers: Sequence[Answer | _Failure]
            try:
                answers = await self._in_thread(partial(_answers, self._functions[batch[0].key], [each.question for each in batch]))
            except Exception as error:  # noqa: BLE001
                answers = [_Failure(error)] * len(batch)
            for each, answer in zip(batch, answers, strict=True):
                if each.answer.done():  # whoever asked has gone
                    continue
                if isinstance(answer, _Failure):
                    each.answer.set_exception(answer.error)
                else:
                    each.answer.set_result(answer)

    def _next_batch(self) -> list[_Waiting[Question, Answer]]:
        """The oldest question, and of the others for the same function all that go with it."""
        self._forget_the_gone()
        batch: list[_Waiting[Question, Answer]] = []
        left: deque[_Waiting[Question, Answer]] = deque()
        size = 0
        for each in self._waiting:
            if not batch or self._fits(each, batch, size):
                batch.append(each)
                size = max(size, each.size)
            else:
                left.append(each)
        self._waiting = left
        return batch

    def _fits(self, one: _Waiting[Question, Answer], batch: Sequence[_Waiting[Question, Answer]], size: int) -> bool:
        count = len(batch) + 1
        return one.key == batch[0].key and count <= self._largest and count * max(size, one.size) <= self._most_padded

    def _forget_the_gone(self) -> None:
        self._waiting = deque(each for each in self._waiting if not each.answer.done())

    async def _in_thread(self, call: Callable[[], list[Answer | _Failure]]) -> list[Answer | _Failure]:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        self._call = self._thread.submit(call)
        return await asyncio.wrap_future(self._call)


@dataclass(frozen=True)
class _Failure:
    error: Exception


def _answers(function: Callable[[Sequence[Question]], Sequence[Answer]], questions: Sequence[Question]) -> list[Answer | _Failure]:
    """All answers; where the questions fail together each is asked alone, so that one cannot spoil the others."""
    try:
        answers = list(function(questions))
        if len(answers) != len(questions):
            raise RuntimeError(f"{len(answers)} answers to {len(questions)} questions; expected one each")
        return [*answers]
    except BaseException as error:  # noqa: BLE001
        if len(questions) == 1:
            return [_Failure(error if isinstance(error, Exception) else RuntimeError(f"the call ended with {error!r}"))]
    return [answer for question in questions for answer in _answers(function, [question])]

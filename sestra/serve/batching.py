"""Turns that are asked for at the same time go through the model together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")

LARGEST_BATCH = 64
MOST_WAITING = 1024


class BusyError(Exception):
    """Too much is waiting already."""


@dataclass(frozen=True)
class _Waiting(Generic[Question, Answer]):
    key: str
    question: Question
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
        waiting: int = MOST_WAITING,
    ) -> None:
        self._functions = functions
        self._largest, self._most_waiting = largest, waiting
        self._waiting: deque[_Waiting[Question, Answer]] = deque()
        self._thread: ThreadPoolExecutor | None = None
        self._pump: asyncio.Task[None] | None = None

    async def ask(self, key: str, question: Question) -> Answer:
        """The answer of the function of that name; an exception that the question alone causes is raised to its asker alone."""
        if len(self._waiting) >= self._most_waiting:
            raise BusyError
        loop = asyncio.get_running_loop()
        waiting = _Waiting[Question, Answer](key, question, loop.create_future())
        self._waiting.append(waiting)
        if self._pump is None or self._pump.done() or self._pump.get_loop() is not loop:
            self._pump = asyncio.create_task(self._answer_all())
        return await waiting.answer

    def close(self) -> None:
        """Wait for the call that is under way; a later question begins anew."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)
            self._thread = None

    async def _answer_all(self) -> None:
        while self._waiting:
            taken = [self._waiting.popleft() for _ in range(min(self._largest, len(self._waiting)))]
            wanted = sorted((each for each in taken if not each.answer.done()), key=lambda each: each.key)
            for key, group in groupby(wanted, key=lambda each: each.key):
                batch = list(group)
                answers = await self._in_thread(partial(_answers, self._functions[key], [each.question for each in batch]))
                for each, answer in zip(batch, answers, strict=True):
                    if each.answer.done():  # whoever asked has gone
                        continue
                    if isinstance(answer, _Failure):
                        each.answer.set_exception(answer.error)
                    else:
                        each.answer.set_result(answer)

    async def _in_thread(self, call: Callable[[], list[Answer | _Failure]]) -> list[Answer | _Failure]:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


@dataclass(frozen=True)
class _Failure:
    error: Exception


def _answers(function: Callable[[Sequence[Question]], Sequence[Answer]], questions: Sequence[Question]) -> list[Answer | _Failure]:
    """All answers; where the questions fail together each is asked alone, so that one cannot spoil the others."""
    try:
        return list(function(questions))
    except Exception as error:  # noqa: BLE001
        if len(questions) == 1:
            return [_Failure(error)]
    return [answer for question in questions for answer in _answers(function, [question])]

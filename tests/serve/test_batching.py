"""Questions that come together are asked together."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Sequence

import pytest
from loops import run_alone

from sestra.serve.batching import Batcher, BusyError, ClosedError


def squares(numbers: Sequence[int]) -> list[int]:
    if any(number < 0 for number in numbers):
        raise ValueError(f"negative among {numbers}")
    return [number**2 for number in numbers]


class Gated:
    """Squares that wait for the gate to open; the batches are noted."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self._gate = threading.Event()
        self.open = self._gate.set

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self._gate.wait(20)
        self.batches.append(list(numbers))
        return squares(numbers)


async def submit(batcher: Batcher, *numbers: int) -> list[asyncio.Task[int]]:
    """The tasks of some that come together, a moment later."""
    tasks = [asyncio.create_task(batcher.submit("square", number)) for number in numbers]
    await asyncio.sleep(0.05)
    return tasks


def test_a_lone_question_is_asked_at_once():
    batcher = Batcher({"square": squares})
    assert run_alone(batcher.submit("square", 3)) == 9
    assert run_alone(batcher.submit("square", 4)) == 16  # in another event loop


def test_those_that_wait_go_together_up_to_the_limit():
    gated = Gated()

    async def ask() -> list[int]:
        batcher = Batcher({"square": gated}, largest=4)
        tasks = [*await submit(batcher, 0), *await submit(batcher, *range(1, 11))]
        gated.open()
        return await asyncio.gather(*tasks)

    assert run_alone(ask()) == [number**2 for number in range(11)]
    assert [len(batch) for batch in gated.batches] == [1, 4, 4, 2]


def test_questions_of_several_kinds_are_kept_apart():
    batcher = Batcher({"square": squares, "negative": lambda numbers: [-number for number in numbers]})

    async def ask() -> list[int]:
        return await asyncio.gather(*(batcher.submit(kind, n) for n in range(5) for kind in ("square", "negative")))

    assert run_alone(ask()) == [answer for n in range(5) for answer in (n**2, -n)]


def test_one_that_fails_spoils_no_other():
    batcher = Batcher({"square": squares})

    async def ask() -> list[int | BaseException]:
        return await asyncio.gather(*(batcher.submit("square", n) for n in (1, -2, 3)), return_exceptions=True)

    one, failed, three = run_alone(ask())
    assert (one, three) == (1, 9)
    assert str(failed) == "negative among [-2]"


def test_whoever_goes_away_is_not_waited_for():
    gated = Gated()

    async def ask() -> int:
        batcher = Batcher({"square": gated})
        tasks, late = await submit(batcher, 0, 1, 2), await submit(batcher, 7, 8)
        tasks[1].cancel()
        late[0].cancel()
        gated.open()
        assert [await tasks[0], await tasks[2]] == [0, 4]
        return await late[1]

    assert run_alone(ask()) == 64
    assert gated.batches == [[0, 1, 2], [8]]


def test_too_many_are_turned_away_and_those_who_left_are_not_counted():
    gated = Gated()

    async def ask() -> list[int]:
        batcher = Batcher({"square": gated}, waiting=3)
        tasks = [*await submit(batcher, 0), *await submit(batcher, 1, 2, 3)]
        with pytest.raises(BusyError):
            await batcher.submit("square", 9)
        tasks.pop(1).cancel()
        await asyncio.sleep(0)
        tasks += await submit(batcher, 7)
        gated.open()
        return await asyncio.gather(*tasks)

    assert run_alone(ask()) == [0, 4, 9, 49]


def test_fewer_go_together_where_they_are_large():
    gated, sizes = Gated(), [1, 50, 10, 60, 10, 10, 10, 200, 10]

    async def ask() -> list[int]:
        batcher = Batcher({"square": gated}, largest=4, padded=100)
        tasks = []
        for size in sizes:
            tasks.append(asyncio.create_task(batcher.submit("square", size, size)))
            await asyncio.sleep(0.01)
        gated.open()
        return await asyncio.gather(*tasks)

    assert run_alone(ask()) == squares(sizes)
    assert gated.batches == [[1], [50, 10], [60], [10, 10, 10, 10], [200]]


@pytest.mark.parametrize("wrong", [lambda numbers: [], lambda numbers: [*numbers, 0], lambda numbers: None, lambda numbers: sys.exit()])
def test_a_wrong_number_of_answers_fails_its_askers_alone(wrong: Callable[[Sequence[int]], list[int]]):
    batcher = Batcher({"wrong": wrong, "square": squares})

    async def ask() -> list[int | BaseException]:
        async with asyncio.timeout(5):
            failed = await asyncio.gather(*(batcher.submit("wrong", n) for n in range(3)), return_exceptions=True)
            return [*failed, await batcher.submit("square", 3), *await asyncio.gather(batcher.submit("unknown", 1), return_exceptions=True)]

    *failed, answer, unknown = run_alone(ask())
    assert [isinstance(error, RuntimeError | TypeError) for error in failed] == [True] * 3
    assert answer == 9
    assert isinstance(unknown, KeyError)


def test_closing_refuses_all_and_waits_for_none():
    gated = Gated()

    async def ask() -> tuple[list[int | BaseException], float]:
        batcher = Batcher({"square": gated})
        tasks = [*await submit(batcher, 0), *await submit(batcher, 1, 2)]
        begun = time.monotonic()
        batcher.close()
        answers = await asyncio.gather(*tasks, batcher.submit("square", 3), return_exceptions=True)
        taken = time.monotonic() - begun
        assert batcher.busy
        batcher.close()
        gated.open()
        return answers, taken

    answers, taken = run_alone(ask())
    assert [type(answer) for answer in answers] == [ClosedError] * 4
    assert taken < 1

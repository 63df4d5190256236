"""Running coroutines where the main thread may have an event loop already: the browser tests' Playwright keeps one there."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_alone(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The coroutine's result, from an event loop in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()

"""Waiting for others: threads, processes, servers.

Both functions poll, return the seconds that it took, and raise TimeoutError with the description on
a timeout. `description` ends the sentence "waited in vain until …".
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable

#: Much longer than anything takes on a busy machine.
DEFAULT_TIMEOUT_S = 30.0
POLL_S = 0.01


def wait_until(
    predicate: Callable[[], bool], description: str, timeout_s: float = DEFAULT_TIMEOUT_S
) -> float:
    """Block until `predicate` is true."""
    started_s = time.monotonic()
    while not predicate():
        _check(started_s, description, timeout_s)
        time.sleep(POLL_S)
    return time.monotonic() - started_s


async def until(
    predicate: Callable[[], bool | Awaitable[bool]],
    description: str,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> float:
    """The same without blocking other tasks; `predicate` may be a coroutine function."""
    started_s = time.monotonic()
    while not (await _told(predicate())):
        _check(started_s, description, timeout_s)
        await asyncio.sleep(POLL_S)
    return time.monotonic() - started_s


async def _told(answer: bool | Awaitable[bool]) -> bool:
    return await answer if inspect.isawaitable(answer) else bool(answer)


def _check(started_s: float, description: str, timeout_s: float) -> None:
    if time.monotonic() > started_s + timeout_s:
        raise TimeoutError(f"waited {timeout_s} s in vain until {description}")

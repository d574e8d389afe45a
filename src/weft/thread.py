"""Blocking work off the event loop, so that a slow disk does not block the crawl."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


class WorkThread:
    """One thread that runs blocking calls one after the other; it starts with the first call.

    A call that has begun runs to its end, even if the task that waits for it is cancelled.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, call: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._name)
        return await asyncio.get_running_loop().run_in_executor(self._executor, call, *arguments)

    def stop(self) -> None:
        """Let the thread end after the calls that it was given."""
        if self._executor is not None:
            self._executor.shutdown(wait=False)
            self._executor = None

"""Wakes the rounds when there is something to do, and says whether anything is left to do."""

import asyncio
from contextlib import suppress


class Activity:
    def __init__(self) -> None:
        self._work = asyncio.Event()
        #: Starts the next round soon.
        self.wake = self._work.set
        #: Something has changed here since the last check whether everything is done.
        self.is_changed = True
        #: Nothing was left to do, here or in the frontier, when a round last checked.
        self.is_settled = False

    def note(self) -> None:
        """There is something new to do."""
        self.is_settled = False
        self.is_changed = True
        self.wake()

    @property
    def is_finished(self) -> bool:
        """Whether the last round found nothing left to do; if not, check again soon."""
        if not self.is_settled:
            self.wake()
        return self.is_settled

    def begin_round(self) -> None:
        """Whatever wakes the rounds from now on is for the next one."""
        self._work.clear()

    async def wait(self, timeout_s: float) -> None:
        """Wait until the next round is needed, but no longer than this."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._work.wait()

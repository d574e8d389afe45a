"""The sink of an export: stores its items, and decides when they are shown."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from math import inf
from pathlib import Path

from weft.clock import monotonic_s
from weft.errors import SinkDownError, StoreError, StoreLockedError, StoreMissingError
from weft.sinks.base import KeyedItem, Refusal
from weft.sinks.files.base import Outlet
from weft.sinks.files.state import is_behind
from weft.sinks.readback import Query, StoredItem
from weft.sinks.sqlite.sink import SqliteSink
from weft.thread import WorkThread

logger = logging.getLogger(__name__)


class ExportSink:
    """A `Sink` that stores items in `journal`, a file of ours, and shows them through `outlet`."""

    def __init__(self, journal: Path, job: str, outlet: Outlet) -> None:
        self.place = outlet.place
        self._path = journal
        self._journal = SqliteSink(journal, job)
        self._outlet = outlet
        # Not the journal's thread: items are stored while others are being shown.
        self._thread = WorkThread("weft-export")
        #: Whether there may be something to show when it is closed.
        self._is_due_last = False
        self._showing: asyncio.Task[None] | None = None
        self._shown_at_s = -inf
        self._unshown_items = 0
        self._has_warned = False

    async def open(self) -> None:
        try:
            await self._journal.open()
            await self._open_outlet()
            # A killed process may have left items.
            self._is_due_last = await self._thread.run(lambda: is_behind(self._path))
        except BaseException:
            await self._close()
            raise
        self._shown_at_s = monotonic_s()

    async def store(self, items: Sequence[KeyedItem]) -> Sequence[Refusal]:
        refusals = await self._journal.store(items)
        self._is_due_last = True
        self._unshown_items += len(items)
        if self._is_due():
            self._showing = asyncio.create_task(self._show())
        return refusals

    async def clear(self) -> None:
        await self._journal.clear()
        try:
            await self._thread.run(self._outlet.clear)
        except SinkDownError as problem:
            logger.warning("%s. What an earlier crawl put there is replaced later", problem)

    async def close(self) -> None:
        is_due, self._is_due_last = self._is_due_last, False
        try:
            await self._journal.close()  # everything stored is in it now
            await self._end_showing()
            if is_due:
                await self._show_last()
        finally:
            await self._close()

    async def read(self, query: Query) -> AsyncIterator[StoredItem]:
        """Read from the journal: the output may be remote, and cannot be read piece by piece."""
        if not self._path.exists():
            raise StoreMissingError(
                f"the items of {self.place} can be read back only on the machine that crawled "
                f"them, through the job that did; there is no {self._path}"
            )
        async for item in self._journal.read(query):
            yield item

    async def _open_outlet(self) -> None:
        """A server that is down blocks nothing, because it is not needed before the end."""
        try:
            await self._thread.run(self._outlet.open)
            self._has_warned = False
        except SinkDownError as problem:
            self._warn(problem)

    async def _close(self) -> None:
        try:
            await self._journal.close()
            await self._thread.run(self._outlet.close)
        finally:
            self._thread.stop()

    def _is_due(self) -> bool:
        if self._showing is not None or not self._unshown_items:
            return False
        is_late = monotonic_s() - self._shown_at_s >= self._outlet.every_s
        return is_late or self._unshown_items >= self._outlet.every_items

    async def _show(self) -> None:
        """Show while the crawl runs; a failure here does not stop it."""
        self._unshown_items = 0
        try:
            await self._thread.run(self._show_now)
            self._has_warned = False
        except StoreLockedError:
            pass  # another process is showing, or we are closing
        except StoreError as problem:
            self._warn(problem)
        finally:
            self._shown_at_s = monotonic_s()
            self._showing = None

    def _warn(self, problem: StoreError) -> None:
        """Log once, until it works again."""
        if not self._has_warned:
            logger.warning(
                "%s. The crawl goes on: its items are safe in %s, and Weft will try again",
                *(problem, self._path),
            )
        self._has_warned = True

    def _show_now(self) -> None:
        self._outlet.show(is_last=False)

    async def _end_showing(self) -> None:
        if self._showing is not None:
            self._outlet.abandon()
            await asyncio.wait([self._showing])

    async def _show_last(self) -> None:
        try:
            await self._thread.run(lambda: self._outlet.show(is_last=True))
        except StoreError as problem:
            raise type(problem)(
                f"{problem}. All items are safe in {self._path}; run the same command again to put "
                "them there"
            ) from problem

"""The boards of a crawl as they are now: they may be added, changed, paused and removed meanwhile.

What happens to their pages is counted here, and told to the store every second. A worker that is
killed has not told the last second: these counts are for people, and nothing depends on them.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from hashlib import blake2b

from weft.boards.board import Board, urls_of
from weft.boards.experience import Experience
from weft.boards.store import (
    BoardReport,
    BoardStatistics,
    BoardStore,
    StoredBoard,
)
from weft.boards.traps import Traps
from weft.clock import SystemClock, monotonic_s
from weft.engine.boards.notes import BoardNotes
from weft.errors import StoreError

logger = logging.getLogger(__name__)

#: How soon a change of the boards is noticed, and what was counted is told.
LOOK_S = 1.0
#: How long what is being told may still take when the crawl ends.
CLOSE_S = 10.0
#: Entries are put in again once in this time, whatever happened to them.
INJECT_S = 300.0


class LiveBoard:
    """A board, and what this worker knows of its pages."""

    def __init__(self, stored: StoredBoard, statistics: BoardStatistics) -> None:
        self.change(stored)
        self.experience = Experience(statistics.votes)
        self.traps = Traps(SystemClock())
        self.notes = BoardNotes()
        self._pages = statistics.counts.get("pages", 0)

    def change(self, stored: StoredBoard) -> None:
        self.board = stored.board
        self.is_paused = stored.is_paused
        self.added_at_ms = stored.added_at_ms

    @property
    def number(self) -> int:
        """Of this board alone: one that was removed and is added again is another."""
        named = f"{self.board.name} {self.added_at_ms}".encode()
        return int.from_bytes(blake2b(named, digest_size=8).digest(), "big")

    @property
    def has_enough(self) -> bool:
        """Whether it has had all the pages that it may have."""
        limit = self.board.limits.pages
        return limit is not None and self._pages + self.notes.counted("pages") >= limit

    def know_pages(self, pages: int) -> None:
        """So many pages are known to the store, of all workers."""
        self._pages = pages

    def report(self) -> BoardReport | None:
        """What the store has not been told yet; None: nothing."""
        for reason, url in self.traps.take_new_reasons().items():
            self.notes.add_problem(url, f"such links are left out: {reason}")
        for pattern in urls_of(self.board).slow_patterns():
            self.notes.add_problem_of_site(
                "", f"{pattern.source} takes too long on some addresses, which do not match then"
            )
        self.notes.add_votes(self.experience.take_new_votes())
        report = self.notes.report()
        return report if report.counts or report.votes or report.problems else None

    def note_told(self, report: BoardReport) -> None:
        """The store has been told."""
        self._pages += report.counts.get("pages", 0)
        self.notes.forget(report)


class LiveBoards:
    def __init__(
        self,
        store: BoardStore,
        inject: Callable[[LiveBoard], None],
        after_load: Callable[[Iterable[Board]], None],
    ) -> None:
        """`inject` puts the entries of a board into the frontier, unless they are known there."""
        self._store = store
        self._inject = inject
        self._after_load = after_load
        self._revision = -1
        self._boards: dict[str, LiveBoard] = {}
        self._inject_at_s = 0.0
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def get(self, name: str) -> LiveBoard | None:
        """None if it was removed."""
        return self._boards.get(name)

    def all(self) -> list[LiveBoard]:
        return list(self._boards.values())

    async def load(self) -> None:
        """Read the boards as they are now."""
        self._revision = await self._store.revision()
        stored = {each.board.name: each for each in await self._store.boards()}
        new = [name for name in stored if name not in self._boards]
        for name, statistics in zip(new, await self._store.statistics(new), strict=True):
            self._boards[name] = LiveBoard(stored[name], statistics)
        for name in [*self._boards]:
            if name in stored:
                self._boards[name].change(stored[name])
            else:
                del self._boards[name]
        self._after_load([live.board for live in self._boards.values()])

    def follow(self) -> None:
        """Put in the entries, notice changes, and tell what was counted, until `close`."""
        self._put_in()
        self._task = asyncio.ensure_future(self._follow())

    def _put_in(self) -> None:
        self._inject_at_s = monotonic_s() + INJECT_S
        for live in self._boards.values():
            if not live.is_paused:
                self._inject(live)

    async def close(self) -> None:
        """What is being told is told to its end, for it would not be told again."""
        self._closing.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=CLOSE_S)
            self._task.cancel()
        try:
            await self._tell()
        except StoreError as error:
            logger.warning("the last counts of boards are lost: %s", error)

    async def _follow(self) -> None:
        while not await self._closes_within(LOOK_S):
            try:
                await self._tell()
                await self._look()
            except StoreError as error:  # the frontier is there too, and waits for it
                logger.warning("boards are not up to date: %s", error)

    async def _closes_within(self, seconds: float) -> bool:
        try:
            return await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return False

    async def _look(self) -> None:
        is_changed = await self._store.revision() != self._revision
        if is_changed:
            await self.load()
        if is_changed or monotonic_s() >= self._inject_at_s:
            self._put_in()

    async def _tell(self) -> None:
        """What could not be told is told the next time."""
        reports = {name: live.report() for name, live in self._boards.items()}
        told = {name: report for name, report in reports.items() if report is not None}
        if not told:
            return
        await self._store.note(told)
        live_ones = {name: self._boards[name] for name in told if name in self._boards}
        for name, live in live_ones.items():
            live.note_told(told[name])
        limited = [name for name, live in live_ones.items() if live.board.limits.pages is not None]
        found = await self._store.statistics(limited, has_votes=False) if limited else []
        for name, statistics in zip(limited, found, strict=True):
            live_ones[name].know_pages(statistics.counts.get("pages", 0))

"""What is counted of boards reaches the store, also at the end."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from weft.boards.board import Board
from weft.boards.store import BoardReport, BoardStatistics, StoredBoard
from weft.engine.boards import live as module
from weft.engine.boards.live import LiveBoards
from weft.errors import StoreError

NAME = "news"


class SlowStore:
    """A store that takes its time to note a report."""

    def __init__(self) -> None:
        self.is_noting = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self.counts: Counter[str] = Counter()

    async def revision(self) -> int:
        return 1

    async def boards(self) -> list[StoredBoard]:
        return [StoredBoard(Board(NAME, ("https://x.example/",)), "", False, 1, 1, 1)]

    async def statistics(self, names: Sequence[str], **_: bool) -> list[BoardStatistics]:
        return [BoardStatistics() for _ in names]

    async def note(self, reports: Mapping[str, BoardReport]) -> None:
        self.is_noting.set()
        await self.may_go_on.wait()
        self.counts.update(reports[NAME].counts)


async def check_close(store: SlowStore) -> None:
    boards = LiveBoards(store, lambda _: None, lambda _: None)  # type: ignore[arg-type] # only what is needed
    await boards.load()
    boards.follow()
    live = boards.get(NAME)
    assert live is not None
    live.notes.count("pages", 3)
    await store.is_noting.wait()
    live.notes.count("pages", 2)
    closing = asyncio.create_task(boards.close())
    await asyncio.sleep(0)
    store.may_go_on.set()
    await closing
    assert store.counts["pages"] == 5


def test_what_is_being_told_when_the_crawl_ends_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.001)

    async def run() -> None:
        await check_close(SlowStore())

    asyncio.run(run())


class BrokenStore(SlowStore):
    """A store that cannot be reached at first."""

    async def note(self, reports: Mapping[str, BoardReport]) -> None:
        if not self.is_noting.is_set():
            self.is_noting.set()
            raise StoreError("away")
        self.counts.update(reports[NAME].counts)
        self.counts.update(problem.what for problem in reports[NAME].problems)


def test_what_could_not_be_told_is_told_later() -> None:
    store = BrokenStore()

    async def run() -> None:
        boards = LiveBoards(store, lambda _: None, lambda _: None)  # type: ignore[arg-type]
        await boards.load()
        live = boards.get(NAME)
        assert live is not None
        live.notes.count("pages", 3)
        live.notes.add_problem("", "too large")
        await boards.close()
        live.notes.count("pages", 2)
        await boards.close()
        await boards.close()

    asyncio.run(run())
    assert store.counts == {"pages": 5, "too large": 1}

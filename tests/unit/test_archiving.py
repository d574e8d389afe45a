"""Raw pages on their way into archives: safe before their claim is finished, and never too many."""

from collections.abc import Sequence

import pytest

from buffering import Crawl, item, link
from weft.engine.claims import buffer, pace
from weft.errors import StoreFullError
from weft.sinks.archive import RawPage

pytestmark = pytest.mark.timeout(20)

PAGE = RawPage("http://a/1", 200, (), b"<p>", 1)


class MemoryArchive:
    place = "memory"

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.pages: list[RawPage] = []
        self.error: Exception | None = None

    async def open(self) -> None: ...

    async def store(self, pages: Sequence[RawPage]) -> None:
        self.calls.append(f"archive {len(pages)}")
        if self.error is not None:
            raise self.error
        self.pages += pages

    async def clear(self) -> None: ...

    async def close(self) -> None: ...


class ArchivingCrawl(Crawl):
    def __init__(self) -> None:
        self.archive = MemoryArchive()
        super().__init__(archives=[self.archive])
        self.archive.calls = self.calls


@pytest.fixture(autouse=True)
def _short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "ROUND_S", 0.0)
    monkeypatch.setattr(pace, "EASY_ROUND_S", 0.0)


async def test_pages_are_archived_before_their_claim_is_finished() -> None:
    crawl = ArchivingCrawl()
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        claim = await crawl.taken()
        crawl.calls.clear()
        crawl.buffer.put_page(PAGE)
        crawl.buffer.put_item(item(1))
        crawl.end(claim)
        await crawl.next_round()
    calls = [call for call in crawl.calls if not call.startswith("claim")]
    assert sorted(calls[:2]) == ["archive 1", "store 1"]
    assert calls[2] == "finish 1"
    assert crawl.archive.pages == [PAGE]
    assert (crawl.delivery.items, crawl.delivery.pages) == (1, 1)


async def test_pages_without_items_bother_no_sink() -> None:
    crawl = ArchivingCrawl()
    async with crawl.running():
        crawl.buffer.put_page(PAGE)
        await crawl.next_round()
    assert crawl.archive.pages == [PAGE]
    assert not [call for call in crawl.calls if call.startswith("store")]


async def test_a_claim_whose_page_cannot_be_archived_is_not_finished() -> None:
    crawl = ArchivingCrawl()
    crawl.archive.error = StoreFullError("no space left")
    async with crawl.running():
        crawl.buffer.put_link(link("http://a/1"))
        claim = await crawl.taken()
        crawl.buffer.put_page(PAGE)
        crawl.end(claim)
        await crawl.next_round()
        assert crawl.rounds.error is crawl.archive.error
    assert not crawl.door.outcomes


async def test_nothing_more_is_fetched_while_too_much_waits_for_the_archives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(buffer, "MAX_PAGES_BYTES", 2)

    crawl = ArchivingCrawl()
    async with crawl.running():
        for number in range(3):
            crawl.buffer.put_link(link(f"http://a{number}/"))
        await crawl.taken()
        assert crawl.supply.may_take
        crawl.buffer.put_page(PAGE)
        assert not crawl.supply.may_take
        assert crawl.supply.take() is None
        await crawl.next_round()
        assert crawl.supply.may_take

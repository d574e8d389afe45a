"""Turns the links of a board's pages into requests."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from scrapy import Request

from weft.boards.following import Following, choose_links
from weft.boards.foundas import FoundAs
from weft.boards.reading.reading import Reading
from weft.boards.tracking import clean_url
from weft.engine.boards.boardpage import BoardPage
from weft.engine.boards.context import PageContext
from weft.engine.boards.live import LiveBoard
from weft.engine.requests.follow import FollowAll


class FollowPages:
    def __init__(self, parse: Any, fail: Any) -> None:
        """The callback and the errback of all requests."""
        self._parse = parse
        self._fail = fail

    def request(self, url: str, context: PageContext, kind: str) -> Request:
        return Request(
            url,
            callback=self._parse,
            errback=self._fail,
            cb_kwargs=context.packed(),
            meta={"weft_kind": kind, "depth": context.depth},
        )

    def note_links(self, page: BoardPage, reading: Reading) -> None:
        """Remember how a page links to others: it says what they are."""
        clean = _Clean(page.live)
        topics = [clean(link.url) for link in reading.links]
        page.live.experience.note_links(map(clean, reading.all_links), topics)

    def links(self, page: BoardPage, reading: Reading) -> Iterator[FollowAll]:
        """What a list leads to."""
        is_deep = page.context.depth >= page.live.board.depth
        chosen = self._choose(page, reading, reading.next, reading.all_links, is_deep=is_deep)
        yield from self._batches(page, chosen)

    def topics(self, page: BoardPage, reading: Reading) -> Iterator[FollowAll]:
        """Only the articles that a page leads to."""
        yield from self._batches(page, self._choose(page, reading, (), (), is_deep=True))

    def listed(
        self, page: BoardPage, urls: Sequence[str], found_as: FoundAs
    ) -> Iterator[FollowAll]:
        """The pages that a feed or a sitemap names."""
        chosen = choose_links(
            page.live.board,
            topics=urls,
            further=(),
            links=(),
            is_deep=True,
            clean=_Clean(page.live),
            own_url=page.url,
            reason_against=page.live.traps.reason_against,
        )
        if chosen.articles:
            yield self._batch(page.live, chosen.articles, found_as, "data", page.context.depth + 1)

    def files(self, page: BoardPage, urls: Sequence[str], found_as: FoundAs) -> FollowAll:
        """Feeds and sitemaps."""
        return self._batch(page.live, urls, found_as, "nav", page.context.depth)

    def _choose(
        self,
        page: BoardPage,
        reading: Reading,
        further: Sequence[str],
        links: Sequence[str],
        *,
        is_deep: bool,
    ) -> Following:
        chosen = choose_links(
            page.live.board,
            topics=[link.url for link in reading.links],
            further=further,
            links=links,
            is_deep=is_deep,
            clean=_Clean(page.live),
            own_url=reading.url,
            reason_against=page.live.traps.reason_against,
        )
        page.live.notes.count("jumps", len(chosen.jumps))
        page.live.notes.count("traps", chosen.traps.total())
        return chosen

    def _batches(self, page: BoardPage, chosen: Following) -> Iterator[FollowAll]:
        depth = page.context.depth
        if chosen.articles:
            yield self._batch(page.live, chosen.articles, FoundAs.TOPIC, "data", depth + 1)
        if chosen.jumps:
            yield self._batch(page.live, chosen.jumps, FoundAs.JUMP, "data", depth + 1)
        if chosen.further:
            yield self._batch(page.live, chosen.further, FoundAs.NEXT, "nav", depth)
        if chosen.others:
            yield self._batch(page.live, chosen.others, FoundAs.LINK, "nav", depth + 1)

    def _batch(
        self,
        live: LiveBoard,
        urls: Sequence[str],
        found_as: FoundAs,
        kind: Literal["data", "nav"],
        depth: int,
    ) -> FollowAll:
        context = PageContext(live.board.name, found_as, depth, browser=live.board.browser is True)
        return FollowAll(
            urls,
            callback=self._parse,
            errback=self._fail,
            kind=kind,
            cb_kwargs=context.packed(),
            depth=depth,
        )


class _Clean:
    """URLs without what is of no account to a board."""

    def __init__(self, live: LiveBoard) -> None:
        self._tracking = live.board.tracking

    def __call__(self, url: str) -> str:
        return clean_url(url, self._tracking)

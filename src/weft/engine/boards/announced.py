"""Feeds and sitemaps: what a site announces, and what they name."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import msgspec
from scrapy.http import Response

from weft.boards.feeds import (
    looks_like_feed,
    looks_like_sitemap,
    read_feed,
    read_sitemap,
    robots_sitemaps,
)
from weft.boards.foundas import FoundAs
from weft.boards.reading.reading import Reading
from weft.boards.refresh import PageVisit
from weft.engine.boards.boardpage import BoardPage, content_type_of
from weft.engine.boards.followpages import FollowPages
from weft.engine.boards.visitplans import VisitPlans
from weft.engine.requests.follow import FollowAll

ROBOTS = "/robots.txt"
SITEMAP = "/sitemap.xml"


class AnnouncedPages:
    def __init__(self, follow: FollowPages, visits: VisitPlans) -> None:
        self._follow = follow
        self._visits = visits

    def is_announced(self, page: BoardPage, response: Response) -> bool:
        """Whether an answer is a feed or a sitemap, or leads to one."""
        if page.context.found_as is FoundAs.SITEMAP:
            return True
        return looks_like_feed(response.body, content_type_of(response))

    def requests(
        self, page: BoardPage, response: Response, reading: Reading
    ) -> Iterator[FollowAll]:
        """The feeds that a list announces, and the sitemaps of the site if it is its home page."""
        board = page.live.board
        if board.feeds and reading.feeds:
            yield self._follow.files(page, reading.feeds, FoundAs.FEED)
        if board.sitemaps and page.is_entry and urlsplit(response.url).path == "/":
            yield self._follow.files(page, [response.urljoin(ROBOTS)], FoundAs.SITEMAP)

    def instead(self, page: BoardPage, response: Response) -> Iterator[FollowAll]:
        """A site without robots.txt may have a sitemap all the same."""
        if page.context.found_as is FoundAs.SITEMAP and urlsplit(response.url).path == ROBOTS:
            yield self._follow.files(page, [response.urljoin(SITEMAP)], FoundAs.SITEMAP)

    async def read(
        self, page: BoardPage, response: Response, visit: PageVisit
    ) -> AsyncIterator[FollowAll]:
        """What a feed or a sitemap names. Raises PageError."""
        page.live.notes.count("feeds" if page.context.found_as is FoundAs.FEED else "sitemaps")
        if urlsplit(response.url).path == ROBOTS:
            self._visits.plan_list(page, visit, has_topics=True)
            urls = robots_sitemaps(response.body.decode("utf-8", "replace"))
            yield self._follow.files(page, urls or [response.urljoin(SITEMAP)], FoundAs.SITEMAP)
        elif looks_like_sitemap(response.body):
            # In a thread, for a full one takes more than a second.
            sitemap = await asyncio.to_thread(read_sitemap, response.body, response.url)
            self._visits.plan_list(page, visit, has_topics=True)
            if sitemap.sitemaps:
                yield self._follow.files(page, sitemap.sitemaps, FoundAs.SITEMAP)
            urls = [each.url for each in sitemap.pages]
            for found in self._follow.listed(page, urls, FoundAs.LISTED):
                yield found
        else:
            feed = await asyncio.to_thread(read_feed, response.body, response.url)
            visit = msgspec.structs.replace(visit, hint_s=feed.ttl_s)
            self._visits.plan_list(page, visit, has_topics=True)
            urls = [each.url for each in feed.entries]
            for found in self._follow.listed(page, urls, FoundAs.TOPIC):
                yield found
            if feed.next:
                yield self._follow.files(page, [feed.next], FoundAs.FEED)

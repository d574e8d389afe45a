"""Weft: the frontier on Redis, used as the engine uses it.

What Scrapy yields is packed as in the engine's scheduler, and added in batches of several pages;
what is claimed becomes a Scrapy request again, and is finished in batches.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from bench.contestant import DEPTH, Found, make_crawler, usual_requests
from bench.workload import Page
from weft.engine.claims.fates import Fates
from weft.engine.requests.adder import RECENT
from weft.engine.requests.fingerprint import Fingerprinter
from weft.engine.requests.follow import FollowAll
from weft.engine.requests.intake import Intake
from weft.engine.requests.pack import Packer
from weft.engine.requests.positions import Position
from weft.engine.requests.recent import RecentNumbers
from weft.engine.requests.rules import LinkRules
from weft.engine.scrapy.inprogress import InProgress
from weft.engine.settings import JobConfig, read_settings
from weft.engine.target import SITE_SETTINGS
from weft.errors import FingerprintError
from weft.frontier.redis import RedisFrontier
from weft.records import Ending, Outcome, PackedRequest, Stats

OWNER = "bench:1:0000"


class Way(NamedTuple):
    """How a crawl uses the frontier."""

    name: str
    #: The spider yields plain links, as that of `weft crawl URL` does.
    has_links: bool = False
    #: Links that this process has recently passed on are dropped before the frontier.
    has_recent: bool = False
    #: Pages whose links are added together.
    pages: int = 10
    #: Requests that are claimed and finished together: the default size of a worker's buffer.
    claims: int = 192


class OnWeft:
    queue_keys: Sequence[str] = (
        "weft:*:queue:*",
        "weft:*:levels:*",
        "weft:*:hosts",
        "weft:*:ready",
    )

    def __init__(self, url: str, way: Way, **settings: Any) -> None:
        self.name = way.name
        self._way = way
        site = dict(SITE_SETTINGS) if way.has_links else {}
        self._crawler, self._spider = make_crawler(
            {"ADDONS": {"weft.Addon": 500}, "WEFT_STORE": url, "WEFT_JOB": way.name}
            | site
            | settings
        )
        self._config = read_settings(self._crawler.settings, "bench")
        self._frontier = RedisFrontier(url, self._config.job, self._config.frontier)
        self._packer = Packer(self._spider)
        self._intake = _intake(self._crawler, self._packer, self._config)
        self._recent = RecentNumbers(RECENT)
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        self._runner.run(self._frontier.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._runner.run(self._frontier.__aexit__(kind, error, trace))
        self._runner.close()

    def stats(self) -> Stats:
        return self._runner.run(self._frontier.stats())

    def queued(self) -> int:
        return self.stats().queued

    # Adding

    def find(self, pages: Iterable[Page]) -> list[Found]:
        return [
            Found(
                Request(page.url),
                page.links,
                [] if self._way.has_links else usual_requests(page, self._spider),
            )
            for page in pages
        ]

    def add(self, found: Sequence[Found]) -> None:
        self._runner.run(self._add(found))

    async def _add(self, found: Sequence[Found]) -> None:
        for first in range(0, len(found), self._way.pages):
            batch = found[first : first + self._way.pages]
            await self._frontier.add([packed for page in batch for packed in self._pack(page)])

    def _pack(self, page: Found) -> Iterator[PackedRequest]:
        if self._way.has_links:
            response = Response(page.page.url, request=page.page)
            response.meta["depth"] = DEPTH - 1
            packed = self._intake.pack_links(
                response, page.urls, FollowAll(()), LinkRules(), _refuse
            )
        else:
            packed = self._pack_requests(page)
        for request in packed:
            if not self._way.has_recent or self._recent.add(request.fingerprint):
                yield request

    def _pack_requests(self, page: Found) -> Iterator[PackedRequest]:
        """What PositionMiddleware and the scheduler do with each request."""
        found_on = self._intake.page_of(page.page)
        for number, request in enumerate(page.requests):
            self._intake.found_at[request] = Position(found_on, number)
            yield self._intake.pack(request)
        self._crawler.stats.inc_value("scheduler/enqueued", len(page.requests))

    # Claiming and finishing

    def take(self, many: int) -> list[Request]:
        return self._runner.run(self._take(many))

    async def _take(self, many: int) -> list[Request]:
        requests: list[Request] = []
        while len(requests) < many:
            limit = min(self._way.claims, many - len(requests))
            claims = (await self._frontier.claim(OWNER, limit)).claims
            if not claims:
                break
            for claim in claims:
                packed = claim.request
                requests.append(self._packer.unpack(packed.url, packed.priority, packed.payload))
            self._crawler.stats.inc_value("scheduler/dequeued", len(claims))
            outcomes = [Outcome(c.token, Ending.DONE, status=200, sent_ago_ms=0) for c in claims]
            await self._frontier.finish(outcomes)
        return requests


def _intake(crawler: Crawler, packer: Packer, config: JobConfig) -> Intake:
    """As a crawl makes it; no request is ever in Scrapy's hands."""
    fates = Fates(InProgress(crawler), downloaded=lambda host: None)
    return Intake(Fingerprinter(crawler, config.fingerprint_headers), packer, fates)


def _refuse(error: FingerprintError, url: str) -> None:
    raise error

"""How a crawl gets from scrapy-redis into a frontier.

First the queue, then the dupefilter, but for the fingerprints of what is queued: scrapy-redis makes
requests known when it queues them, and so does a frontier. Nothing is taken away from the source,
and whatever is there already is known: an import that was cut short, or done before, can be done
again. A queue that cannot be read completely keeps the dupefilter out: the fingerprints of the
entries that were skipped are in it, and would make them known without their being queued.
"""

from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from enum import Enum, auto

import msgspec

from weft.engine.fingerprint import short_fingerprint
from weft.engine.hostkeys import ByName, HostKeys
from weft.engine.scrapyredis.entries import EntryError
from weft.engine.scrapyredis.packing import Packing
from weft.engine.scrapyredis.source import Source
from weft.errors import ConfigError, PackError
from weft.frontier import Frontier
from weft.records import AddStatus, Order, PackedRequest

#: Skipped entries that are told in detail.
MAX_REASONS = 5

_FINGERPRINTER = '"weft.engine.fingerprint.ScrapyRedisFingerprinter"'
_OR_QUEUE_ONLY = (
    "or import without the dupefilter (--queue-only): pages that were fetched before are then "
    "fetched again where they are found"
)


class Dupefilter(Enum):
    """What became of it."""

    NOT_WANTED = auto()
    EMPTY = auto()
    LEARNED = auto()
    #: Left out, because entries of the queue were skipped.
    LEFT_OUT = auto()


class Result(msgspec.Struct):
    """How far an import has come."""

    #: Entries in the queue of scrapy-redis.
    total: int = 0
    queued: int = 0
    known: int = 0
    skipped: int = 0
    #: Why the first entries were skipped.
    reasons: list[str] = []
    learned: int = 0
    dupefilter: Dupefilter = Dupefilter.NOT_WANTED

    @property
    def read(self) -> int:
        return self.queued + self.known + self.skipped


class Transfer:
    """One import; `check` comes first, then `run`."""

    def __init__(
        self,
        packing: Packing,
        *,
        is_queue_only: bool = False,
        is_giving_up: bool = False,
        watch: Callable[[Result], None] = lambda result: None,
    ) -> None:
        self._packing = packing
        self._is_queue_only = is_queue_only
        self._is_giving_up = is_giving_up
        self._watch = watch
        self.result = Result()
        # What the dupefilter has because it is queued.
        self._queued: set[int] = set()
        self._has_dupefilter = False

    async def check(self, source: Source) -> None:
        """Whether the dupefilter can be brought along, before anything is written: requests that
        were added with other fingerprints would be added again."""
        self.result.total, known = await source.look()
        self._has_dupefilter = bool(known) and not self._is_queue_only
        if not self._has_dupefilter:
            return
        if not self._packing.has_own_fingerprints:
            raise ConfigError(
                f"the dupefilter holds {known:,} fingerprints of scrapy-redis, and Weft's own are "
                f"others; set REQUEST_FINGERPRINTER_CLASS = {_FINGERPRINTER} in the settings of "
                f"the project and keep it there, {_OR_QUEUE_ONLY}"
            )
        if not await self._is_same_fingerprinter(source):
            raise ConfigError(
                "the fingerprints of what is queued are not in the dupefilter: they were not made "
                f"by REQUEST_FINGERPRINTER_CLASS; set it to {_FINGERPRINTER} for scrapy-redis 0.9 "
                f"(see docs/scrapy-redis.md for older ones), {_OR_QUEUE_ONLY}"
            )

    async def _is_same_fingerprinter(self, source: Source) -> bool:
        """Judged by the first requests of the queue; without any there is nothing to judge by."""
        async for page in source.queue(is_reversed=False):
            if digests := list(self._digests(page)):
                return any(await source.are_known(digests))
        return True

    def _digests(self, page: Sequence[bytes]) -> Iterator[bytes]:
        for raw in page:
            try:
                digest = self._packing.digest(raw)
            except EntryError:
                continue
            if digest is not None:
                yield digest

    async def run(
        self, source: Source, frontier: Frontier | None, keys: HostKeys | None = None
    ) -> Result:
        """Without a frontier it is a rehearsal; without host keys these are host names."""
        keys = keys or ByName()
        async for requests in self._requests(source):
            statuses = await frontier.add(await keys.keyed(requests)) if frontier else None
            self._count(requests, statuses)
            self._watch(self.result)
        self.result.dupefilter = await self._bring_dupefilter(source, frontier)
        return self.result

    async def _requests(self, source: Source) -> AsyncIterator[list[PackedRequest]]:
        """In such an order that they will be served as scrapy-redis would have."""
        is_newest_first = self._packing.config.frontier.order is Order.DFS
        number = 0
        async for page in source.queue(is_reversed=is_newest_first):
            requests = []
            for raw in page:
                number += 1
                try:
                    requests.append(self._packing.pack(raw))
                except EntryError as problem:
                    self._skip(f"entry {number} {problem}")
                except PackError as problem:
                    self._skip(f"entry {number}: {problem}")
            yield requests

    def _skip(self, reason: str) -> None:
        self.result.skipped += 1
        if len(self.result.reasons) < MAX_REASONS:
            self.result.reasons.append(reason)

    def _count(
        self, requests: Sequence[PackedRequest], statuses: Sequence[AddStatus] | None
    ) -> None:
        queued = len(requests) if statuses is None else statuses.count(AddStatus.QUEUED)
        self.result.queued += queued
        self.result.known += len(requests) - queued
        if self._has_dupefilter:
            self._queued |= {r.fingerprint for r in requests if not r.url_fingerprint}

    async def _bring_dupefilter(self, source: Source, frontier: Frontier | None) -> Dupefilter:
        if self._is_queue_only:
            return Dupefilter.NOT_WANTED
        if not self._has_dupefilter:
            return Dupefilter.EMPTY
        if self.result.skipped and not self._is_giving_up:
            return Dupefilter.LEFT_OUT
        numbers = array("q")
        async for page in source.digests():
            numbers.extend(
                number for number in map(short_fingerprint, page) if number not in self._queued
            )
        if frontier:
            await frontier.learn(numbers)
        self.result.learned = len(numbers)
        return Dupefilter.LEARNED

"""Moves a crawl from scrapy-redis into a frontier.

First the queue, then the dupefilter, without the fingerprints of what is queued: scrapy-redis makes
requests known when it queues them, and so does a frontier. Nothing is removed from the source, and
requests that are already in the frontier are known: an import that was cut short, or done before,
can be repeated. If the queue cannot be read completely, the dupefilter is left out: it has the
fingerprints of the skipped entries, and would make them known although they are not queued.
"""

from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from weft.engine.politeness.hostkeys import ByName, HostKeys
from weft.engine.requests.fingerprint import short_fingerprint
from weft.errors import ConfigError, PackError
from weft.frontier import FrontierBackend
from weft.records import AddStatus, Order, PackedRequest
from weft.scrapyredis.entries import EntryError
from weft.scrapyredis.packing import Packing
from weft.scrapyredis.result import MAX_REASONS, Dupefilter, TransferResult
from weft.scrapyredis.source import Source

_FINGERPRINTER = '"weft.scrapyredis.fingerprinter.ScrapyRedisFingerprinter"'
_OR_QUEUE_ONLY = (
    "or import without the dupefilter (--queue-only): pages that were fetched before are then "
    "fetched again where they are found"
)


class Transfer:
    """One import; `check` comes first, then `run`."""

    def __init__(
        self,
        packing: Packing,
        *,
        is_queue_only: bool = False,
        is_giving_up: bool = False,
        watch: Callable[[TransferResult], None] = lambda result: None,
    ) -> None:
        self._packing = packing
        self._is_queue_only = is_queue_only
        self._is_giving_up = is_giving_up
        self._watch = watch
        self.result = TransferResult()
        # Fingerprints that the dupefilter has because their requests are queued.
        self._queued: set[int] = set()
        self._has_dupefilter = False

    async def check(self, source: Source) -> None:
        """Raises ConfigError if the dupefilter cannot be imported, before anything is written:
        requests that were added with other fingerprints would be added again."""
        self.result.total, known = await source.look()
        self._has_dupefilter = bool(known) and not self._is_queue_only
        if not self._has_dupefilter:
            return
        if not self._packing.has_own_fingerprints:
            raise ConfigError(
                f"the dupefilter holds {known:,} fingerprints of scrapy-redis, and Weft's own "
                f"differ; set REQUEST_FINGERPRINTER_CLASS = {_FINGERPRINTER} in the settings of "
                f"the project and keep it there, {_OR_QUEUE_ONLY}"
            )
        if not await self._is_same_fingerprinter(source):
            raise ConfigError(
                "the fingerprints of what is queued are not in the dupefilter: they were not made "
                f"by REQUEST_FINGERPRINTER_CLASS; set it to {_FINGERPRINTER} for scrapy-redis 0.9 "
                f"(see docs/scrapy-redis.md for older ones), {_OR_QUEUE_ONLY}"
            )

    async def _is_same_fingerprinter(self, source: Source) -> bool:
        """Compare the first requests of the queue; if there are none, assume that it is."""
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
        self, source: Source, frontier: FrontierBackend | None, keys: HostKeys | None = None
    ) -> TransferResult:
        """Without a frontier this is a dry run; without `keys`, host keys are host names."""
        keys = keys or ByName()
        async for requests in self._requests(source):
            statuses = await frontier.add(await keys.keyed(requests)) if frontier else None
            self._count(requests, statuses)
            self._watch(self.result)
        self.result.dupefilter = await self._bring_dupefilter(source, frontier)
        return self.result

    async def _requests(self, source: Source) -> AsyncIterator[list[PackedRequest]]:
        """The requests in such an order that they will be served as scrapy-redis would have."""
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

    async def _bring_dupefilter(
        self, source: Source, frontier: FrontierBackend | None
    ) -> Dupefilter:
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

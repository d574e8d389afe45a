"""Looking a URL up in every place of Redis, for people: it reads queues and logs."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import msgspec

from weft.config import FrontierConfig
from weft.frontier import policy
from weft.frontier.policy import HostRecord
from weft.frontier.redis import entry as entries
from weft.frontier.redis import stories
from weft.frontier.redis.buckets import Buckets
from weft.frontier.redis.entry import Entry
from weft.frontier.redis.groups import is_set, unpack_head
from weft.frontier.redis.known import KnownSets
from weft.frontier.redis.layout import Bucket, unpack_record
from weft.frontier.redis.parking import unpack_block
from weft.frontier.redis.replies import with_scores
from weft.frontier.redis.seen import SeenSets
from weft.frontier.redis.stories import Story
from weft.frontier.redis.waiting import WaitingRoom
from weft.frontier.redis.waitingpages import WaitingPage
from weft.records import Claim, Explanation, HostState, PackedRequest, PageKind

#: Elements of a list that are read at a time.
PAGE = 1_000
#: Chunks of a log that are read at a time.
CHUNK_PAGE = 32


class StoredClaim(msgspec.Struct, frozen=True):
    owner: str
    request: PackedRequest
    entry: Entry
    token: int
    until_ms: int
    #: The name of its group, and its number there.
    group: str
    number: int

    def claim(self, config: FrontierConfig, record: HostRecord) -> Claim:
        delay_ms = policy.delay_ms(record, self.request.host, config)
        return Claim(self.token, self.request, self.owner, self.until_ms, delay_ms)


class Queued(msgspec.Struct, frozen=True):
    """A request in a queue, or parked."""

    request: PackedRequest
    entry: Entry
    is_parked: bool = False


class Explainer:
    def __init__(self, buckets: Buckets) -> None:
        self._client = buckets.client
        self._layout = buckets.layout
        self._config = buckets.config

    async def explain(self, fingerprint: int, host: str | None) -> Explanation:
        buckets = self._layout.buckets
        if host is not None and not self._layout.is_advanced:
            buckets = [self._layout.bucket_of(host)]
        claims = [c for c in await self.claims(buckets) if c.request.is_known_as(fingerprint)]
        queued = [q async for q in self._find_queued(buckets, fingerprint, host)]
        waiting = await self._find_waiting(buckets, fingerprint)
        told = {
            family: await self._find_stories(buckets, family, fingerprint)
            for family in stories.FAMILIES
        }
        return await self._put_together(fingerprint, buckets, claims, queued, waiting, told)

    async def _put_together(
        self,
        fingerprint: int,
        buckets: Sequence[Bucket],
        claims: Sequence[StoredClaim],
        queue: Sequence[Queued],
        waiting: Sequence[WaitingPage],
        told: dict[str, list[Story]],
    ) -> Explanation:
        seen_as = await self._seen_as(buckets, fingerprint)
        found = [claim.entry for claim in claims] + [queued.entry for queued in queue]
        found += [page.full_entry for page in waiting]
        first = _first_sight(fingerprint, found, told) if seen_as is not None else None
        claim = claims[0] if claims else None
        queued = queue[0] if queue else None
        request = _first_request(claims, queue, waiting)
        fetches = [
            (story.at_ms, story.fetch(kind), story.url)
            for kind in PageKind
            for story in told[kind.name.lower()]
        ]
        fetches.sort(key=lambda fetch: fetch[0])
        drop = told[stories.DROPPED][0] if told[stories.DROPPED] and seen_as is None else None
        record = await self._record_of(request.host) if request else HostRecord()
        urls = [request.url] if request else [url for _, _, url in fetches if url]
        url = urls[0] if urls else drop.url if drop else ""
        return Explanation(
            fingerprint=fingerprint,
            url=url,
            kind=seen_as,
            seen_at_ms=first[0] if first else None,
            found_on=first[1] if first else 0,
            found_on_url=await self._url_of(buckets, first[1]) if first else "",
            queued_kind=queued.request.kind if queued else None,
            is_parked=bool(queued and queued.is_parked),
            claim=claim.claim(self._config, record) if claim else None,
            host=self._state(request.host, record) if request else None,
            dropped_by=drop.note if drop else "",
            dropped_at_ms=drop.at_ms if drop else 0,
            bad_until_ms=await self._bad_until(buckets, fingerprint),
            fetches=tuple(fetch for _, fetch, _ in fetches[-policy.MAX_FETCHES :]),
            due_at_ms=waiting[0].due_at_ms if waiting else 0,
            payload=request.payload if request else b"",
        )

    # Claims

    async def claims(self, buckets: Iterable[Bucket]) -> list[StoredClaim]:
        """All claims of these buckets, the oldest first."""
        found = []
        for bucket in buckets:
            heads, due = await self._client.run(
                [
                    ("HGETALL", f"{bucket.prefix}claims"),
                    ("ZRANGE", f"{bucket.prefix}due", 0, -1, "WITHSCORES"),
                ]
            )
            groups = {int(name): unpack_head(packed) for name, packed in heads.items()}
            requests = await self._requests(bucket, {head.batch for head in groups.values()})
            deadlines = _Deadlines(due)
            for first, head in groups.items():
                for index in range(1, len(head.alive) + 1):
                    number = first + index - 1
                    if not is_set(head.alive, index) or number not in requests:
                        continue  # it has ended, perhaps a moment ago
                    entry = entries.unpack(requests[number])
                    found.append(
                        StoredClaim(
                            owner=head.owner,
                            request=entry.request(head.host, PageKind(head.kind)),
                            entry=entry,
                            token=self._layout.token(bucket, number),
                            until_ms=deadlines.of(number),
                            group=str(first),
                            number=index,
                        )
                    )
        return sorted(found, key=lambda claim: claim.token)

    async def _requests(self, bucket: Bucket, batches: Iterable[str]) -> dict[int, bytes]:
        """The packed requests of batches of claims, by the numbers of their tokens."""
        found = {}
        for batch in batches:
            command = ("LRANGE", f"{bucket.prefix}claimed:{batch}", 0, -1)
            [requests] = await self._client.run([command])
            first = int(batch.partition(":")[0])
            found.update({first + i: request for i, request in enumerate(requests)})
        return found

    # Queues

    async def _find_queued(
        self, buckets: Iterable[Bucket], fingerprint: int, host: str | None
    ) -> AsyncIterator[Queued]:
        for bucket in buckets:
            hosts = [host] if host is not None else await self._hosts(bucket)
            for name in hosts:
                for kind in PageKind:
                    async for queued in self._queued(bucket, name, kind):
                        if queued.request.is_known_as(fingerprint):
                            yield queued
                            return

    async def _hosts(self, bucket: Bucket) -> list[str]:
        [names] = await self._client.run([("HKEYS", f"{bucket.prefix}hosts")])
        return sorted(name.decode() for name in names)

    async def _queued(self, bucket: Bucket, host: str, kind: PageKind) -> AsyncIterator[Queued]:
        name = f"{kind.name.lower()}:{host}"
        for key in await self._queue_keys(bucket, host, kind):
            async for packed in self._elements(key):
                yield _queued(packed, host, kind, is_parked=False)
        async for block in self._elements(f"{bucket.prefix}blocks:{name}"):
            for packed in unpack_block(block, host, kind):
                yield _queued(packed, host, kind, is_parked=True)
        async for packed in self._elements(f"{bucket.prefix}spill:{name}"):
            yield _queued(packed, host, kind, is_parked=True)

    async def _queue_keys(self, bucket: Bucket, host: str, kind: PageKind) -> list[str]:
        # Who asks need not know the order of the job: a queue of the order `priority` has levels.
        name = kind.name.lower()
        levels = f"{bucket.prefix}levels:{name}:{host}"
        [found] = await self._client.run([("ZRANGE", levels, 0, -1)])
        if not found:
            return [f"{bucket.prefix}queue:{name}:{host}"]
        return [f"{bucket.prefix}queue:{name}:{level.decode()}:{host}" for level in found]

    async def _elements(self, key: str, page: int = PAGE) -> AsyncIterator[bytes]:
        """The elements of a list, or of the set that the order `random` has instead."""
        [kind] = await self._client.run([("TYPE", key)])
        if kind == b"set":
            [members] = await self._client.run([("SMEMBERS", key)])
            for member in members:
                yield member
            return
        first = 0
        while True:
            [found] = await self._client.run([("LRANGE", key, first, first + page - 1)])
            for element in found:
                yield element
            if len(found) < page:
                return
            first += page

    # Pages that wait until they are due

    async def _find_waiting(self, buckets: Iterable[Bucket], fingerprint: int) -> list[WaitingPage]:
        """Those known by this fingerprint, the first due first."""
        room = WaitingRoom(self._client, self._config.order)
        found = [
            page
            for bucket in buckets
            async for page in room.pages(bucket)
            if page.request.is_known_as(fingerprint)
        ]
        return sorted(found, key=lambda page: page.due_at_ms)

    # Logs

    async def _find_stories(
        self, buckets: Iterable[Bucket], family: str, fingerprint: int
    ) -> list[Story]:
        return [s async for s in self._stories(buckets, family) if s.is_about(fingerprint)]

    async def _stories(self, buckets: Iterable[Bucket], family: str) -> AsyncIterator[Story]:
        for bucket in buckets:
            for log in stories.logs_of(family):
                async for chunk in self._elements(f"{bucket.prefix}{log}", CHUNK_PAGE):
                    for story in stories.unpack(chunk):
                        yield story

    async def _url_of(self, buckets: Sequence[Bucket], fingerprint: int) -> str:
        """The URL of a page that was fetched or is claimed; most often it is of the same host."""
        if not fingerprint:
            return ""
        others = [bucket for bucket in self._layout.buckets if bucket not in buckets]
        is_fetched = False
        for there in (buckets, others):
            told = [story async for story in self._fetches_of(there, fingerprint)]
            is_fetched = is_fetched or bool(told)
            requests = [claim.request for claim in await self.claims(there)]
            requests += [page.request for page in await self._find_waiting(there, fingerprint)]
            urls = [story.url for story in told if story.url]
            urls += [request.url for request in requests if request.is_known_as(fingerprint)]
            if urls:
                return urls[0]
        if is_fetched:  # and it may be due again
            async for queued in self._find_queued(self._layout.buckets, fingerprint, None):
                return queued.request.url
        return ""

    async def _fetches_of(
        self, buckets: Sequence[Bucket], fingerprint: int
    ) -> AsyncIterator[Story]:
        for kind in PageKind:
            for story in await self._find_stories(buckets, kind.name.lower(), fingerprint):
                yield story

    # The rest

    async def _seen_as(self, buckets: Iterable[Bucket], fingerprint: int) -> PageKind | None:
        for bucket in buckets:
            sets = SeenSets(self._client, self._layout, bucket)
            await sets.load()
            if (kind := await sets.kind_of(fingerprint)) is not None:
                return kind
        known = KnownSets(self._client, self._layout.job)
        await known.load()
        [is_learned] = await known.find([fingerprint])
        return policy.LEARNED_KIND if is_learned else None

    async def _bad_until(self, buckets: Sequence[Bucket], fingerprint: int) -> int:
        commands = [("HGET", f"{bucket.prefix}bad", str(fingerprint)) for bucket in buckets]
        return max(int(raw or 0) for raw in await self._client.run(commands))

    async def _record_of(self, host: str) -> HostRecord:
        commands = [("HGET", f"{bucket.prefix}hosts", host) for bucket in self._layout.buckets]
        found = [raw for raw in await self._client.run(commands) if raw is not None]
        return unpack_record(found[0]) if found else HostRecord()

    def _state(self, host: str, record: HostRecord) -> HostState:
        return policy.host_state(record, host, self._config)


class _Deadlines:
    """Of tokens, and of batches of tokens; see claims.lua."""

    def __init__(self, due: Sequence[Any]) -> None:
        """`due` as Redis tells it: pairs, or one after the other."""
        self._own: dict[int, int] = {}
        self._batches: list[tuple[int, int, int]] = []
        for name, until_ms in with_scores(due).items():
            first, _, last = name.decode().partition(":")
            if last:
                self._batches.append((int(first), int(last), until_ms))
            else:
                self._own[int(first)] = until_ms

    def of(self, number: int) -> int:
        if number in self._own:
            return self._own[number]
        return next((at for first, last, at in self._batches if first <= number <= last), 0)


def _queued(packed: bytes, host: str, kind: PageKind, *, is_parked: bool) -> Queued:
    entry = entries.unpack(packed)
    return Queued(entry.request(host, kind), entry, is_parked)


def _first_request(
    claims: Sequence[StoredClaim], queue: Sequence[Queued], waiting: Sequence[WaitingPage]
) -> PackedRequest | None:
    requests = [claim.request for claim in claims[:1]] + [queued.request for queued in queue[:1]]
    requests += [page.request for page in waiting[:1]]
    return requests[0] if requests else None


def _first_sight(
    fingerprint: int, found: Iterable[Entry], told: dict[str, list[Story]]
) -> tuple[int, int] | None:
    """When a request was first seen, and where it was found; None if nothing tells it."""
    sights = [(e.at_ms, e.found_on) for e in found if e.fingerprint == fingerprint]
    sights += [
        (story.seen_at_ms, story.found_on)
        for kind in PageKind
        for story in told[kind.name.lower()]
        if story.fingerprint == fingerprint
    ]
    return min(sights, key=lambda sight: sight[0], default=None)

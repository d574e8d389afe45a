"""Adding requests: the known are dropped, the new are queued, all in one script for each bucket."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from weft.frontier.redis import entry as entries
from weft.frontier.redis import scripts, stories
from weft.frontier.redis.buckets import Buckets
from weft.frontier.redis.history import merge_stories
from weft.frontier.redis.known import KnownSets
from weft.frontier.redis.layout import Bucket
from weft.frontier.redis.parking import Parking
from weft.records import AddStatus, Order, PackedRequest, PageKind
from weft.redis.client import Command

#: Requests that one call of a script adds: Redis does nothing else meanwhile.
ADD_BATCH = 1_000

_STATUSES = {
    "Q": AddStatus.QUEUED,
    "K": AddStatus.KNOWN,
    "B": AddStatus.BAD,
    "D": AddStatus.DROPPED,
    "N": AddStatus.DROPPED,
}
_DROPPED_NOW = "N"
_MOVED = "M"
_PLAIN, _FORCED, _DROPPED = 0, 1, 2


class RedisAdding:
    def __init__(self, buckets: Buckets, known: KnownSets) -> None:
        self._buckets = buckets
        self._known = known

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        letters = [""] * len(requests)
        left = await self._sort_out_learned(requests, letters)
        while left:
            await self._add_once(requests, left, letters)
            left = [i for i in left if letters[i] == _MOVED]
            await self._buckets.find_moved({requests[i].host for i in left})
        pairs = zip(requests, letters, strict=True)
        await self._tell_drops([request for request, letter in pairs if letter == _DROPPED_NOW])
        return [_STATUSES[letter] for letter in letters]

    async def _sort_out_learned(
        self, requests: Sequence[PackedRequest], letters: list[str]
    ) -> list[int]:
        """Answer for those that `learn` made known; the places of all others."""
        everyone = list(range(len(requests)))
        if not self._known.sets:
            return everyone
        asked = [i for i in everyone if requests[i].dropped_by or not requests[i].is_forced]
        found = await self._known.find([requests[i].fingerprint for i in asked])
        learned = [i for i, is_known in zip(asked, found, strict=True) if is_known]
        # What was forced and has failed since is for the script to judge.
        failed = await self._buckets.client.run([self._ask_bad(requests[i]) for i in learned])
        known = [i for i, is_bad in zip(learned, failed, strict=True) if not is_bad]
        for i in known:
            letters[i] = "K"
        counts = Counter(self._buckets.layout.bucket_of(requests[i].host) for i in known)
        await self._buckets.client.run(
            [("HINCRBY", f"{bucket.prefix}meta", "known", many) for bucket, many in counts.items()]
        )
        return [i for i in everyone if not letters[i]]

    def _ask_bad(self, request: PackedRequest) -> Command:
        bucket = self._buckets.layout.bucket_of(request.host)
        return ("HEXISTS", f"{bucket.prefix}bad", request.fingerprint)

    async def _add_once(
        self, requests: Sequence[PackedRequest], left: Sequence[int], letters: list[str]
    ) -> None:
        by_bucket: dict[Bucket, list[int]] = defaultdict(list)
        for i in left:
            by_bucket[self._buckets.of_host(requests[i].host)].append(i)
        longest = max(map(len, by_bucket.values()), default=0)
        for first in range(0, longest, ADD_BATCH):
            # One batch of each bucket at a time, so that each is done in order.
            parts = {b: part[first : first + ADD_BATCH] for b, part in by_bucket.items()}
            await self._add_parts(requests, {b: part for b, part in parts.items() if part}, letters)
        self._buckets.note_change(by_bucket)

    async def _add_parts(
        self,
        requests: Sequence[PackedRequest],
        parts: dict[Bucket, list[int]],
        letters: list[str],
    ) -> None:
        calls = []
        chosen = []
        for bucket, part in parts.items():
            for home, own in self._by_home(requests, bucket, part):
                calls.append(self._call_add(bucket, home, [requests[i] for i in own]))
                chosen.append((bucket, own))
        replies = map(scripts.ADD.read, await self._buckets.client.run(calls))
        for (bucket, own), added in zip(chosen, replies, strict=True):
            for i, letter in zip(own, added.letters, strict=True):
                letters[i] = letter
            for kind, host in added.blocks:
                await self._parking().compress(bucket, host, PageKind(kind))

    def _by_home(
        self, requests: Sequence[PackedRequest], bucket: Bucket, part: list[int]
    ) -> list[tuple[Bucket, list[int]]]:
        """The requests by the buckets that have their fingerprints: the same, unless hosts move."""
        if not self._buckets.layout.is_advanced:
            return [(bucket, part)]
        by_home: dict[Bucket, list[int]] = defaultdict(list)
        for i in part:
            by_home[self._buckets.layout.bucket_of(requests[i].host)].append(i)
        return list(by_home.items())

    def _call_add(self, bucket: Bucket, home: Bucket, requests: Sequence[PackedRequest]) -> Command:
        at_ms = self._buckets.times.people_ms()
        has_levels = self._buckets.config.order is Order.PRIORITY
        groups: dict[tuple[str, int, str], int] = {}
        listed: list[object] = []
        packed = []
        for request in requests:
            level = str(request.priority) if has_levels else "0"
            group = groups.setdefault((request.host, request.kind, level), len(groups))
            flag = _DROPPED if request.dropped_by else _FORCED if request.is_forced else _PLAIN
            fingerprint = request.fingerprint
            listed += (group, str(fingerprint), *self._buckets.layout.hashes(fingerprint), flag)
            packed.append(b"" if request.dropped_by else entries.pack(request, at_ms))
        add = scripts.Add(self._buckets.times.now_ms(), home.prefix, list(groups), listed)
        return scripts.ADD.call(bucket.prefix, bucket.config, add, packed)

    def _parking(self) -> Parking:
        return Parking(self._buckets.client, self._buckets.config.order)

    async def _tell_drops(self, dropped: Sequence[PackedRequest]) -> None:
        if not dropped:
            return
        by_bucket: dict[Bucket, list[PackedRequest]] = defaultdict(list)
        for request in dropped:
            by_bucket[self._buckets.layout.bucket_of(request.host)].append(request)
        now_ms = self._buckets.times.people_ms()
        commands = [
            (
                "RPUSH",
                f"{bucket.prefix}{stories.DROP_LOG}",
                stories.pack([stories.drop_story(request, now_ms) for request in own]),
            )
            for bucket, own in by_bucket.items()
        ]
        lengths = await self._buckets.client.run(commands)
        for bucket, length in zip(by_bucket, lengths, strict=True):
            await merge_stories(self._buckets.client, bucket, stories.DROP_LOG, length)

"""What people and reports ask: counters, hours, hosts, stories."""

from collections.abc import Sequence

import msgspec

from weft.frontier import policy
from weft.frontier.redis.buckets import Buckets
from weft.frontier.redis.explain import Explainer
from weft.frontier.redis.layout import unpack_record
from weft.frontier.redis.replies import with_scores
from weft.frontier.redis.seen import report_seen
from weft.frontier.redis.waitingpages import first_due_at_ms
from weft.records import Explanation, HostState, Hour, SeenReport, Stats

# Of an hour, in the order of `Hour`.
_Counts = tuple[int, int, int, int, int]

#: Of the pages and blocks that wait in a bucket, the first: before a block is opened, pages alone
#: stand behind it that may be due sooner.
FIRST_PLACES = 16


class RedisLooking:
    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets

    async def stats(self) -> Stats:
        names = Stats.__struct_fields__
        commands = [("HMGET", f"{b.prefix}meta", *names) for b in self._buckets.layout.buckets]
        rows = await self._buckets.client.run(commands)
        return Stats(*(sum(int(row[i] or 0) for row in rows) for i in range(len(names))))

    async def next_due_in_ms(self) -> int | None:
        first = [
            ("ZRANGE", f"{bucket.prefix}waiting", 0, FIRST_PLACES - 1, "WITHSCORES")
            for bucket in self._buckets.layout.buckets
        ]
        [(seconds, micros), *found] = await self._buckets.client.run([("TIME",), *first])
        now_ms = self._buckets.times.now_ms() or int(seconds) * 1000 + int(micros) // 1000
        times_ms = [
            first_due_at_ms(member, at_ms)
            for reply in found
            for member, at_ms in with_scores(reply).items()
        ]
        return min(times_ms) - now_ms if times_ms else None

    async def hours(self) -> list[Hour]:
        commands = [("HGETALL", f"{bucket.prefix}hours") for bucket in self._buckets.layout.buckets]
        found = await self._buckets.client.run(commands)
        return policy.sum_hours(
            Hour(int(hour) * policy.HOUR_MS, *msgspec.msgpack.decode(counts, type=_Counts))
            for of_bucket in found
            for hour, counts in of_bucket.items()
        )

    async def hosts(self, limit: int) -> list[HostState]:
        commands = [("HGETALL", f"{bucket.prefix}hosts") for bucket in self._buckets.layout.buckets]
        states = []
        for found in await self._buckets.client.run(commands):
            for host, raw in found.items():
                record = unpack_record(raw)
                if record.queued or record.claimed or record.parked:
                    states.append(policy.host_state(record, host.decode(), self._buckets.config))
        states.sort(key=lambda state: (-state.queued, state.host))
        return states[:limit]

    async def explain(
        self, fingerprints: Sequence[int], host: str | None = None
    ) -> list[Explanation]:
        reader = Explainer(self._buckets)
        return [await reader.explain(fingerprint, host) for fingerprint in fingerprints]

    async def seen_report(self) -> SeenReport:
        """How much the seen sets hold; for a Bloom filter its fill and its error too."""
        return await report_seen(self._buckets.client, self._buckets.layout)

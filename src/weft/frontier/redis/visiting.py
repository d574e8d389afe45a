"""Visits of hosts, where workers take turns."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.frontier.redis import scripts
from weft.frontier.redis.buckets import Buckets
from weft.frontier.redis.visits import pack_visit, unpack_turns
from weft.records import Turns, Visit

if TYPE_CHECKING:
    from weft.frontier.redis.layout import Bucket


class RedisVisiting:
    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets

    async def visit(self, owner: str, visits: Sequence[Visit], *, keep_ms: int) -> list[Turns]:
        taken: dict[str, Turns] = {}
        left = list(visits)
        while left:
            taken |= await self._visit_once(owner, left, keep_ms)
            left = [visit for visit in left if visit.host not in taken]
            await self._buckets.find_moved({visit.host for visit in left})
        return [taken[visit.host] for visit in visits]

    async def _visit_once(
        self, owner: str, visits: Sequence[Visit], keep_ms: int
    ) -> dict[str, Turns]:
        """By host; without those that have another bucket than we thought."""
        by_bucket: dict[Bucket, list[Visit]] = defaultdict(list)
        for visit in visits:
            by_bucket[self._buckets.of_host(visit.host)].append(visit)
        now_ms = self._buckets.times.now_ms()
        calls = []
        for bucket, own in by_bucket.items():
            packed = [pack_visit(visit, self._buckets.layout) for visit in own]
            calls.append((bucket, scripts.VisitCall(now_ms, owner, keep_ms, packed)))
        taken = {}
        replies = await self._buckets.run(scripts.VISIT, calls)
        self._buckets.note_change(by_bucket)
        for own, reply in zip(by_bucket.values(), replies, strict=True):
            for visit, visited in zip(own, reply, strict=True):
                if visited.given >= 0:
                    taken[visit.host] = unpack_turns(visited)
        return taken

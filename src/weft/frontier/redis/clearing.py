"""Emptying a job, or one page kind of it."""

from collections import defaultdict

from weft.frontier import policy
from weft.frontier.redis import scripts
from weft.frontier.redis.buckets import Buckets
from weft.frontier.redis.explain import Explainer, StoredClaim
from weft.frontier.redis.job import PATIENCE_MS, StoredJob
from weft.frontier.redis.known import KnownSets
from weft.frontier.redis.layout import Bucket
from weft.frontier.redis.ownclaims import ClientClaims
from weft.records import PageKind


class RedisClearing:
    def __init__(
        self, buckets: Buckets, job: StoredJob, known: KnownSets, own: ClientClaims
    ) -> None:
        self._buckets = buckets
        self._job = job
        self._known = known
        self._own = own

    async def clear_all(self, *, is_long: bool = False) -> None:
        """`is_long`: others wait for us, and want to know that we are at it."""
        for bucket in self._buckets.layout.buckets:
            call = scripts.Clear(self._buckets.times.now_ms(), bucket.prefix, -1, [])
            await self._buckets.run(scripts.CLEAR, [(bucket, call)])
            if is_long:
                await self._job.clearing.go_on(self._buckets.times.now_ms(), PATIENCE_MS)
        self._buckets.forget_moved()
        self._own.clear()
        self._buckets.note_change(self._buckets.layout.buckets)
        await self._job.clearing.forget_crawl()
        await self._known.forget()

    async def clear_kind(self, kind: PageKind) -> None:
        if kind is policy.LEARNED_KIND:
            await self._known.forget()
        reader = Explainer(self._buckets)
        by_home: dict[Bucket, list[object]] = defaultdict(list)
        for claim in await reader.claims(self._buckets.layout.buckets):
            fingerprint = claim.request.fingerprint
            by_home[self._home_of(claim)] += (
                str(fingerprint),
                *self._buckets.layout.hashes(fingerprint),
            )
        for bucket in self._buckets.layout.buckets:
            call = scripts.Clear(self._buckets.times.now_ms(), bucket.prefix, kind, by_home[bucket])
            await self._buckets.run(scripts.CLEAR, [(bucket, call)])
        self._buckets.note_change(self._buckets.layout.buckets)

    def _home_of(self, claim: StoredClaim) -> Bucket:
        """The bucket that has its fingerprint: its own, unless hosts move."""
        if self._buckets.layout.is_advanced:
            return self._buckets.layout.bucket_of(claim.request.host)
        return self._buckets.layout.bucket_of_token(claim.token)

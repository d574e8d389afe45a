"""Claiming: the buckets that may have something are asked, a few at a time."""

import math
from collections.abc import Awaitable, Callable, Sequence
from itertools import count

from weft.frontier import policy
from weft.frontier.redis import entry as entries
from weft.frontier.redis import scripts
from weft.frontier.redis.buckets import Buckets
from weft.frontier.redis.explain import Explainer
from weft.frontier.redis.groups import unpack_head
from weft.frontier.redis.job import StoredJob
from weft.frontier.redis.layout import Bucket
from weft.frontier.redis.leases import ClientLeases
from weft.frontier.redis.ownclaims import ClientClaims, OwnClaim
from weft.frontier.redis.parking import Parking
from weft.frontier.redis.waiting import WaitingRoom
from weft.records import Claim, Claims, PageKind

#: Requests that a bucket is asked for at least, if that many are wanted.
CLAIM_BATCH = 192
#: With half a batch in hand, a bucket is not asked for fewer than these: a call has its price.
CLAIM_LEAST = 64
#: A bucket is asked again after this time at the latest: others may have added something.
POLL_MS = 1_000


class RedisClaiming:
    def __init__(
        self,
        buckets: Buckets,
        job: StoredJob,
        leases: ClientLeases,
        own: ClientClaims,
        release: Callable[[Sequence[int]], Awaitable[list[bool]]],
    ) -> None:
        """`release` gives claims back."""
        self._buckets = buckets
        self._job = job
        self._leases = leases
        self._own = own
        self._release = release
        # What the last call asked for: buckets that had nothing then may have it for another owner.
        self._owner = ""
        self._due_for_ms = 0
        self._calls = count(1)
        #: How many owners share a host that more than one may have.
        self.sharers = buckets.config.workers_per_host

    async def claim(self, owner: str, limit: int, *, due_for_ms: int = 0) -> Claims:
        wants_all = due_for_ms == 0
        is_other = owner != self._owner or wants_all is not (self._due_for_ms == 0)
        if is_other or due_for_ms < self._due_for_ms:
            self._buckets.note_change(self._buckets.layout.buckets)
        self._owner, self._due_for_ms = owner, due_for_ms
        claims: list[Claim] = []
        shared_hosts: list[str] = []
        due = self._due_buckets()
        while due and not _is_enough(len(claims), limit):
            # A few buckets for many, not many for a few: a call has its price.
            most = max(1, (limit - len(claims)) // CLAIM_BATCH)
            asking, due = due[:most], due[most:]
            quota = policy.share(limit - len(claims), len(asking)) if limit else 0
            now_ms = self._buckets.times.now_ms()
            calls = [
                scripts.ClaimCall(
                    now_ms,
                    owner,
                    self._leases.token(bucket),
                    next(self._calls),
                    quota,
                    self.sharers,
                    due_for_ms,
                )
                for bucket in asking
            ]
            losses = self._buckets.client.losses
            replies = await self._run_claim([*zip(asking, calls, strict=True)])
            for bucket, (reply, blobs) in zip(asking, replies, strict=True):
                if not reply.is_allowed:
                    self._leases.note_refused(bucket)
                    continue
                taken = self._unpack_claims(bucket, reply, blobs, owner)
                claims += taken
                shared_hosts += reply.shared_hosts
                if taken and len(taken) == quota:
                    due.append(bucket)  # it may have more
                await self._unpark(bucket, reply)
                if reply.blocks:
                    await self._open_blocks(bucket, reply, blobs)
                    due.append(bucket)  # some of their pages may be due by now
            if self._buckets.client.losses != losses:
                await self._free_unheard(asking, owner)
        return Claims(claims, self._next_in_ms(), tuple(sorted(shared_hosts)))

    async def _free_unheard(self, buckets: Sequence[Bucket], owner: str) -> None:
        """Give back claims that were made for us, but whose answer was lost on the way."""
        reader = Explainer(self._buckets)
        found = [claim.token for claim in await reader.claims(buckets) if claim.owner == owner]
        await self._release([token for token in found if token not in self._own])

    async def _run_claim(
        self, calls: Sequence[tuple[Bucket, scripts.ClaimCall]]
    ) -> list[tuple[scripts.Claimed, list[bytes]]]:
        """Whether the job is still ours is asked after the claims were made: if it is, they were
        made in our run. Otherwise they are left to become overdue."""
        commands = [
            scripts.CLAIM.call(bucket.prefix, bucket.config, call) for bucket, call in calls
        ]
        *replies, run = await self._buckets.client.run([*commands, self._job.record.asking_run()])
        self._job.check_run(run)
        return [scripts.CLAIM.read_with_blobs(raw) for raw in replies]

    def _due_buckets(self) -> list[Bucket]:
        """Those of ours that may have something to claim, the one that waited longest first."""
        now_ms = self._buckets.times.local_ms()
        due = [
            bucket
            for bucket in self._buckets.layout.buckets
            if bucket.claim_at_ms <= now_ms and self._leases.serves(bucket)
        ]
        return sorted(due, key=lambda bucket: bucket.asked_at_ms)

    def _unpack_claims(
        self, bucket: Bucket, reply: scripts.Claimed, blobs: Sequence[bytes], owner: str
    ) -> list[Claim]:
        now_ms = self._buckets.times.local_ms()
        bucket.asked_at_ms = now_ms
        bucket.next_at_ms = math.inf if reply.next_in_ms < 0 else now_ms + reply.next_in_ms
        bucket.claim_at_ms = min(now_ms + POLL_MS, bucket.next_at_ms)
        claims = []
        requests = iter(blobs)
        first_block = len(blobs) - len(reply.blocks)
        heads = blobs[first_block - len(reply.delays_ms) : first_block]
        number = reply.first_token
        for delay_ms, packed in zip(reply.delays_ms, heads, strict=True):
            head = unpack_head(packed)
            kind = PageKind(head.kind)
            name = str(number)
            for place in range(1, len(head.alive) + 1):
                token = self._buckets.layout.token(bucket, number)
                entry = entries.unpack(next(requests))
                request = entry.request(head.host, kind)
                self._own.put(token, OwnClaim(request, entry, name, place))
                claims.append(Claim(token, request, owner, reply.until_ms, delay_ms))
                number += 1
        return claims

    def _next_in_ms(self) -> int | None:
        """When the first bucket may have something; None: not before something changes."""
        now_ms = self._buckets.times.local_ms()
        waits = [
            at_ms - now_ms
            for bucket in self._buckets.layout.buckets
            if self._leases.serves(bucket) and (at_ms := _next_at_ms(bucket, now_ms)) < math.inf
        ]
        return max(0, round(min(waits))) if waits else None

    async def _unpark(self, bucket: Bucket, reply: scripts.Claimed) -> None:
        for host in reply.hungry:
            if await Parking(self._buckets.client, self._buckets.config.order).unpark(
                bucket, host, self._buckets.times.now_ms()
            ):
                self._buckets.note_change([bucket])

    async def _open_blocks(
        self, bucket: Bucket, reply: scripts.Claimed, blobs: Sequence[bytes]
    ) -> None:
        config = self._buckets.config
        now_ms = reply.until_ms - config.claim_ms
        room = WaitingRoom(self._buckets.client, config.order)
        await room.open(bucket, reply.blocks, blobs[-len(reply.blocks) :], now_ms)


def _next_at_ms(bucket: Bucket, now_ms: float) -> float:
    return now_ms if bucket.claim_at_ms <= now_ms else bucket.next_at_ms


def _is_enough(claimed: int, limit: int) -> bool:
    """Whether a claim asks no further bucket; a limit of 0 is for looking at each."""
    if claimed >= CLAIM_BATCH // 2:
        return limit - claimed < CLAIM_LEAST
    return 0 < limit <= claimed

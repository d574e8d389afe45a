"""Renewing, finishing and giving back claims; and taking back those that are overdue."""

import logging
from collections.abc import Sequence

from weft.frontier import policy
from weft.frontier.redis import scripts
from weft.frontier.redis.buckets import Buckets
from weft.frontier.redis.explain import Explainer
from weft.frontier.redis.finishing import pack_finish
from weft.frontier.redis.history import merge_stories
from weft.frontier.redis.job import StoredJob
from weft.frontier.redis.layout import Bucket
from weft.frontier.redis.leases import ClientLeases
from weft.frontier.redis.ownclaims import ClaimsOfBucket, ClientClaims, OwnClaim
from weft.frontier.redis.stories import LOGS
from weft.frontier.redis.waiting import WaitingRoom, is_due_to_gather
from weft.records import Outcome
from weft.redis.client import Command

#: Deadlines that one call of a script looks at.
RECLAIM_BATCH = 100

logger = logging.getLogger(__name__)


class RedisEnding:
    def __init__(
        self, buckets: Buckets, job: StoredJob, leases: ClientLeases, own: ClientClaims
    ) -> None:
        self._buckets = buckets
        self._job = job
        self._leases = leases
        self._own = own

    async def renew(self, owner: str, tokens: Sequence[int]) -> list[bool]:
        unique = list(dict.fromkeys(tokens))
        await self._hold_again(unique)
        parts = self._own.by_bucket(self._buckets.layout, unique)
        for bucket in self._buckets.layout.buckets:
            if self._leases.has(bucket):
                parts.setdefault(bucket, ClaimsOfBucket())
        now_ms = self._buckets.times.now_ms()
        calls = [
            (bucket, scripts.Renew(now_ms, owner, self._own.marks(unique, part), part.stale))
            for bucket, part in parts.items()
        ]
        answers = [False] * len(unique)
        replies = await self._buckets.run(scripts.RENEW, calls)
        for part, renewed in zip(parts.values(), replies, strict=True):
            self._own.note_alive(unique, part, renewed.alive, answers)
        is_ours = dict(zip(unique, answers, strict=True))
        self._own.let_go([token for token in unique if not is_ours[token]])
        self._note_put_back(sum(renewed.put_back for renewed in replies))
        answers_to_all = [is_ours[token] for token in tokens]
        await self._count_stale(tokens, answers_to_all.count(False) - answers.count(False))
        return answers_to_all

    def _note_put_back(self, many: int) -> None:
        if many:
            logger.warning("%d claims that this worker did not know of are queued again", many)
            self._buckets.note_change(self._buckets.layout.buckets)

    async def _count_stale(self, tokens: Sequence[int], many: int) -> None:
        """So many of these came more than once, and are no claims."""
        if many:
            bucket = self._buckets.layout.bucket_of_token(tokens[0])
            await self._buckets.client.run([("HINCRBY", f"{bucket.prefix}meta", "stale", many)])

    async def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        tokens = [outcome.token for outcome in outcomes]
        if any(policy.due_at_ms(outcome, 0) for outcome in outcomes):
            await self._job.note_waiting()
        await self._hold_again(tokens)
        answers = [False] * len(outcomes)
        parts = self._own.by_bucket(self._buckets.layout, tokens)
        self._buckets.note_change(parts)
        while parts:
            parts = await self._finish_once(outcomes, parts, answers)
        self._own.let_go(tokens)
        return answers

    async def _finish_once(
        self, outcomes: Sequence[Outcome], parts: dict[Bucket, ClaimsOfBucket], answers: list[bool]
    ) -> dict[Bucket, ClaimsOfBucket]:
        """Finish these; what is left of them where some had no claim any more."""
        calls = [self._call_finish(bucket, outcomes, part) for bucket, part in parts.items()]
        again = {}
        replies = await self._buckets.client.run(calls, is_bound=True)
        for (bucket, part), raw in zip(parts.items(), replies, strict=True):
            if raw is None:
                continue  # what these claims brought may be lost: `renew` puts them back
            reply = scripts.FINISH.read(raw)
            if not reply.chunks:
                tokens = [outcome.token for outcome in outcomes]
                self._own.note_alive(tokens, part, reply.alive, answers)
                part.keep(answers)
                again[bucket] = part
                continue
            for own in part.groups.values():
                for i in own:
                    answers[i] = True
            await self._tidy_up(bucket, reply)
        return again

    async def _tidy_up(self, bucket: Bucket, reply: scripts.Finished) -> None:
        client = self._buckets.client
        for log, length in zip(LOGS, reply.chunks, strict=True):
            await merge_stories(client, bucket, log, length, reply.waiting)
        if is_due_to_gather(reply.alone, reply.waiting):
            room = WaitingRoom(client, self._buckets.config.order)
            await room.gather(bucket, reply.now_ms)

    def _call_finish(
        self, bucket: Bucket, outcomes: Sequence[Outcome], part: ClaimsOfBucket
    ) -> Command:
        times = self._buckets.times
        finish, blobs = pack_finish(
            times.now_ms(),
            times.people_ms(),
            self._own,
            part,
            outcomes,
            self._buckets.config.order,
        )
        return scripts.FINISH.call(bucket.prefix, bucket.config, finish, blobs)

    async def _hold_again(self, tokens: Sequence[int]) -> None:
        """Look up claims that another has made in our name."""
        missing = {token for token in tokens if token not in self._own}
        if not missing:
            return
        buckets = {self._buckets.layout.bucket_of_token(token) for token in missing}
        reader = Explainer(self._buckets)
        for claim in await reader.claims(buckets):
            if claim.token in missing:
                own = OwnClaim(claim.request, claim.entry, claim.group, claim.number)
                self._own.put(claim.token, own)

    async def release(self, tokens: Sequence[int]) -> list[bool]:
        unique = sorted(set(tokens), reverse=True)
        await self._hold_again(unique)
        parts = self._own.by_bucket(self._buckets.layout, unique)
        now_ms = self._buckets.times.now_ms()
        calls = [
            (bucket, scripts.Groups(now_ms, self._own.marks(unique, part), part.stale))
            for bucket, part in parts.items()
        ]
        answers = [False] * len(unique)
        for part, alive in zip(
            parts.values(), await self._buckets.run(scripts.RELEASE, calls), strict=True
        ):
            self._own.note_alive(unique, part, alive, answers)
        known = {token for token, answer in zip(unique, answers, strict=True) if answer}
        self._own.let_go(unique)
        self._buckets.note_change({self._buckets.layout.bucket_of_token(token) for token in unique})
        await self._count_stale(tokens, len(tokens) - len(unique))
        return [token in known for token in tokens]

    async def reclaim(self) -> int:
        total = 0
        buckets = self._buckets.layout.buckets
        while buckets:
            call = scripts.Reclaim(self._buckets.times.now_ms(), RECLAIM_BATCH)
            replies = await self._buckets.run(
                scripts.RECLAIM, [(bucket, call) for bucket in buckets]
            )
            total += sum(count for count, _ in replies)
            found = list(zip(buckets, replies, strict=True))
            self._buckets.note_change(bucket for bucket, (count, _) in found if count)
            buckets = [bucket for bucket, (_, has_more) in found if has_more]
        return total

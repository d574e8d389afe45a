"""The frontier on Redis: one for any number of workers on any number of machines.

Hosts are divided into buckets. A verb is one Lua script, called for each bucket that it concerns,
all in one round trip; for a bucket it happens completely or not at all. Time is Redis' own.
Requests are opaque to the scripts: they are packed and read here.
"""

import asyncio
import logging
import secrets
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import Self, TypeVar

import msgspec

from weft.clock import Clock, SystemClock, monotonic_s
from weft.config import FrontierConfig, SharedConfig
from weft.frontier import policy
from weft.frontier.base import AlsoForget, Hold
from weft.frontier.redis import entry as entries
from weft.frontier.redis import scripts, stories
from weft.frontier.redis.explain import Reader, StoredClaim
from weft.frontier.redis.finishing import pack_finish
from weft.frontier.redis.groups import unpack_head
from weft.frontier.redis.held import Held, HeldClaims, Part
from weft.frontier.redis.job import PATIENCE_MS, Job
from weft.frontier.redis.known import KnownSets
from weft.frontier.redis.layout import Bucket, Layout, unpack_record
from weft.frontier.redis.leases import Leases
from weft.frontier.redis.parking import Parking
from weft.frontier.redis.seen import report_seen
from weft.frontier.redis.visits import pack_visit, unpack_turns
from weft.frontier.store import Store
from weft.records import (
    AddStatus,
    Claim,
    Claims,
    Explanation,
    HostKey,
    HostState,
    Hour,
    Order,
    Outcome,
    PackedRequest,
    PageKind,
    SeenReport,
    Stats,
    Strategy,
    Turns,
    Visit,
)
from weft.redis.client import DEFAULT_PATIENCE_S, SHORT_PATIENCE_S, Client, Command
from weft.redis.script import Script

logger = logging.getLogger(__name__)

Arguments = TypeVar("Arguments", bound=msgspec.Struct)
Reply = TypeVar("Reply")

#: Requests that one call of a script adds: Redis does nothing else meanwhile.
ADD_BATCH = 1_000
#: Requests that a bucket is asked for at least, if that many are wanted.
CLAIM_BATCH = 192
#: With half a batch in hand, a bucket is not asked for fewer than these: a call has its price.
CLAIM_LEAST = 64
#: Deadlines that one call of a script looks at.
RECLAIM_BATCH = 100
#: A bucket that has nothing to hand out is asked again after this time: others may have added.
POLL_MS = 1_000

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

# Of an hour, in the order of `Hour`.
_Counts = tuple[int, int, int, int, int]


class RedisFrontier:
    """Serves all buckets, until `hold` is called: then those that it has leases of. `clock` is for
    tests; without it Redis' own counts."""

    def __init__(
        self,
        url: str,
        job: str,
        config: FrontierConfig | None = None,
        clock: Clock | None = None,
        *,
        is_read_only: bool = False,
    ) -> None:
        self._config = config or FrontierConfig()
        self._clock = clock
        self._is_read_only = is_read_only
        patience_s = SHORT_PATIENCE_S if is_read_only else DEFAULT_PATIENCE_S
        self._client = Client(url, patience_s=patience_s)
        self._client.know(scripts.SOURCES)
        self._job = Job(self._client, job, Store(url).place)
        self._known = KnownSets(self._client, job)
        self._layout = Layout(job, self._config, self._config.shared)
        self._leases = Leases(self._client)
        # A lease is not given up while claims are being made under it.
        self._lease_lock = asyncio.Lock()
        self._sharers = self._config.workers_per_host
        self._owner = ""
        self._calls = count(1)
        self._held = HeldClaims()
        # Hosts that the picker `advanced` has sent to another bucket, as far as we know.
        self._moved: dict[str, Bucket] = {}

    @property
    def restarts(self) -> int:
        return self._client.restarts

    @property
    def host_key(self) -> HostKey:
        return self._layout.shape.host_key

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        try:
            if self._is_read_only:
                self._adopt(await self._job.look())
            else:
                self._adopt(await self._job.open(self._config.shared))
            await self._known.load()
        except BaseException:
            await self._client.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        try:
            await self._leases.leave()
        finally:
            await self._client.__aexit__()

    def _adopt(self, shape: SharedConfig) -> None:
        """The job is laid out as it was when it began, whatever our own settings say."""
        if shape != self._layout.shape:
            self._layout = Layout(self._job.name, self._config, shape)

    # Time

    def _now_ms(self) -> int:
        """What the scripts are told: 0 for Redis' own clock."""
        return self._clock.now_ms() if self._clock else 0

    def _people_ms(self) -> int:
        """For what only people read."""
        return (self._clock or SystemClock()).now_ms()

    def _local_ms(self) -> float:
        """For deciding when to ask again."""
        return self._clock.now_ms() if self._clock else monotonic_s() * 1000

    # Calling scripts

    async def _run(
        self, script: Script[Arguments, Reply], calls: Sequence[tuple[Bucket, Arguments]]
    ) -> list[Reply]:
        commands = [script.call(bucket.prefix, bucket.config, given) for bucket, given in calls]
        return [script.read(raw) for raw in await self._client.run(commands)]

    def _note_change(self, buckets: Iterable[Bucket]) -> None:
        """There may be something to claim there now."""
        for bucket in buckets:
            bucket.claim_at_ms = 0.0

    @property
    def _parking(self) -> Parking:
        return Parking(self._client, self._config.order)

    # Beginning and finishing

    async def begin(
        self, *, is_fresh: bool, is_rerun: bool, also_forget: AlsoForget | None = None
    ) -> bool:
        if self._job.run is None:
            self._adopt(await self._job.open(self._config.shared))
        added = (await self.stats()).added
        run = secrets.token_hex(8)
        begin = scripts.Begin(self._now_ms(), run, is_fresh, is_rerun, added, PATIENCE_MS)
        begun, shape = await self._job.begin(begin)
        self._adopt(shape)
        if begun.verdict == "join":
            await self._known.load()
            return False
        await self._clear_buckets(is_long=True)
        if also_forget:
            await also_forget()
        await self._job.end_clearing(self._config.shared)
        self._adopt(self._config.shared)
        return True

    async def mark_finished(self) -> None:
        added = (await self.stats()).added
        if self._job.run is not None and added:
            await self._client.run([("HSET", self._job.key, "finished", added)])

    async def is_finished(self) -> bool:
        added = (await self.stats()).added
        [mark] = await self._client.run([("HGET", self._job.key, "finished")])
        return added > 0 and mark == str(added).encode()

    # Adding

    async def add(self, requests: Sequence[PackedRequest]) -> list[AddStatus]:
        if requests and self._job.run is None:  # it was cleared
            self._adopt(await self._job.open(self._config.shared))
        letters = [""] * len(requests)
        left = await self._sort_out_learned(requests, letters)
        while left:
            await self._add_once(requests, left, letters)
            left = [i for i in left if letters[i] == _MOVED]
            await self._find_moved({requests[i].host for i in left})
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
        failed = await self._client.run([self._ask_bad(requests[i]) for i in learned])
        known = [i for i, is_bad in zip(learned, failed, strict=True) if not is_bad]
        for i in known:
            letters[i] = "K"
        counts = Counter(self._layout.bucket_of(requests[i].host) for i in known)
        await self._client.run(
            [("HINCRBY", f"{bucket.prefix}meta", "known", many) for bucket, many in counts.items()]
        )
        return [i for i in everyone if not letters[i]]

    def _ask_bad(self, request: PackedRequest) -> Command:
        bucket = self._layout.bucket_of(request.host)
        return ("HEXISTS", f"{bucket.prefix}bad", request.fingerprint)

    async def fix_keys(self, keys: Sequence[tuple[str, str]]) -> list[str]:
        if not keys:
            return []
        place = f"{self._job.prefix}keys"
        given = [("HSETNX", place, name, key) for name, key in keys if key]
        *_, fixed = await self._client.run([*given, ("HMGET", place, *(name for name, _ in keys))])
        return [(key or b"").decode() for key in fixed]

    async def learn(self, fingerprints: Sequence[int]) -> None:
        if self._job.run is None:  # it was cleared
            self._adopt(await self._job.open(self._config.shared))
        await self._known.learn(fingerprints)

    async def _add_once(
        self, requests: Sequence[PackedRequest], left: Sequence[int], letters: list[str]
    ) -> None:
        by_bucket: dict[Bucket, list[int]] = defaultdict(list)
        for i in left:
            by_bucket[self._bucket_of(requests[i].host)].append(i)
        longest = max(map(len, by_bucket.values()), default=0)
        for first in range(0, longest, ADD_BATCH):
            # One batch of each bucket at a time, so that each is done in order.
            parts = {b: part[first : first + ADD_BATCH] for b, part in by_bucket.items()}
            await self._add_parts(requests, {b: part for b, part in parts.items() if part}, letters)
        self._note_change(by_bucket)

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
        replies = map(scripts.ADD.read, await self._client.run(calls))
        for (bucket, own), added in zip(chosen, replies, strict=True):
            for i, letter in zip(own, added.letters, strict=True):
                letters[i] = letter
            for kind, host in added.blocks:
                await self._parking.compress(bucket, host, PageKind(kind))

    def _by_home(
        self, requests: Sequence[PackedRequest], bucket: Bucket, part: list[int]
    ) -> list[tuple[Bucket, list[int]]]:
        """The requests by the buckets that have their fingerprints: the same, unless hosts move."""
        if not self._layout.is_advanced:
            return [(bucket, part)]
        by_home: dict[Bucket, list[int]] = defaultdict(list)
        for i in part:
            by_home[self._layout.bucket_of(requests[i].host)].append(i)
        return list(by_home.items())

    def _call_add(self, bucket: Bucket, home: Bucket, requests: Sequence[PackedRequest]) -> Command:
        at_ms = self._people_ms()
        has_levels = self._config.order is Order.PRIORITY
        groups: dict[tuple[str, int, str], int] = {}
        listed: list[object] = []
        packed = []
        for request in requests:
            level = str(request.priority) if has_levels else "0"
            group = groups.setdefault((request.host, request.kind, level), len(groups))
            flag = _DROPPED if request.dropped_by else _FORCED if request.is_forced else _PLAIN
            fingerprint = request.fingerprint
            listed += (group, str(fingerprint), *self._layout.hashes(fingerprint), flag)
            packed.append(b"" if request.dropped_by else entries.pack(request, at_ms))
        add = scripts.Add(self._now_ms(), home.prefix, list(groups), listed)
        return scripts.ADD.call(bucket.prefix, bucket.config, add, packed)

    def _bucket_of(self, host: str) -> Bucket:
        if self._moved and (bucket := self._moved.get(host)):
            return bucket
        return self._layout.bucket_of(host)

    async def _find_moved(self, hosts: set[str]) -> None:
        """Learn where hosts are that were not where we thought."""
        listed = sorted(hosts)
        if not listed:
            return
        [found] = await self._client.run([("HMGET", f"{self._job.prefix}moved", *listed)])
        for host, raw in zip(listed, found, strict=True):
            if raw is None:
                self._moved.pop(host, None)
            else:
                prefix, _ = msgspec.msgpack.decode(raw, type=tuple[str, str])
                self._moved[host] = self._layout.bucket_at(prefix)

    async def _tell_drops(self, dropped: Sequence[PackedRequest]) -> None:
        if not dropped:
            return
        by_bucket: dict[Bucket, list[PackedRequest]] = defaultdict(list)
        for request in dropped:
            by_bucket[self._layout.bucket_of(request.host)].append(request)
        now_ms = self._people_ms()
        commands = [
            (
                "RPUSH",
                f"{bucket.prefix}stories:{stories.DROPPED}",
                stories.pack([stories.drop_story(request, now_ms) for request in own]),
            )
            for bucket, own in by_bucket.items()
        ]
        lengths = await self._client.run(commands)
        for bucket, length in zip(by_bucket, lengths, strict=True):
            await self._merge_stories(bucket, stories.DROPPED, length)

    # Leases

    @property
    def buckets(self) -> int:
        return len(self._layout.buckets)

    @property
    def assignment(self) -> Strategy:
        return self._layout.shape.assignment

    @property
    def virtual_nodes(self) -> int:
        return self._layout.shape.virtual_nodes

    async def hold(
        self,
        owner: str,
        wanted: Collection[int],
        *,
        lease_ms: int,
        may_evict: bool,
        sharers: int,
    ) -> Hold:
        chosen = {self._layout.buckets[number] for number in wanted}
        async with self._lease_lock:
            self._sharers = sharers
            await self._leases.give_up_unknown(owner, self._layout.buckets, chosen)
            is_lost = await self._leases.hold(
                owner,
                chosen,
                {self._layout.bucket_of_token(token) for token in self._held},
                now_ms=self._now_ms(),
                lease_ms=lease_ms,
                may_evict=may_evict,
            )
        return Hold(self._leases.held, self._leases.leaving, is_lost, tuple(self._leases.called))

    async def keep_leases(self, client: Client, owner: str, lease_ms: int) -> bool:
        return await self._leases.keep(client, owner, lease_ms)

    def leaving(self, tokens: Iterable[int]) -> list[int]:
        buckets = self._layout.bucket_of_token
        return [token for token in tokens if self._leases.is_leaving(buckets(token))]

    # Claiming

    async def claim(self, owner: str, limit: int) -> Claims:
        if owner != self._owner:
            self._owner = owner
            self._note_change(self._layout.buckets)
        async with self._lease_lock:
            return await self._claim(owner, limit)

    async def _claim(self, owner: str, limit: int) -> Claims:
        claims: list[Claim] = []
        shared_hosts: list[str] = []
        due = self._due_buckets()
        while due and not _is_enough(len(claims), limit):
            # A few buckets for many, not many for a few: a call has its price.
            most = max(1, (limit - len(claims)) // CLAIM_BATCH)
            asking, due = due[:most], due[most:]
            quota = policy.share(limit - len(claims), len(asking)) if limit else 0
            now_ms = self._now_ms()
            calls = [
                scripts.Claim(
                    now_ms,
                    owner,
                    self._leases.token(bucket),
                    next(self._calls),
                    quota,
                    self._sharers,
                )
                for bucket in asking
            ]
            losses = self._client.losses
            replies = await self._run_claim([*zip(asking, calls, strict=True)])
            for bucket, (reply, blobs) in zip(asking, replies, strict=True):
                if not reply.is_allowed:
                    self._leases.note_lost(bucket)
                    continue
                taken = self._unpack_claims(bucket, reply, blobs, owner)
                claims += taken
                shared_hosts += reply.shared_hosts
                if taken and len(taken) == quota:
                    due.append(bucket)  # it may have more
                await self._unpark(bucket, reply)
            if self._client.losses != losses:
                await self._free_unheard(asking, owner)
        return Claims(claims, self._next_in_ms(), tuple(sorted(shared_hosts)))

    async def _free_unheard(self, buckets: Sequence[Bucket], owner: str) -> None:
        """Give back claims that were made for us, but whose answer was lost on the way."""
        reader = Reader(self._client, self._layout, self._config)
        found = [claim.token for claim in await reader.claims(buckets) if claim.owner == owner]
        await self.release([token for token in found if token not in self._held])

    async def _run_claim(
        self, calls: Sequence[tuple[Bucket, scripts.Claim]]
    ) -> list[tuple[scripts.Claimed, list[bytes]]]:
        """Whether the job is still ours is asked after the claims were made: if it is, they were
        made in our run. Otherwise they are left to become overdue."""
        commands = [
            scripts.CLAIM.call(bucket.prefix, bucket.config, call) for bucket, call in calls
        ]
        *replies, run = await self._client.run([*commands, self._job.ask_run()])
        self._job.check_run(run)
        return [scripts.CLAIM.read_with_blobs(raw) for raw in replies]

    def _due_buckets(self) -> list[Bucket]:
        """Those of ours that may have something to claim, the one that waited longest first."""
        now_ms = self._local_ms()
        due = [
            bucket
            for bucket in self._layout.buckets
            if bucket.claim_at_ms <= now_ms and self._leases.serves(bucket)
        ]
        return sorted(due, key=lambda bucket: bucket.asked_at_ms)

    def _unpack_claims(
        self, bucket: Bucket, reply: scripts.Claimed, blobs: Sequence[bytes], owner: str
    ) -> list[Claim]:
        now_ms = self._local_ms()
        bucket.asked_at_ms = now_ms
        bucket.next_in_ms = None if reply.next_in_ms < 0 else reply.next_in_ms
        bucket.claim_at_ms = now_ms + (POLL_MS if reply.next_in_ms < 0 else reply.next_in_ms)
        claims = []
        groups = len(reply.delays_ms)
        requests = iter(blobs[: len(blobs) - groups])
        number = reply.first_token
        for delay_ms, packed in zip(reply.delays_ms, blobs[-groups:], strict=True):
            head = unpack_head(packed)
            kind = PageKind(head.kind)
            name = str(number)
            for place in range(1, len(head.alive) + 1):
                token = self._layout.token(bucket, number)
                entry = entries.unpack(next(requests))
                request = entry.request(head.host, kind)
                self._held.put(token, Held(request, entry, name, place))
                claims.append(Claim(token, request, owner, reply.until_ms, delay_ms))
                number += 1
        return claims

    def _next_in_ms(self) -> int | None:
        """When the first bucket may have something; None: not before something changes."""
        now_ms = self._local_ms()
        waits = [
            max(0, round(bucket.claim_at_ms - now_ms))
            for bucket in self._layout.buckets
            if self._leases.serves(bucket)
            and (bucket.next_in_ms is not None or bucket.claim_at_ms <= now_ms)
        ]
        return min(waits, default=None)

    async def _unpark(self, bucket: Bucket, reply: scripts.Claimed) -> None:
        for host in reply.hungry:
            if await self._parking.unpark(bucket, host, self._now_ms()):
                self._note_change([bucket])

    # Turns

    async def visit(self, owner: str, visits: Sequence[Visit], *, keep_ms: int) -> list[Turns]:
        taken: dict[str, Turns] = {}
        left = list(visits)
        while left:
            taken |= await self._visit_once(owner, left, keep_ms)
            left = [visit for visit in left if visit.host not in taken]
            await self._find_moved({visit.host for visit in left})
        return [taken[visit.host] for visit in visits]

    async def _visit_once(
        self, owner: str, visits: Sequence[Visit], keep_ms: int
    ) -> dict[str, Turns]:
        """By host; without those that have another bucket than we thought."""
        by_bucket: dict[Bucket, list[Visit]] = defaultdict(list)
        for visit in visits:
            by_bucket[self._bucket_of(visit.host)].append(visit)
        now_ms = self._now_ms()
        calls = []
        for bucket, own in by_bucket.items():
            packed = [pack_visit(visit, self._layout) for visit in own]
            calls.append((bucket, scripts.Visits(now_ms, owner, keep_ms, packed)))
        taken = {}
        replies = await self._run(scripts.VISIT, calls)
        self._note_change(by_bucket)
        for own, reply in zip(by_bucket.values(), replies, strict=True):
            for visit, visited in zip(own, reply, strict=True):
                if visited.given >= 0:
                    taken[visit.host] = unpack_turns(visited)
        return taken

    # Ending claims

    async def renew(self, owner: str, tokens: Sequence[int]) -> list[bool]:
        unique = list(dict.fromkeys(tokens))
        await self._hold_again(unique)
        parts = self._held.parts(self._layout, unique)
        for bucket in self._layout.buckets:
            if self._leases.has(bucket):
                parts.setdefault(bucket, Part())
        now_ms = self._now_ms()
        calls = [
            (bucket, scripts.Renew(now_ms, owner, self._held.places(unique, part), part.stale))
            for bucket, part in parts.items()
        ]
        answers = [False] * len(unique)
        replies = await self._run(scripts.RENEW, calls)
        for part, renewed in zip(parts.values(), replies, strict=True):
            self._held.note_alive(unique, part, renewed.alive, answers)
        is_ours = dict(zip(unique, answers, strict=True))
        self._held.let_go([token for token in unique if not is_ours[token]])
        self._note_put_back(sum(renewed.put_back for renewed in replies))
        answers_to_all = [is_ours[token] for token in tokens]
        await self._count_stale(tokens, answers_to_all.count(False) - answers.count(False))
        return answers_to_all

    def _note_put_back(self, many: int) -> None:
        if many:
            logger.warning("%d claims that this worker did not know of are queued again", many)
            self._note_change(self._layout.buckets)

    async def _count_stale(self, tokens: Sequence[int], many: int) -> None:
        """So many of these came more than once, and are no claims."""
        if many:
            bucket = self._layout.bucket_of_token(tokens[0])
            await self._client.run([("HINCRBY", f"{bucket.prefix}meta", "stale", many)])

    async def finish(self, outcomes: Sequence[Outcome]) -> list[bool]:
        tokens = [outcome.token for outcome in outcomes]
        await self._hold_again(tokens)
        answers = [False] * len(outcomes)
        parts = self._held.parts(self._layout, tokens)
        self._note_change(parts)
        while parts:
            parts = await self._finish_once(outcomes, parts, answers)
        self._held.let_go(tokens)
        return answers

    async def _finish_once(
        self, outcomes: Sequence[Outcome], parts: dict[Bucket, Part], answers: list[bool]
    ) -> dict[Bucket, Part]:
        """Finish these; what is left of them where some had no claim any more."""
        calls = [self._call_finish(bucket, outcomes, part) for bucket, part in parts.items()]
        again = {}
        replies = await self._client.run(calls, is_bound=True)
        for (bucket, part), raw in zip(parts.items(), replies, strict=True):
            if raw is None:
                continue  # what these claims brought may be lost: `renew` puts them back
            reply = scripts.FINISH.read(raw)
            if not reply.chunks:
                tokens = [outcome.token for outcome in outcomes]
                self._held.note_alive(tokens, part, reply.alive, answers)
                part.keep(answers)
                again[bucket] = part
                continue
            for own in part.groups.values():
                for i in own:
                    answers[i] = True
            for kind, length in zip(PageKind, reply.chunks, strict=True):
                await self._merge_stories(bucket, kind.name.lower(), length)
        return again

    def _call_finish(self, bucket: Bucket, outcomes: Sequence[Outcome], part: Part) -> Command:
        finish, chunks = pack_finish(self._now_ms(), self._people_ms(), self._held, part, outcomes)
        return scripts.FINISH.call(bucket.prefix, bucket.config, finish, chunks)

    async def _hold_again(self, tokens: Sequence[int]) -> None:
        """Look up claims that another has made in our name."""
        missing = {token for token in tokens if token not in self._held}
        if not missing:
            return
        buckets = {self._layout.bucket_of_token(token) for token in missing}
        reader = Reader(self._client, self._layout, self._config)
        for claim in await reader.claims(buckets):
            if claim.token in missing:
                held = Held(claim.request, claim.entry, claim.group, claim.place)
                self._held.put(claim.token, held)

    async def _merge_stories(self, bucket: Bucket, family: str, length: int) -> None:
        if length < stories.CHUNKS:
            return
        source = f"stories:{family}"
        command = ("LRANGE", bucket.prefix + source, 0, stories.CHUNKS - 1)
        [chunks] = await self._client.run([command])
        if not chunks:
            return
        call = scripts.Compact(source, f"history:{family}", len(chunks))
        blobs = [chunks[0], chunks[-1], stories.merge(chunks)]
        await self._client.run([scripts.COMPACT.call(bucket.prefix, bucket.config, call, blobs)])

    async def release(self, tokens: Sequence[int]) -> list[bool]:
        unique = sorted(set(tokens), reverse=True)
        await self._hold_again(unique)
        parts = self._held.parts(self._layout, unique)
        now_ms = self._now_ms()
        calls = [
            (bucket, scripts.Groups(now_ms, self._held.places(unique, part), part.stale))
            for bucket, part in parts.items()
        ]
        answers = [False] * len(unique)
        for part, alive in zip(
            parts.values(), await self._run(scripts.RELEASE, calls), strict=True
        ):
            self._held.note_alive(unique, part, alive, answers)
        known = {token for token, answer in zip(unique, answers, strict=True) if answer}
        self._held.let_go(unique)
        self._note_change({self._layout.bucket_of_token(token) for token in unique})
        await self._count_stale(tokens, len(tokens) - len(unique))
        return [token in known for token in tokens]

    async def reclaim(self) -> int:
        total = 0
        buckets = self._layout.buckets
        while buckets:
            call = scripts.Reclaim(self._now_ms(), RECLAIM_BATCH)
            replies = await self._run(scripts.RECLAIM, [(bucket, call) for bucket in buckets])
            total += sum(count for count, _ in replies)
            found = list(zip(buckets, replies, strict=True))
            self._note_change(bucket for bucket, (count, _) in found if count)
            buckets = [bucket for bucket, (_, has_more) in found if has_more]
        return total

    async def forget_workers(self) -> None:
        """For one who knows that none of them lives: who takes a bucket then has their claims."""
        await self._client.run([("DEL", f"{b.prefix}lease") for b in self._layout.buckets])
        await self._job.forget_workers()

    # Looking

    async def stats(self) -> Stats:
        names = Stats.__struct_fields__
        commands = [("HMGET", f"{b.prefix}meta", *names) for b in self._layout.buckets]
        rows = await self._client.run(commands)
        return Stats(*(sum(int(row[i] or 0) for row in rows) for i in range(len(names))))

    async def hours(self) -> list[Hour]:
        commands = [("HGETALL", f"{bucket.prefix}hours") for bucket in self._layout.buckets]
        found = await self._client.run(commands)
        return policy.sum_hours(
            Hour(int(hour) * policy.HOUR_MS, *msgspec.msgpack.decode(counts, type=_Counts))
            for of_bucket in found
            for hour, counts in of_bucket.items()
        )

    async def hosts(self, limit: int) -> list[HostState]:
        commands = [("HGETALL", f"{bucket.prefix}hosts") for bucket in self._layout.buckets]
        states = []
        for found in await self._client.run(commands):
            for host, raw in found.items():
                record = unpack_record(raw)
                if record.queued or record.claimed or record.parked:
                    states.append(policy.host_state(record, host.decode(), self._config))
        states.sort(key=lambda state: (-state.queued, state.host))
        return states[:limit]

    async def explain(
        self, fingerprints: Sequence[int], host: str | None = None
    ) -> list[Explanation]:
        reader = Reader(self._client, self._layout, self._config)
        return [await reader.explain(fingerprint, host) for fingerprint in fingerprints]

    async def seen_report(self) -> SeenReport:
        """How much the seen sets hold; for a Bloom filter its fill and its error too."""
        return await report_seen(self._client, self._layout)

    # Clearing

    async def clear(self, kind: PageKind | None = None) -> None:
        if kind is None:
            await self._clear_buckets()
            await self._job.forget()
            self._held.clear()
        else:
            await self._clear_kind(kind)
        self._note_change(self._layout.buckets)

    async def _clear_buckets(self, *, is_long: bool = False) -> None:
        """`is_long`: others wait for us, and want to know that we are at it."""
        for bucket in self._layout.buckets:
            call = scripts.Clear(self._now_ms(), bucket.prefix, -1, [])
            await self._run(scripts.CLEAR, [(bucket, call)])
            if is_long:
                await self._job.go_on_clearing(self._now_ms())
        self._moved.clear()
        names = ("moved", "keys", "media")
        await self._client.run([("UNLINK", *(f"{self._job.prefix}{name}" for name in names))])
        await self._known.forget()

    async def _clear_kind(self, kind: PageKind) -> None:
        if kind is policy.LEARNED_KIND:
            await self._known.forget()
        reader = Reader(self._client, self._layout, self._config)
        by_home: dict[Bucket, list[object]] = defaultdict(list)
        for claim in await reader.claims(self._layout.buckets):
            fingerprint = claim.request.fingerprint
            by_home[self._home_of(claim)] += (
                str(fingerprint),
                *self._layout.hashes(fingerprint),
            )
        for bucket in self._layout.buckets:
            call = scripts.Clear(self._now_ms(), bucket.prefix, kind, by_home[bucket])
            await self._run(scripts.CLEAR, [(bucket, call)])

    def _home_of(self, claim: StoredClaim) -> Bucket:
        """The bucket that has its fingerprint: its own, unless hosts move."""
        if self._layout.is_advanced:
            return self._layout.bucket_of(claim.request.host)
        return self._layout.bucket_of_token(claim.token)


def _is_enough(claimed: int, limit: int) -> bool:
    """Whether a claim asks no further bucket; a limit of 0 is for looking at each."""
    if claimed >= CLAIM_BATCH // 2:
        return limit - claimed < CLAIM_LEAST
    return 0 < limit <= claimed

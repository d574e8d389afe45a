"""The buckets of a job: which hosts they have, and calls of scripts for them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from weft.clock import Clock, SystemClock, monotonic_s
from weft.config import FrontierConfig, HostLimits, SharedConfig
from weft.frontier.redis.layout import Bucket, RedisLayout
from weft.redis import keys
from weft.redis.client import Client
from weft.redis.script import Script

Arguments = TypeVar("Arguments", bound=msgspec.Struct)
Reply = TypeVar("Reply")


class Times:
    """`clock` is for tests; without it Redis' own counts."""

    def __init__(self, clock: Clock | None) -> None:
        self._clock = clock

    def now_ms(self) -> int:
        """What the scripts are told: 0 for Redis' own clock."""
        return self._clock.now_ms() if self._clock else 0

    def people_ms(self) -> int:
        """For what only people read."""
        return (self._clock or SystemClock()).now_ms()

    def local_ms(self) -> float:
        """For deciding when to ask again."""
        return self._clock.now_ms() if self._clock else monotonic_s() * 1000


class Buckets:
    def __init__(self, client: Client, job: str, config: FrontierConfig, times: Times) -> None:
        self.client = client
        self.config = config
        self.times = times
        self.layout = RedisLayout(job, config, config.shared)
        self._job = job
        # Hosts that the picker `advanced` has sent to another bucket, as far as we know.
        self._moved: dict[str, Bucket] = {}

    def adopt(self, shape: SharedConfig) -> None:
        """The job is laid out as it was when it began, whatever our own settings say."""
        if shape != self.layout.shape:
            self.layout = RedisLayout(self._job, self.config, shape)

    def limit_hosts(self, limits: Mapping[str, HostLimits | None]) -> None:
        self.config.limit_hosts(limits)
        self.layout.take_limits(self.config, limits)
        self.note_change(map(self.of_host, limits))

    async def run(
        self, script: Script[Arguments, Reply], calls: Sequence[tuple[Bucket, Arguments]]
    ) -> list[Reply]:
        commands = [script.call(bucket.prefix, bucket.config, given) for bucket, given in calls]
        return [script.read(raw) for raw in await self.client.run(commands)]

    def note_change(self, buckets: Iterable[Bucket]) -> None:
        """There may be something to claim there now."""
        for bucket in buckets:
            bucket.claim_at_ms = 0.0

    # Hosts that move

    def of_host(self, host: str) -> Bucket:
        """Where a host is, as far as we know."""
        if self._moved and (bucket := self._moved.get(host)):
            return bucket
        return self.layout.bucket_of(host)

    async def find_moved(self, hosts: set[str]) -> None:
        """Learn where hosts are that were not where we thought."""
        listed = sorted(hosts)
        if not listed:
            return
        key = f"{keys.job_prefix(self._job)}moved"
        [found] = await self.client.run([("HMGET", key, *listed)])
        for host, raw in zip(listed, found, strict=True):
            if raw is None:
                self._moved.pop(host, None)
            else:
                prefix, _ = msgspec.msgpack.decode(raw, type=tuple[str, str])
                self._moved[host] = self.layout.bucket_at(prefix)

    def forget_moved(self) -> None:
        self._moved.clear()

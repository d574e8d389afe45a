"""Which buckets a worker serves: each has its share, so that not all hosts go to who came first.

Workers that are heard of share the buckets of the job, by rendezvous hashing: all compute the same
from the same names, and when one comes or goes only its share changes hands. A worker that no
longer serves a bucket claims nothing there any more; its claims end by and by, and then their hosts
are free. This is for balance only: that a host is in the hands of one worker is seen to when it is
claimed.
"""

import asyncio
from contextlib import suppress
from hashlib import blake2b

import msgspec

from weft.clock import monotonic_s
from weft.errors import StoreError
from weft.frontier.redis.layout import Bucket
from weft.frontier.redis.scripts import MEET, Meet, NoConfig
from weft.redis.client import Client

#: Time between two signs of life.
MEET_S = 1.0
#: A worker that is not heard of for so long loses its share.
PATIENCE_MS = 5_000
#: How long to try to say goodbye.
LEAVE_S = 2.0
_NO_CONFIG = msgspec.msgpack.encode(NoConfig())


class Members:
    """`name` is our own; without one we take no part and serve all buckets."""

    def __init__(self, client: Client, prefix: str, name: str, workers_per_host: int) -> None:
        self._client = client
        self._prefix = prefix
        self._name = name
        self._workers_per_host = workers_per_host
        self._names: list[str] = []
        self._met_s: float | None = None

    @property
    def sharers(self) -> int:
        """How many of us can have claims of one host."""
        if not self._names:
            return self._workers_per_host
        return min(self._workers_per_host, len(self._names))

    async def meet(self) -> bool:
        """Say that we are here, from time to time; whether others came or went."""
        now_s = monotonic_s()
        if not self._name or (self._met_s is not None and now_s - self._met_s < MEET_S):
            return False
        self._met_s = now_s
        call = MEET.call(self._prefix, _NO_CONFIG, Meet(self._name, PATIENCE_MS))
        [raw] = await self._client.run([call])
        before, self._names = self._names, MEET.read(raw)
        return before != self._names

    async def leave(self) -> None:
        """Hand over at once; if that takes long, the others will notice by themselves."""
        if self._met_s is None:
            return
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self._client.run([("ZREM", f"{self._prefix}workers", self._name)])

    def serves(self, bucket: Bucket) -> bool:
        if not self._names:
            return True
        ranked = sorted(self._names, key=lambda name: _rank(name, bucket.number))
        return self._name in ranked[: self._workers_per_host]


def _rank(name: str, bucket: int) -> bytes:
    return blake2b(f"{bucket} {name}".encode(), digest_size=8).digest()

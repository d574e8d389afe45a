"""Fingerprints of pages that were fetched elsewhere: a family of sets of the whole job.

Nobody knows the hosts of these pages, so the seen sets of the buckets, which are kept by host, are
no place for them. They are written once, by `learn`, and then only read.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from weft.redis import keys
from weft.redis.client import Client, Command
from weft.redis.jobs import KnownCount

#: Fingerprints in a set, on average: so few that Redis keeps it as an array of integers.
SET_SIZE = 256
#: Fingerprints, or keys, that one round trip deals with.
BATCH = 10_000


class KnownSets:
    def __init__(self, client: Client, job: str) -> None:
        self._client = client
        self._prefix = keys.job_prefix(job)
        self._count = KnownCount(client, job)
        #: How many there are, as far as we know.
        self.sets = 0

    async def load(self) -> None:
        self.sets = await self._count.load()

    async def learn(self, fingerprints: Sequence[int]) -> None:
        """The first call decides how many sets there are."""
        if not fingerprints:
            return
        self.sets = await self._count.fix(math.ceil(len(fingerprints) / SET_SIZE))
        for first in range(0, len(fingerprints), BATCH):
            await self._client.run(self._add(fingerprints[first : first + BATCH]))

    def _add(self, fingerprints: Sequence[int]) -> list[Command]:
        by_key: dict[str, list[int]] = defaultdict(list)
        for fingerprint in fingerprints:
            by_key[self._key(fingerprint)].append(fingerprint)
        return [("SADD", key, *own) for key, own in by_key.items()]

    async def find(self, fingerprints: Sequence[int]) -> list[bool]:
        """Which of these are known."""
        if not self.sets:
            return [False] * len(fingerprints)
        found = await self._client.run([("SISMEMBER", self._key(f), f) for f in fingerprints])
        return [bool(answer) for answer in found]

    async def forget(self) -> None:
        """The sets before their number: whoever dies meanwhile is followed by one who knows it."""
        await self.load()
        for first in range(0, self.sets, BATCH):
            numbers = range(first, min(first + BATCH, self.sets))
            await self._client.run([("UNLINK", f"{self._prefix}known:{n}") for n in numbers])
        await self._count.forget()
        self.sets = 0

    def _key(self, fingerprint: int) -> str:
        return f"{self._prefix}known:{fingerprint % self.sets}"

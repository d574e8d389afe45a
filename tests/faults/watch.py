"""Looks at the leases of a job from the outside, all the time."""

import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from weft.cluster.status import Status
from weft.redis import keys

#: Time between two looks.
LOOK_S = 0.1

_LOOK = """
local leases = {}
for i = 2, #KEYS do
  leases[i - 1] = redis.call('HGETALL', KEYS[i])
end
return { redis.call('TIME'), redis.call('HGETALL', KEYS[1]), leases }
"""


@dataclass
class Tenure:
    """A lease from when it was taken until it was gone, as far as it was seen."""

    bucket: int
    token: int
    owner: str
    #: It was not there yet at the first of these, and not any more at the last.
    from_s: float
    to_s: float
    #: When it was seen, and until when it was to last.
    seen_s: list[float] = field(default_factory=list)
    until_s: list[float] = field(default_factory=list)


class LeaseWatch:
    """What it has seen so far. Times are `time.monotonic()`, as in the log of the site."""

    def __init__(self, port: int, job: str, buckets: int, lease_s: float) -> None:
        self.lease_s = lease_s
        self._client = redis.Redis("127.0.0.1", port, socket_timeout=5, retry=Retry(NoBackoff(), 0))
        names = [keys.bucket_prefix(job, number, is_one_slot=False) for number in range(buckets)]
        self._keys = [f"{keys.job_prefix(job)}status", *(f"{name}lease" for name in names)]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._last_s = time.monotonic()
        self._now: dict[int, dict[str, Tenure]] = defaultdict(dict)
        self.looks = 0
        #: Of each bucket, in the order in which they were seen.
        self.tenures: dict[int, list[Tenure]] = defaultdict(list)
        #: What must never be.
        self.wrongs: list[str] = []
        #: Worker → its node.
        self.nodes: dict[str, str] = {}
        #: When the store did not answer.
        self.failed_s: list[float] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._client.close()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    def holders(self) -> set[str]:
        """Nodes that have leases."""
        return {self.nodes[owner] for there in [*self._now.values()] for owner in there}

    def _run(self) -> None:
        while not self._is_over.wait(LOOK_S):
            before_s = time.monotonic()
            try:
                found: Any = self._client.eval(_LOOK, len(self._keys), *self._keys)
            except redis.RedisError:
                self.failed_s.append(time.monotonic())
                continue
            self._note(before_s, *found)

    def _note(self, before_s: float, now: list[bytes], statuses: list[bytes], leases: Any) -> None:
        after_s = time.monotonic()
        now_ms = int(now[0]) * 1000 + int(now[1]) // 1000
        self.looks += 1
        for name, packed in _pairs(statuses):
            self.nodes[name] = msgspec.msgpack.decode(packed, type=Status).node
        for bucket, packed_leases in enumerate(leases):
            there: dict[str, Tenure] = {}
            for owner, packed in _pairs(packed_leases):
                token, until_ms, *_ = msgspec.msgpack.decode(packed)
                tenure = self._tenure(bucket, owner, token)
                tenure.to_s = after_s
                tenure.seen_s.append(before_s)
                tenure.until_s.append(after_s + (until_ms - now_ms) / 1000)
                there[owner] = tenure
            for gone in self._now[bucket].values():
                gone.to_s = after_s
            if len(there) > 1:
                self.wrongs.append(f"bucket {bucket} has several holders: {[*there]}")
            self._now[bucket] = there
        self._last_s = before_s

    def _tenure(self, bucket: int, owner: str, token: int) -> Tenure:
        tenure = self._now[bucket].get(owner)
        if tenure is not None and tenure.token == token:
            return tenure
        earlier = self.tenures[bucket]
        if earlier and earlier[-1].token >= token:
            self.wrongs.append(f"bucket {bucket}: token {token} after {earlier[-1].token}")
        tenure = Tenure(bucket, token, owner, self._last_s, self._last_s)
        earlier.append(tenure)
        return tenure


def _pairs(found: list[bytes]) -> list[tuple[str, bytes]]:
    return [(found[i].decode(), found[i + 1]) for i in range(0, len(found), 2)]

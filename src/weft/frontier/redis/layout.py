"""How a job is laid out in Redis: its shape, its buckets, where a host and a fingerprint belong."""

import math
from collections.abc import Iterable
from functools import lru_cache
from hashlib import md5
from struct import Struct
from typing import TypeAlias

import mmh3
import msgspec

from weft.config import FrontierConfig, SharedConfig
from weft.frontier.policy import HostRecord
from weft.frontier.redis.scripts import BucketConfig
from weft.records import HostKey, Picker, SeenKind
from weft.redis import keys

#: Raised whenever an older Weft could not read what this one writes. This is written when the first
#: page waits until it is due: an older Weft would let it wait for ever.
FORMAT = "4"
#: What is written until then.
KEYED_FORMAT = "3"
#: The same where host keys are host names: a Weft that knows no others reads that too.
PLAIN_FORMAT = "2"
FORMATS = (PLAIN_FORMAT, KEYED_FORMAT, FORMAT)
#: Parked requests that make a block.
BLOCK_SIZE = 1_000
#: Requests that a host may have in its queue however full its bucket is.
HOST_FLOOR = 1_000

_encode = msgspec.msgpack.encode
_HASH_BITS = (1 << 48) - 1
#: Delay, concurrency, workers.
_PlainLimits: TypeAlias = tuple[int, int, int]


def format_of(shape: SharedConfig) -> str:
    return PLAIN_FORMAT if shape.host_key is HostKey.HOST else KEYED_FORMAT


class Bucket:
    """One partition of the hosts of a job."""

    def __init__(self, number: int, prefix: str) -> None:
        self.number = number
        self.prefix = prefix
        #: What its scripts are told with every call.
        self.config = b""
        #: When it was last asked for claims.
        self.asked_at_ms = 0.0
        #: When it is to be asked again at the latest, by the clock of whoever asks.
        self.claim_at_ms = 0.0
        #: When the next claim is worth it; infinite: not before something changes.
        self.next_at_ms = math.inf


class RedisLayout:
    def __init__(self, job: str, config: FrontierConfig, shape: SharedConfig) -> None:
        self.job = job
        self.shape = shape
        self.is_advanced = shape.picker is Picker.ADVANCED
        self.is_bloom = shape.seen is SeenKind.BLOOM
        prefixes = [
            keys.bucket_prefix(job, number, is_one_slot=self.is_advanced)
            for number in range(shape.buckets)
        ]
        self.buckets = [Bucket(number, prefix) for number, prefix in enumerate(prefixes)]
        self._numbers = {prefix: number for number, prefix in enumerate(prefixes)}
        self._configure(config, range(shape.buckets))

    def take_limits(self, config: FrontierConfig, hosts: Iterable[str]) -> None:
        """The limits of these hosts have changed: tell the buckets that care."""
        changed = {self.bucket_of(host).number for host in hosts}
        self._configure(config, range(self.shape.buckets) if self.is_advanced else changed)

    def _configure(self, config: FrontierConfig, numbers: Iterable[int]) -> None:
        by_bucket = self._limits_by_bucket(config)
        for number in numbers:
            self.buckets[number].config = _encode(self._config(config, by_bucket[number]))

    def bucket_of(self, host: str) -> Bucket:
        """The bucket that the hash of a host names."""
        return self.buckets[_hash(host) % len(self.buckets)]

    def bucket_at(self, prefix: str) -> Bucket:
        return self.buckets[self._numbers[prefix]]

    # Tokens carry the number of their bucket.

    def token(self, bucket: Bucket, number: int) -> int:
        return number * len(self.buckets) + bucket.number

    def bucket_of_token(self, token: int) -> Bucket:
        return self.buckets[token % len(self.buckets)]

    def hashes(self, fingerprint: int) -> tuple[int, int]:
        """Where a fingerprint stands in a Bloom filter: position i is hash + i·step."""
        if not self.is_bloom:
            return 0, 0
        one, two = mmh3.hash64(fingerprint.to_bytes(8, "big"), signed=False)
        return one & _HASH_BITS, (two & _HASH_BITS) | 1

    def _limits_by_bucket(self, config: FrontierConfig) -> list[dict[str, _PlainLimits]]:
        """Each bucket is told the limits of its own hosts only; if hosts move, of all."""
        plain = {
            host: (own.delay_ms, own.concurrency, config.workers_of(host))
            for host, own in config.limits_by_host.items()
        }
        if self.is_advanced:
            return [plain] * self.shape.buckets
        by_bucket: list[dict[str, _PlainLimits]] = [{} for _ in range(self.shape.buckets)]
        for host, own in plain.items():
            by_bucket[_hash(host) % self.shape.buckets][host] = own
        return by_bucket

    def _config(
        self,
        config: FrontierConfig,
        limits_by_host: dict[str, _PlainLimits],
    ) -> BucketConfig:
        shape = self.shape
        return BucketConfig(
            order=config.order,
            delay_ms=config.limits.delay_ms,
            concurrency=config.limits.concurrency,
            limits_by_host=limits_by_host,
            claim_ms=config.claim_ms,
            backoff_ms=config.backoff_ms,
            max_backoff_ms=config.max_backoff_ms,
            max_pause_ms=config.max_pause_ms,
            bad_url_ms=config.bad_url_ms,
            bad_host_ms=config.bad_host_ms,
            workers_per_host=config.workers_per_host,
            bucket_limit=shape.bucket_limit,
            host_floor=min(HOST_FLOOR, shape.bucket_limit),
            block_size=BLOCK_SIZE,
            bloom_capacity=math.ceil(shape.expected_urls / shape.buckets) if self.is_bloom else 0,
            bloom_error=shape.bloom_error,
            picker=shape.picker,
            job_prefix=keys.job_prefix(self.job),
            buckets=[bucket.prefix for bucket in self.buckets] if self.is_advanced else [],
        )


# The flags of a record, by their bits, stand in the place of the first.
_FLAGS = ("is_held", "is_pausing", "is_visited", "is_unspent")
_FIXED_NAMES = [
    name for name in HostRecord.__struct_fields__ if name not in ("owners", *_FLAGS[1:])
]
_FIXED = Struct(">IIIdIIdBdIIH")
_LENGTH = Struct(">H")
_COUNT = Struct(">I")


def unpack_record(packed: bytes) -> HostRecord:
    """The record of a host, as common.lua packs it."""
    *fixed, owners = _FIXED.unpack_from(packed)
    record = HostRecord(owners=[])
    for name, number in zip(_FIXED_NAMES, fixed, strict=True):
        if name == _FLAGS[0]:
            for bit, flag in enumerate(_FLAGS):
                setattr(record, flag, bool(number >> bit & 1))
        else:
            setattr(record, name, int(number))
    place = _FIXED.size
    for _ in range(owners):
        (length,) = _LENGTH.unpack_from(packed, place)
        end = place + _LENGTH.size + length
        (count,) = _COUNT.unpack_from(packed, end)
        record.owners.append((packed[place + _LENGTH.size : end].decode(), count))
        place = end + _COUNT.size
    return record


@lru_cache(maxsize=100_000)
def _hash(host: str) -> int:
    digest = md5(host.encode(errors="surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest, "big")

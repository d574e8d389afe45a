"""Looking into the seen sets from outside the scripts: for people, and for what is claimed."""

import math

import msgspec

from weft.frontier.redis.layout import Bucket, RedisLayout
from weft.records import PageKind, SeenKind, SeenReport
from weft.redis.client import Client, Command

KINDS = [kind.name.lower() for kind in PageKind]


class Layer(msgspec.Struct, frozen=True, array_like=True):
    """One layer of a Bloom filter."""

    bits: int
    hashes: int
    capacity: int
    taken: int


class SeenSets:
    """The seen sets of one bucket, as they are now."""

    def __init__(self, client: Client, layout: RedisLayout, bucket: Bucket) -> None:
        self._client = client
        self._layout = layout
        self._bucket = bucket
        self._sets: dict[str, int] = {}
        self._layers: dict[str, list[Layer]] = {}

    async def load(self) -> None:
        names = [f"{part}_{kind}" for kind in KINDS for part in ("sets", "layers")]
        [found] = await self._client.run([("HMGET", f"{self._bucket.prefix}meta", *names)])
        for kind, (sets, layers) in zip(
            KINDS, zip(found[::2], found[1::2], strict=True), strict=True
        ):
            self._sets[kind] = int(sets or 1)
            self._layers[kind] = msgspec.msgpack.decode(layers, type=list[Layer]) if layers else []

    async def kind_of(self, fingerprint: int) -> PageKind | None:
        """As what a fingerprint is known; None: it is not."""
        for kind in PageKind:
            if await self._has(kind.name.lower(), fingerprint):
                return kind
        return None

    async def _has(self, kind: str, fingerprint: int) -> bool:
        if not self._layout.is_bloom:
            number = set_number(fingerprint, self._sets[kind])
            key = f"{self._bucket.prefix}seen:{kind}:{number}"
            [answer] = await self._client.run([("SISMEMBER", key, str(fingerprint))])
            return bool(answer)
        start, step = self._layout.hashes(fingerprint)
        for number, layer in enumerate(self._layers[kind]):
            key = f"{self._bucket.prefix}bloom:{kind}:{number}"
            commands: list[Command] = [
                ("GETBIT", key, (start + i * step) % layer.bits) for i in range(layer.hashes)
            ]
            if all(await self._client.run(commands)):
                return True
        return False

    async def fills(self, kind: str) -> list[tuple[Layer, float]]:
        layers = self._layers[kind]
        keys = [f"{self._bucket.prefix}bloom:{kind}:{i}" for i in range(len(layers))]
        counts = await self._client.run([("BITCOUNT", key) for key in keys])
        return [(layer, set_ / layer.bits) for layer, set_ in zip(layers, counts, strict=True)]

    def sets(self) -> int:
        return sum(self._sets.values())


def set_number(fingerprint: int, sets: int) -> int:
    """Which of the sets a fingerprint is in (linear hashing, as in seen.lua)."""
    low = 1 << (sets.bit_length() - 1)
    number = fingerprint % (2 * low)
    return number if number < sets else number - low


async def report_seen(client: Client, layout: RedisLayout) -> SeenReport:
    return await (_report_bloom if layout.is_bloom else _report_exact)(client, layout)


async def _report_exact(client: Client, layout: RedisLayout) -> SeenReport:
    names = [f"urls_{kind}" for kind in KINDS]
    rows = await client.run([("HMGET", f"{b.prefix}meta", *names) for b in layout.buckets])
    urls = sum(int(value or 0) for row in rows for value in row)
    parts = 0
    for bucket in layout.buckets:
        sets = SeenSets(client, layout, bucket)
        await sets.load()
        parts += sets.sets()
    return SeenReport(SeenKind.EXACT, urls, parts, size_bytes=8 * urls)


async def _report_bloom(client: Client, layout: RedisLayout) -> SeenReport:
    urls = parts = bits = 0
    ones = error = 0.0
    for bucket in layout.buckets:
        sets = SeenSets(client, layout, bucket)
        await sets.load()
        fills = [fill for kind in KINDS for fill in await sets.fills(kind)]
        urls += sum(layer.taken for layer, _ in fills)
        parts += len(fills)
        bits += sum(layer.bits for layer, _ in fills)
        ones += sum(layer.bits * fill for layer, fill in fills)
        error += 1 - math.prod(1 - fill**layer.hashes for layer, fill in fills)
    fill = ones / bits if bits else 0.0
    return SeenReport(SeenKind.BLOOM, urls, parts, bits // 8, fill, error / len(layout.buckets))

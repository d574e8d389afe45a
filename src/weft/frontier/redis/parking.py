"""Parked requests: what a full bucket does not keep in its queues.

They wait as raw elements of a list (the spill) until they fill a block, then compressed. When the
queue of their host has drained, the oldest block is unpacked into it. Whoever is first does either;
who comes second finds that the head of the list has changed, and nothing happens.
"""

from collections.abc import Sequence

from weft.frontier.redis import entry as entries
from weft.frontier.redis.blocks import compress, decompress
from weft.frontier.redis.entry import Entry
from weft.frontier.redis.layout import BLOCK_SIZE, Bucket
from weft.frontier.redis.scripts import COMPACT, UNPARK, Compact, Unpark
from weft.records import Order, PageKind
from weft.redis.client import Client, Command
from weft.urls import fingerprint

#: Stands for the fingerprint that follows from the URL: those bytes cannot be compressed.
_BY_URL = 0


class Parking:
    def __init__(self, client: Client, order: Order) -> None:
        self._client = client
        self._order = order

    async def compress(self, bucket: Bucket, host: str, kind: PageKind) -> None:
        """Make a block of what was parked first, if there is enough."""
        name = f"{kind.name.lower()}:{host}"
        key = f"{bucket.prefix}spill:{name}"
        [spilled] = await self._client.run([("LRANGE", key, 0, BLOCK_SIZE - 1)])
        if len(spilled) < BLOCK_SIZE:
            return
        call = Compact(f"spill:{name}", f"blocks:{name}", len(spilled))
        blobs = [spilled[0], spilled[-1], pack_block(spilled, host, kind)]
        await self._client.run([COMPACT.call(bucket.prefix, bucket.config, call, blobs)])

    async def unpark(self, bucket: Bucket, host: str, now_ms: int) -> bool:
        """Put the next block of a host into its queue, data before nav; whether there was one."""
        for kind in (PageKind.DATA, PageKind.NAV):
            command = await self._unpark_next(bucket, host, kind, now_ms)
            if command is not None:
                [raw] = await self._client.run([command])
                return UNPARK.read(raw)
        return False

    async def _unpark_next(
        self, bucket: Bucket, host: str, kind: PageKind, now_ms: int
    ) -> Command | None:
        name = f"{kind.name.lower()}:{host}"
        block, spilled = await self._client.run(
            [
                ("LINDEX", f"{bucket.prefix}blocks:{name}", 0),
                ("LRANGE", f"{bucket.prefix}spill:{name}", 0, BLOCK_SIZE - 1),
            ]
        )
        if block is not None:
            source, taken, packed = "blocks", [block], unpack_block(block, host, kind)
        elif spilled:
            source, taken, packed = "spill", spilled, spilled
        else:
            return None
        levels = self._levels(packed)
        sizes = [(level, len(own)) for level, own in levels]
        call = Unpark(now_ms, host, kind, source, len(taken), sizes)
        blobs = [taken[0], taken[-1], *(request for _, own in levels for request in own)]
        return UNPARK.call(bucket.prefix, bucket.config, call, blobs)

    def _levels(self, packed: Sequence[bytes]) -> list[tuple[str, list[bytes]]]:
        if self._order is not Order.PRIORITY:
            return [("0", list(packed))]
        levels: dict[str, list[bytes]] = {}
        for request in packed:
            levels.setdefault(str(entries.unpack(request).priority), []).append(request)
        return list(levels.items())


def pack_block(packed: Sequence[bytes], host: str, kind: PageKind) -> bytes:
    records = []
    for entry in map(entries.unpack, packed):
        is_plain = entry.fingerprint == fingerprint(entry.request(host, kind).url)
        records.append(_replaced(entry, _BY_URL) if is_plain else entry)
    return compress(records)


def unpack_block(block: bytes, host: str, kind: PageKind) -> list[bytes]:
    packed = []
    for entry in decompress(block, Entry):
        if entry.fingerprint == _BY_URL:
            entry = _replaced(entry, fingerprint(entry.request(host, kind).url))
        packed.append(entries.encode(entry))
    return packed


def _replaced(entry: Entry, number: int) -> Entry:
    return Entry(number, *(getattr(entry, name) for name in Entry.__struct_fields__[1:]))

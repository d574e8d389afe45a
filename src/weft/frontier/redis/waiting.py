"""Gathers pages that wait into blocks, and opens blocks; what for is told in `waitingpages`.

Any client may do it: what it has read must still be there when it puts the new form in its place,
or else another was faster, and nothing happens.
"""

import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from weft.frontier.redis.layout import Bucket
from weft.frontier.redis.replies import with_scores
from weft.frontier.redis.scripts import REARRANGE, Rearrange
from weft.frontier.redis.waitingpages import (
    AHEAD_MS,
    SOON_MS,
    Arranged,
    WaitingPage,
    arrange,
    kind_of,
    name_block,
    pack_block,
    pack_page,
    size_of,
    unpack_block,
    unpack_page,
)
from weft.records import Order
from weft.redis.client import Client, Command

#: Of pages that are alone, those are gathered that are due after this time.
FAR_MS = SOON_MS
#: As many pages alone are gathered: this part of all that wait, between two bounds.
ALONE_PART, ALONE_LEAST, ALONE_MOST = 64, 32, 128
#: Smaller blocks are put together when there are more than so many of a kind.
SMALL, SMALL_MOST = 500, 8
#: Pages that stay alone when a block is opened, so that it is not opened for each.
AT_LEAST = 8
#: Blocks that are read at a time by those who look for a page.
_PAGE = 16


def is_due_to_gather(alone: int, waiting: int) -> bool:
    """Whether so many pages alone are too many."""
    return alone >= min(max(waiting // ALONE_PART, ALONE_LEAST), ALONE_MOST)


class WaitingRoom:
    def __init__(self, client: Client, order: Order) -> None:
        self._client = client
        self._order = order

    async def gather(self, bucket: Bucket, now_ms: int) -> None:
        """Put pages that are alone into blocks, and small blocks together."""
        command = ("ZRANGEBYSCORE", f"{bucket.prefix}waiting", now_ms + FAR_MS, "+inf")
        [found] = await self._client.run([(*command, "WITHSCORES")])
        members = with_scores(found)
        read = {packed: unpack_page(packed, at_ms) for packed, at_ms in members.items()}
        alone = {packed: page for packed, page in read.items() if page}
        blocks = await self._read(bucket, _small([name for name in members if name not in alone]))
        pages = [*alone.values(), *_pages_of(blocks.items())]
        await self._put(bucket, [*blocks], alone, arrange(pages, now_ms), now_ms)

    async def open(
        self, bucket: Bucket, names: Sequence[str], blocks: Sequence[bytes], now_ms: int
    ) -> None:
        taken = [name.encode() for name in names]
        pages = _pages_of(zip(taken, blocks, strict=True))
        await self._put(bucket, taken, {}, arrange(pages, now_ms, at_least=AT_LEAST), now_ms)

    async def pages(self, bucket: Bucket) -> AsyncIterator[WaitingPage]:
        """All that wait in a bucket."""
        command = ("ZRANGE", f"{bucket.prefix}waiting", 0, -1, "WITHSCORES")
        [found] = await self._client.run([command])
        names = []
        for member, at_ms in with_scores(found).items():
            page = unpack_page(member, at_ms)
            if page is None:
                names.append(member)
            else:
                yield page
        for first in range(0, len(names), _PAGE):
            blocks = await self._read(bucket, names[first : first + _PAGE])
            for page in _pages_of(blocks.items()):
                yield page

    async def _read(self, bucket: Bucket, names: Sequence[bytes]) -> dict[bytes, bytes]:
        if not names:
            return {}
        [blocks] = await self._client.run([("HMGET", f"{bucket.prefix}later", *names)])
        found = zip(names, blocks, strict=True)
        return {name: block for name, block in found if block is not None}

    async def _put(
        self,
        bucket: Bucket,
        names: Sequence[bytes],
        taken: Mapping[bytes, WaitingPage],
        arranged: Arranged,
        now_ms: int,
    ) -> None:
        if not names and not arranged.blocks:
            return
        await self._client.run([self._call(bucket, names, taken, arranged, now_ms)])

    def _call(
        self,
        bucket: Bucket,
        names: Sequence[bytes],
        taken: Mapping[bytes, WaitingPage],
        arranged: Arranged,
        now_ms: int,
    ) -> Command:
        call = Rearrange(
            now_ms=now_ms,
            names=[name.decode() for name in names],
            taken=[page.due_at_ms for page in taken.values()],
            times=[page.due_at_ms for page in arranged.alone],
            blocks=[
                (name_block(own, secrets.token_hex(6)), own[0].due_at_ms - AHEAD_MS)
                for own in arranged.blocks
            ],
        )
        blobs = [
            *taken,
            *(pack_page(page.request, page.full_entry, self._order) for page in arranged.alone),
            *(pack_block(own) for own in arranged.blocks),
        ]
        return REARRANGE.call(bucket.prefix, bucket.config, call, blobs)


def _small(names: Iterable[bytes]) -> list[bytes]:
    """The small blocks of a kind that has too many of them."""
    small = [name for name in names if size_of(name) < SMALL]
    of_kind = Counter(map(kind_of, small))
    return [name for name in small if of_kind[kind_of(name)] > SMALL_MOST]


def _pages_of(blocks: Iterable[tuple[bytes, bytes]]) -> list[WaitingPage]:
    return [page for name, block in blocks for page in unpack_block(name, block)]

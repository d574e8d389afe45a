"""Reads the Redis of a scrapy-redis crawl, and changes nothing there."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Self

import msgspec
from scrapy.settings import BaseSettings

from weft.errors import ConfigError, StoreMissingError
from weft.frontier import Store
from weft.redis.client import Client

#: What scrapy-redis calls its keys unless the project says otherwise.
DEFAULT_QUEUE_KEY = "%(spider)s:requests"
DEFAULT_DUPEFILTER_KEY = "%(spider)s:dupefilter"
#: Entries, or fingerprints, that are read at a time.
PAGE = 500
#: How long the server may be away before we give up.
PATIENCE_S = 30.0
#: Hex digits of a SHA-1.
DIGEST_LENGTH = 40

_LAST_IN_FIRST_OUT = ("LifoQueue", "SpiderStack")
_COUNT_AND_RANGE = {b"zset": ("ZCARD", "ZRANGE"), b"list": ("LLEN", "LRANGE")}


class Keys(msgspec.Struct, frozen=True):
    """The keys of a crawl of scrapy-redis."""

    queue: str
    dupefilter: str
    #: The next request of a list is on the left; otherwise it is on the right.
    is_lifo: bool = False


def find_keys(
    settings: BaseSettings, spider: str, queue: str | None, dupefilter: str | None, *, is_lifo: bool
) -> Keys:
    """From the user, or else the settings of the project, or else scrapy-redis."""
    queue = queue or settings.get("SCHEDULER_QUEUE_KEY") or DEFAULT_QUEUE_KEY
    dupefilter = dupefilter or settings.get("SCHEDULER_DUPEFILTER_KEY") or DEFAULT_DUPEFILTER_KEY
    queue_class = str(settings.get("SCHEDULER_QUEUE_CLASS") or "")
    return Keys(
        _named(queue, spider),
        _named(dupefilter, spider),
        is_lifo or queue_class.endswith(_LAST_IN_FIRST_OUT),
    )


def _named(key: str, spider: str) -> str:
    try:
        return key % {"spider": spider}
    except (KeyError, TypeError, ValueError) as problem:
        raise ConfigError(
            f"{key} is not a scrapy-redis key ({problem}); it may only contain %(spider)s"
        ) from problem


class Source:
    """Construction does no I/O; `async with` opens and closes."""

    def __init__(self, store: Store, keys: Keys) -> None:
        self._client = Client(store.url, patience_s=PATIENCE_S)
        self._place = store.place
        self._keys = keys
        self._kind = b"none"

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._client.__aexit__()

    async def look(self) -> tuple[int, int]:
        """How many requests are queued, and how many fingerprints are in the dupefilter."""
        queue, dupefilter = await self._client.run(
            [("TYPE", self._keys.queue), ("TYPE", self._keys.dupefilter)]
        )
        self._check(queue, dupefilter)
        self._kind = queue
        count, _ = _COUNT_AND_RANGE.get(queue, ("LLEN", ""))
        queued, known = await self._client.run(
            [(count, self._keys.queue), ("SCARD", self._keys.dupefilter)]
        )
        return queued, known

    def _check(self, queue: bytes, dupefilter: bytes) -> None:
        if queue == dupefilter == b"none":
            raise StoreMissingError(
                f"{self._place} has neither a queue {self._keys.queue} nor a dupefilter "
                f"{self._keys.dupefilter}; name them with --queue-key and --dupefilter-key, "
                "and check the database number in --from"
            )
        if queue not in (*_COUNT_AND_RANGE, b"none"):
            raise ConfigError(
                f"{self._keys.queue} is a {queue.decode()}, and a queue of scrapy-redis is a zset "
                "or a list; name the right key with --queue-key"
            )
        if dupefilter not in (b"set", b"none"):
            raise ConfigError(
                f"{self._keys.dupefilter} is a {dupefilter.decode()}, and the dupefilter of "
                "scrapy-redis is a set; name the right key with --dupefilter-key"
            )

    async def queue(self, *, is_reversed: bool) -> AsyncIterator[list[bytes]]:
        """All entries, page by page, in the order in which scrapy-redis would take them, or in
        reverse. It pushes to the left of a list and takes from the right (FIFO) or from the left
        (LIFO). From a sorted set it takes the lowest score, which is minus the priority."""
        if self._kind not in _COUNT_AND_RANGE:
            return
        _, command = _COUNT_AND_RANGE[self._kind]
        is_from_left = (self._kind == b"zset" or self._keys.is_lifo) is not is_reversed
        first = 0
        while True:
            span = (first, first + PAGE - 1) if is_from_left else (-first - PAGE, -first - 1)
            [entries] = await self._client.run([(command, self._keys.queue, *span)])
            if not entries:
                return
            yield entries if is_from_left else entries[::-1]
            first += len(entries)

    async def are_known(self, digests: Sequence[bytes]) -> list[bool]:
        """Which of these the dupefilter has."""
        commands = [("SISMEMBER", self._keys.dupefilter, digest.hex()) for digest in digests]
        return [bool(answer) for answer in await self._client.run(commands)]

    async def digests(self) -> AsyncIterator[list[bytes]]:
        """What is in the dupefilter, page by page; some may come twice."""
        cursor: Any = 0
        while True:
            command = ("SSCAN", self._keys.dupefilter, cursor, "COUNT", PAGE)
            [(cursor, found)] = await self._client.run([command])
            yield [bytes.fromhex(text.decode()) for text in found if _is_digest(text)]
            if not int(cursor):
                return


def _is_digest(text: bytes) -> bool:
    return len(text) == DIGEST_LENGTH and all(byte in b"0123456789abcdef" for byte in text)

"""The record of a job: its shape, which run it is, whether it is finished.

A run gets a number of its own whenever the job starts over. A worker that finds another number
than the one that it began with has been overtaken: someone has started the crawl over, or cleared
it, and what the worker knows means nothing any more.
"""

import asyncio
import logging
import secrets

import msgspec

from weft.config import SharedConfig
from weft.errors import StoreError, StoreFormatError, StoreMissingError
from weft.frontier.redis.layout import FORMAT, PLAIN_FORMAT, format_of
from weft.frontier.redis.scripts import BEGIN, OPEN, Begin, Begun, Open
from weft.redis import keys
from weft.redis.client import SHORT_PATIENCE_S, Client, Command
from weft.redis.script import NO_CONFIG

logger = logging.getLogger(__name__)

#: A worker that forgets an earlier crawl says that it still does so at least this often.
PATIENCE_MS = 60_000
_POLL_S = 0.2


class Job:
    def __init__(self, client: Client, name: str, place: str) -> None:
        self._client = client
        self._place = place
        self.name = name
        self.prefix = keys.job_prefix(name)
        self.key = f"{self.prefix}job"
        #: None: the job is not there.
        self.run: str | None = None

    async def open(self, shape: SharedConfig) -> SharedConfig:
        """Make the job if there is none; the shape that it has."""
        arguments = Open(secrets.token_hex(8), format_of(shape))
        packed = msgspec.msgpack.encode(shape)
        [raw] = await self._client.run([OPEN.call(self.prefix, NO_CONFIG, arguments, [packed])])
        await self._client.run([("SADD", keys.JOBS, self.name)])
        (run, format_name), [packed] = OPEN.read_with_blobs(raw)
        self._check(format_name)
        self.run = run
        return unpack_shape(packed)

    async def look(self) -> SharedConfig:
        """The shape of a job that must be there."""
        command = ("HMGET", self.key, "run", "shape", "format")
        [(run, packed, format_name)] = await self._client.run([command])
        if run is None:
            raise StoreMissingError(f"there is no job {self.name} in {self._place}")
        self._check(format_name.decode())
        self.run = run.decode()
        return unpack_shape(packed)

    def _check(self, format_name: str) -> None:
        if format_name not in (FORMAT, PLAIN_FORMAT):
            raise StoreFormatError(
                f"the job {self.name} in {self._place} has format {format_name}, this Weft knows "
                f"{FORMAT}; upgrade Weft, or choose another job with --job"
            )

    async def begin(self, arguments: Begin) -> tuple[Begun, SharedConfig]:
        """Join, or be told to clear; waits while another clears. And the shape as it is."""
        while True:
            [raw] = await self._client.run([BEGIN.call(self.prefix, NO_CONFIG, arguments)])
            begun, [packed] = BEGIN.read_with_blobs(raw)
            if begun.verdict != "wait":
                self.run = begun.run
                return begun, unpack_shape(packed)
            await asyncio.sleep(_POLL_S)

    async def go_on_clearing(self, now_ms: int) -> None:
        """Say that we still do: others would take over otherwise."""
        if not now_ms:
            [(seconds, _)] = await self._client.run([("TIME",)])
            now_ms = seconds * 1000
        await self._client.run([("HSET", self.key, "clearing", now_ms + PATIENCE_MS)])

    async def end_clearing(self, shape: SharedConfig) -> None:
        told = ("format", format_of(shape), "shape", msgspec.msgpack.encode(shape))
        await self._client.run([("HSET", self.key, *told)])
        await self._client.run([("HDEL", self.key, "clearing")])

    async def forget(self) -> None:
        """Delete what is left of a job without buckets."""
        self.run = None
        names = ("moved", "keys", "members", "heard", "status", "order", "job")
        await self._client.run([("DEL", *(f"{self.prefix}{name}" for name in names))])
        await self._client.run([("SREM", keys.JOBS, self.name)])

    async def forget_workers(self) -> None:
        names = ("members", "heard", "status")
        await self._client.run([("DEL", *(f"{self.prefix}{name}" for name in names))])

    def ask_run(self) -> Command:
        return ("HGET", self.key, "run")

    def check_run(self, run: bytes | None) -> None:
        """Raises StoreError if the job is another by now."""
        if self.run is not None and (run is None or run.decode() != self.run):
            raise StoreError(
                f"the job {self.name} in {self._place} was cleared or started over by another; "
                "run the same command again to join it"
            )


def unpack_shape(packed: bytes) -> SharedConfig:
    return msgspec.msgpack.decode(packed, type=SharedConfig)


async def list_jobs(url: str) -> list[str]:
    """The names of all jobs in a store."""
    async with Client(url, patience_s=SHORT_PATIENCE_S) as client:
        [names] = await client.run([("SMEMBERS", keys.JOBS)])
    return sorted(name.decode() for name in names)

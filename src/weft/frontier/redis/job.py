"""The job of a frontier: its shape, and which run of it we are in.

A run gets a number of its own whenever the job starts over. A worker that finds another number
than the one that it began with has been overtaken: someone has started the crawl over, or cleared
it, and what the worker knows means nothing any more.
"""

import asyncio
import secrets

import msgspec

from weft.config import SharedConfig
from weft.errors import StoreError, StoreFormatError, StoreMissingError
from weft.frontier.redis.layout import FORMAT, FORMATS, format_of
from weft.records import Stats
from weft.redis.client import SHORT_PATIENCE_S, Client
from weft.redis.jobs import Begin, JobClearing, JobList, JobRecord, JobShape

#: A worker that forgets an earlier crawl says that it still does so at least this often.
PATIENCE_MS = 60_000
_POLL_S = 0.2


class StoredJob:
    def __init__(self, client: Client, name: str, place: str) -> None:
        self._place = place
        self._name = name
        self.record = JobRecord(client, name)
        self.clearing = JobClearing(client, name)
        #: None: the job is not there.
        self.run: str | None = None
        self._has_waiting = False

    async def open(self, shape: SharedConfig) -> SharedConfig:
        """Make the job if there is none; the shape that it has."""
        packed = msgspec.msgpack.encode(shape)
        return self._enter(await self.record.open(secrets.token_hex(8), format_of(shape), packed))

    async def look(self) -> SharedConfig:
        """The shape of a job that must be there."""
        shape = await self.record.look()
        if shape is None:
            raise StoreMissingError(f"there is no job {self._name} in {self._place}")
        return self._enter(shape)

    def _enter(self, shape: JobShape) -> SharedConfig:
        if shape.format not in FORMATS:
            raise StoreFormatError(
                f"the job {self._name} in {self._place} has format {shape.format}, this Weft knows "
                f"{FORMAT}; upgrade Weft, or choose another job with --job"
            )
        self.run = shape.run
        self._has_waiting = shape.format == FORMAT
        return _unpack(shape.packed)

    async def note_waiting(self) -> None:
        """A page is about to wait: who does not know of that must not open the job any more."""
        if not self._has_waiting:
            await self.record.note_format(FORMAT)
            self._has_waiting = True

    async def begin(
        self,
        now_ms: int,
        stats: Stats,
        *,
        stats_run: str,
        is_served: bool,
        is_fresh: bool,
        is_rerun: bool,
    ) -> tuple[bool, SharedConfig]:
        """Join the job, or begin to clear it: whether we clear, and the shape as it is. Waits while
        another clears. `stats_run`: the run that the statistics are about. `is_served`: a worker
        works on it."""
        call = Begin(
            now_ms,
            secrets.token_hex(8),
            stats_run,
            is_fresh,
            is_rerun,
            stats.is_all_done,
            is_served,
            stats.added,
            PATIENCE_MS,
        )
        while True:
            begun, packed = await self.clearing.begin(call)
            if begun.verdict != "wait":
                self.run = begun.run
                return begun.verdict == "clear", _unpack(packed)
            await asyncio.sleep(_POLL_S)

    async def end_clearing(self, shape: SharedConfig) -> None:
        self._has_waiting = False
        await self.clearing.end(format_of(shape), msgspec.msgpack.encode(shape))

    async def forget(self) -> None:
        self.run = None
        await self.record.forget()

    def check_run(self, run: bytes | None) -> None:
        """Raises StoreError if the job is another by now."""
        if self.run is not None and (run is None or run.decode() != self.run):
            raise StoreError(
                f"the job {self._name} in {self._place} was cleared or started over by another; "
                "run the same command again to join it"
            )


def _unpack(packed: bytes) -> SharedConfig:
    return msgspec.msgpack.decode(packed, type=SharedConfig)


async def list_jobs(url: str) -> list[str]:
    """The names of all jobs in a store."""
    async with Client(url, patience_s=SHORT_PATIENCE_S) as client:
        return await JobList(client).names()

"""The list of jobs, and the record of each: what frontier and cluster both know of a job.

Nobody else reads or writes these keys. A job is forgotten as a whole here too, with the keys that
its frontier and its workers have outside of buckets.
"""

from typing import NamedTuple

import msgspec

from weft.redis import keys
from weft.redis.client import Client, Command
from weft.redis.script import NO_CONFIG, NoConfig, Script


class Open(msgspec.Struct, frozen=True, array_like=True):
    """Blob: the shape."""

    run: str
    format: str


class Begin(msgspec.Struct, frozen=True, array_like=True):
    now_ms: int
    #: Of the crawl if it starts over.
    run: str
    #: Of the job as it was opened.
    stats_run: str
    is_fresh: bool
    is_rerun: bool
    #: Nothing of the crawl is pending.
    is_all_done: bool
    #: A worker works on it.
    is_served: bool
    added: int
    patience_ms: int


class Begun(msgspec.Struct, frozen=True, array_like=True):
    """Blob: the shape."""

    #: `join`, `clear` or `wait`.
    verdict: str
    run: str


_PACKAGE = "weft.redis.lua"

OPEN = Script(_PACKAGE, ("open",), NoConfig, Open, tuple[str, str])
BEGIN = Script(_PACKAGE, ("begin",), NoConfig, Begin, Begun, libraries=("basics",))


class JobList:
    """The names of all jobs of a store."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def names(self) -> list[str]:
        [found] = await self._client.run([("SMEMBERS", keys.JOBS)])
        return sorted(name.decode() for name in found)

    def adding(self, name: str) -> Command:
        """What puts a job on the list."""
        return ("SADD", keys.JOBS, name)

    def removing(self, name: str) -> Command:
        return ("SREM", keys.JOBS, name)


class JobShape(NamedTuple):
    """What a job was begun with."""

    run: str
    format: str
    #: Packed by the frontier.
    packed: bytes


class JobProgress(NamedTuple):
    #: Empty: not begun yet.
    run: str
    #: How many requests had been added when it ended by itself; empty: it goes on.
    finished: str


class JobRecord:
    """The record of one job: its shape, which run it is, whether it is finished."""

    def __init__(self, client: Client, job: str) -> None:
        self._client = client
        self._client.know({OPEN.sha: OPEN.source})
        self._job = job
        self._key = _record_key(job)

    async def open(self, run: str, format_name: str, shape: bytes) -> JobShape:
        """Make the job if there is none; what it has."""
        call = OPEN.call(keys.job_prefix(self._job), NO_CONFIG, Open(run, format_name), [shape])
        [raw] = await self._client.run([call])
        await self._client.run([JobList(self._client).adding(self._job)])
        (run, format_name), [shape] = OPEN.read_with_blobs(raw)
        return JobShape(run, format_name, shape)

    async def look(self) -> JobShape | None:
        """None: there is no such job."""
        command = ("HMGET", self._key, "run", "format", "shape")
        [(run, format_name, shape)] = await self._client.run([command])
        return None if run is None else JobShape(run.decode(), format_name.decode(), shape)

    def asking_run(self) -> Command:
        """What asks for the run; it is answered with None if there is no such job."""
        return ("HGET", self._key, "run")

    async def mark_finished(self, added: int) -> None:
        """Remember that it ended by itself when so many requests had been added."""
        await self._client.run([("HSET", self._key, "finished", added)])

    async def is_finished(self, added: int) -> bool:
        [mark] = await self._client.run([("HGET", self._key, "finished")])
        return added > 0 and mark == str(added).encode()

    async def note_format(self, format_name: str) -> None:
        await self._client.run([("HSET", self._key, "format", format_name)])

    async def forget(self) -> None:
        """Delete what is left of a job without buckets."""
        prefix = keys.job_prefix(self._job)
        names = (*keys.CRAWL_KEYS, *keys.WORKER_KEYS, "order", "job")
        await self._client.run([("DEL", *(f"{prefix}{name}" for name in names))])
        await self._client.run([JobList(self._client).removing(self._job)])


def asking_progress(job: str) -> Command:
    """What asks how far a job is; `read_progress` reads the answer."""
    return ("HMGET", _record_key(job), "run", "finished")


def read_progress(reply: list[bytes | None]) -> JobProgress:
    run, finished = reply
    return JobProgress((run or b"").decode(), (finished or b"").decode())


class JobClearing:
    """Starting a job over: who forgets the earlier crawl, while others wait."""

    def __init__(self, client: Client, job: str) -> None:
        self._client = client
        self._client.know({BEGIN.sha: BEGIN.source})
        self._prefix = keys.job_prefix(job)
        self._key = _record_key(job)

    async def begin(self, call: Begin) -> tuple[Begun, bytes]:
        """What to do; and the packed shape of the job as it is."""
        [raw] = await self._client.run([BEGIN.call(self._prefix, NO_CONFIG, call)])
        begun, [shape] = BEGIN.read_with_blobs(raw)
        return begun, shape

    async def settled_run(self) -> str:
        """The run of the job; empty while another clears, for it tells of no run then."""
        command = ("HMGET", self._key, "run", "clearing")
        [(run, clearing)] = await self._client.run([command])
        return run.decode() if run is not None and clearing is None else ""

    async def go_on(self, now_ms: int, patience_ms: int) -> None:
        """Say that we still clear: others would take over otherwise. `now_ms` is 0 for Redis' own
        clock."""
        if not now_ms:
            [(seconds, _)] = await self._client.run([("TIME",)])
            now_ms = seconds * 1000
        await self._client.run([("HSET", self._key, "clearing", now_ms + patience_ms)])

    async def forget_crawl(self) -> None:
        """Delete what belongs to the crawl, but for its buckets and what was learned."""
        names = (f"{self._prefix}{name}" for name in keys.CRAWL_KEYS)
        await self._client.run([("UNLINK", *names)])

    async def end(self, format_name: str, shape: bytes) -> None:
        """The others may join a job of this shape."""
        told = ("format", format_name, "shape", shape)
        await self._client.run([("HSET", self._key, *told)])
        await self._client.run([("HDEL", self._key, "clearing")])


class KnownCount:
    """How many sets a job has for the fingerprints of pages that were fetched elsewhere."""

    def __init__(self, client: Client, job: str) -> None:
        self._client = client
        self._key = _record_key(job)

    async def load(self) -> int:
        [sets] = await self._client.run([("HGET", self._key, "known")])
        return int(sets or 0)

    async def fix(self, sets: int) -> int:
        """The first who says it decides; how many there are."""
        await self._client.run([("HSETNX", self._key, "known", sets)])
        return await self.load()

    async def forget(self) -> None:
        await self._client.run([("HDEL", self._key, "known")])


def _record_key(job: str) -> str:
    return f"{keys.job_prefix(job)}job"

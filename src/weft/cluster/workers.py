"""The workers of jobs as others see them: what they report, and how long ago that was."""

from collections.abc import Iterable, Sequence

import msgspec

from weft.cluster.membership import LEAVE, Leave
from weft.cluster.nodes import LOST_MS
from weft.cluster.status import Status
from weft.redis import keys
from weft.redis.client import Client
from weft.redis.script import NO_CONFIG, NoConfig, Script


class Worker(msgspec.Struct, frozen=True):
    """A worker of a job as others see it."""

    name: str
    heard_ago_ms: int
    status: Status

    @property
    def is_lost(self) -> bool:
        return self.heard_ago_ms >= LOST_MS

    @property
    def state(self) -> str:
        return "lost" if self.is_lost else self.status.state


WORKERS = Script("weft.cluster.lua", ("workers",), NoConfig, NoConfig, list[int])


class Workers:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._client.know({script.sha: script.source for script in (WORKERS, LEAVE)})

    async def of(self, jobs: Sequence[str]) -> dict[str, list[Worker]]:
        """Return the workers of each of these jobs."""
        calls = [WORKERS.call(keys.job_prefix(job), NO_CONFIG, NoConfig()) for job in jobs]
        replies = await self._client.run(calls)
        return {job: _read_workers(reply) for job, reply in zip(jobs, replies, strict=True)}

    async def bury(self, job: str, dead: Iterable[str]) -> None:
        """Remove workers that are known to be dead, before others notice."""
        prefix = keys.job_prefix(job)
        await self._client.run([LEAVE.call(prefix, NO_CONFIG, Leave(worker)) for worker in dead])

    async def forget(self, job: str) -> None:
        """Remove all, for one who knows that none of them lives."""
        prefix = keys.job_prefix(job)
        await self._client.run([("DEL", *(f"{prefix}{name}" for name in keys.WORKER_KEYS))])


def _read_workers(reply: list[bytes]) -> list[Worker]:
    ages_ms, blobs = WORKERS.read_with_blobs(reply)
    found = zip(ages_ms, blobs[::2], blobs[1::2], strict=True)
    workers = (
        Worker(name.decode(), age_ms, msgspec.msgpack.decode(packed, type=Status))
        for age_ms, name, packed in found
    )
    return sorted(workers, key=lambda worker: worker.name)

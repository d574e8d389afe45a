"""The jobs of a shared store, as their users steer them: what to crawl, and whether to.

A job that was started with `weft crawl` has no `Work`: who started it knows what it crawls.
"""

from collections.abc import Iterable, Sequence

import msgspec

from weft.cluster.membership import LEAVE, Leave
from weft.cluster.nodes import LOST_MS
from weft.cluster.status import JobState, Status, Work
from weft.redis import keys
from weft.redis.client import Client, Command
from weft.redis.script import NO_CONFIG, NoConfig, Script


class Job(msgspec.Struct, frozen=True):
    name: str
    state: JobState = JobState.RUNNING
    #: None: nodes have nothing to do with it.
    work: Work | None = None
    #: How often it was started; the work may be another each time.
    starts: int = 0
    #: Its run; empty: nobody has begun yet. Another one: it was started over.
    run: str = ""
    #: What stands there when it may be finished; the frontier can tell.
    finished: str = ""


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


class Jobs:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._client.know({script.sha: script.source for script in (WORKERS, LEAVE)})

    async def names(self) -> list[str]:
        [found] = await self._client.run([("SMEMBERS", keys.JOBS)])
        return sorted(name.decode() for name in found)

    async def start(self, name: str, work: Work) -> int:
        """For all nodes to work on; the how manieth start this is."""
        key = _order_key(name)
        packed = msgspec.msgpack.encode(work)
        # In this order: who sees the new number has the new work.
        _, starts, _ = await self._client.run(
            [
                ("HSET", key, "work", packed, "state", JobState.RUNNING.value),
                ("HINCRBY", key, "starts", 1),
                ("SADD", keys.JOBS, name),
            ]
        )
        return int(starts)

    async def set_state(self, name: str, state: JobState) -> None:
        await self._client.run([("HSET", _order_key(name), "state", state.value)])

    async def let_run(self, name: str) -> None:
        """Someone wants it to crawl: it is neither paused nor stopped any more."""
        if (await self.get(name)).state is not JobState.RUNNING:
            await self.set_state(name, JobState.RUNNING)

    async def get(self, name: str) -> Job:
        [job] = await self._get([name])
        return job

    async def all(self) -> Sequence[Job]:
        return await self._get(await self.names())

    async def _get(self, names: Sequence[str]) -> list[Job]:
        commands: list[Command] = []
        for name in names:
            commands.append(("HMGET", _order_key(name), "state", "work", "starts"))
            commands.append(("HMGET", f"{keys.job_prefix(name)}job", "run", "finished"))
        answers = await self._client.run(commands)
        pairs = zip(names, answers[::2], answers[1::2], strict=True)
        return [
            Job(
                name,
                JobState(state.decode()) if state else JobState.RUNNING,
                msgspec.msgpack.decode(packed, type=Work) if packed else None,
                int(starts or 0),
                (run or b"").decode(),
                (finished or b"").decode(),
            )
            for name, (state, packed, starts), (run, finished) in pairs
        ]

    async def workers(self, names: Sequence[str]) -> dict[str, list[Worker]]:
        """Those of each of these jobs."""
        calls = [WORKERS.call(keys.job_prefix(name), NO_CONFIG, NoConfig()) for name in names]
        replies = await self._client.run(calls)
        return {name: _read_workers(reply) for name, reply in zip(names, replies, strict=True)}

    async def bury(self, name: str, dead: Iterable[str]) -> None:
        """Take workers off the list that are known to be dead, before others notice it."""
        prefix = keys.job_prefix(name)
        await self._client.run([LEAVE.call(prefix, NO_CONFIG, Leave(worker)) for worker in dead])


def _read_workers(reply: list[bytes]) -> list[Worker]:
    ages_ms, blobs = WORKERS.read_with_blobs(reply)
    found = zip(ages_ms, blobs[::2], blobs[1::2], strict=True)
    workers = (
        Worker(name.decode(), age_ms, msgspec.msgpack.decode(packed, type=Status))
        for age_ms, name, packed in found
    )
    return sorted(workers, key=lambda worker: worker.name)


def _order_key(job: str) -> str:
    return f"{keys.job_prefix(job)}order"

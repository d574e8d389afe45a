"""The jobs of a shared store as users control them: what to crawl, and whether to.

A job that was started with `weft crawl` has no `Work`: that command knows what to crawl.
"""

from collections.abc import Sequence

import msgspec

from weft.cluster.status import JobState, Work
from weft.redis import keys
from weft.redis.client import Client, Command
from weft.redis.jobs import JobList, asking_progress, read_progress


class Job(msgspec.Struct, frozen=True):
    name: str
    state: JobState = JobState.RUNNING
    #: None: nodes do not work on it.
    work: Work | None = None
    #: How often it was started; each start may have different work.
    starts: int = 0
    #: Its run; empty: not begun yet. A new value means that it was started over.
    run: str = ""
    #: Not empty if it may be finished; the frontier knows for sure.
    finished: str = ""


class Jobs:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._list = JobList(client)

    async def names(self) -> list[str]:
        return await self._list.names()

    async def start(self, name: str, work: Work) -> int:
        """Give it to all nodes; return the number of this start."""
        key = _order_key(name)
        packed = msgspec.msgpack.encode(work)
        # In this order: a node that sees the new number also sees the new work.
        _, starts, _ = await self._client.run(
            [
                ("HSET", key, "work", packed, "state", JobState.RUNNING.value),
                ("HINCRBY", key, "starts", 1),
                self._list.adding(name),
            ]
        )
        return int(starts)

    async def set_state(self, name: str, state: JobState) -> None:
        await self._client.run([("HSET", _order_key(name), "state", state.value)])

    async def let_run(self, name: str) -> None:
        """Make sure that it is neither paused nor stopped."""
        if (await self.get(name)).state is not JobState.RUNNING:
            await self.set_state(name, JobState.RUNNING)

    async def get(self, name: str) -> Job:
        [job] = await self.of([name])
        return job

    async def all(self) -> Sequence[Job]:
        return await self.of(await self.names())

    async def of(self, names: Sequence[str]) -> list[Job]:
        commands: list[Command] = []
        for name in names:
            commands.append(("HMGET", _order_key(name), "state", "work", "starts"))
            commands.append(asking_progress(name))
        answers = await self._client.run(commands)
        pairs = zip(names, answers[::2], answers[1::2], strict=True)
        return [
            Job(
                name,
                JobState(state.decode()) if state else JobState.RUNNING,
                msgspec.msgpack.decode(packed, type=Work) if packed else None,
                int(starts or 0),
                *read_progress(progress),
            )
            for name, (state, packed, starts), progress in pairs
        ]


def _order_key(job: str) -> str:
    return f"{keys.job_prefix(job)}order"

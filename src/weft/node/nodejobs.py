"""The jobs that a node serves, taken together."""

import asyncio
from collections.abc import Callable, Iterator

import msgspec

from weft.cluster.jobs import Job
from weft.cluster.nodes import NodeJobStatus
from weft.node.nodejob import NodeJob
from weft.node.supervisor import Crew, freeze


class Totals(msgspec.Struct):
    """The counts of all workers of a node, including those of forgotten jobs."""

    pages: int = 0
    errors: int = 0
    deaths: int = 0

    def add(self, node_job: NodeJob) -> None:
        progress = node_job.supervisor.progress()
        self.pages += progress.pages
        self.errors += progress.errors
        self.deaths += node_job.supervisor.deaths


class NodeJobs:
    """`warn` is called with messages for the user."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._by_name: dict[str, NodeJob] = {}
        self._past = Totals()

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> NodeJob:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the jobs. Jobs may be begun and forgotten meanwhile."""
        return iter([*self._by_name])

    def begin(self, job: Job, crew: Crew) -> None:
        workers = f"{crew.number} worker{'' if crew.number == 1 else 's'}"
        self._warn(f"{job.name}: starts {workers}")
        self._by_name[job.name] = NodeJob(job, crew, self._warn)

    def forget(self, name: str) -> None:
        """Keep only the counts of a job that is over."""
        self._past.add(self._by_name.pop(name))

    def kill(self) -> None:
        for node_job in self._by_name.values():
            node_job.supervisor.kill()

    def freeze(self) -> None:
        freeze(node_job.supervisor for node_job in self._by_name.values())

    async def end(self) -> None:
        """Wait until no worker is left."""
        await asyncio.gather(*(node_job.task for node_job in self._by_name.values()))

    def statuses(self) -> dict[str, NodeJobStatus]:
        return {name: node_job.status() for name, node_job in self._by_name.items()}

    def totals(self) -> Totals:
        totals = msgspec.structs.replace(self._past)
        for node_job in self._by_name.values():
            totals.add(node_job)
        return totals

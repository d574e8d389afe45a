"""Jobs that the nodes of a store work on: list, start, pause, resume, stop."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec

from weft.cluster.jobs import Job
from weft.cluster.nodes import Node, NodeJobState, NodeJobStatus, NodeState
from weft.cluster.status import JobState, Work
from weft.cluster.workers import Worker
from weft.errors import NotObeyedError, NotThereError, StoreMissingError
from weft.frontier import Store, open_frontier
from weft.records import Stats
from weft.services.cluster import Cluster, open_cluster, wait_for

#: The state of a job whose crawl has ended by itself.
FINISHED = "finished"


class JobRow(msgspec.Struct, frozen=True):
    """A job at one moment."""

    name: str
    #: running, paused, stopped or finished.
    state: str
    workers: int
    buckets: int
    queued: int
    done: int
    failed: int
    pages_per_s: float
    #: Why nodes have given up on it, by node.
    failures: dict[str, str]


class StartedJob(msgspec.Struct, frozen=True):
    """How the nodes responded to a job that was started."""

    name: str
    #: Nodes that are running.
    nodes: int
    #: Nodes that have begun.
    begun: int
    #: Why the others have given up, by node.
    failures: dict[str, str]


class ResumedJob(msgspec.Struct, frozen=True):
    name: str
    #: Workers that continue.
    workers: int
    #: Nodes that will start workers, if there are none.
    nodes: int


async def list_jobs(store: Store, *, after: str = "", limit: int | None = None) -> list[JobRow]:
    """By name. `after`: only those whose names come later; `limit`: only so many."""
    async with open_cluster(store) as cluster:
        names = [name for name in await cluster.jobs.names() if name > after]
        found = await cluster.jobs.of(names[:limit])
        workers = await cluster.workers.of([each.name for each in found])
        nodes = await cluster.nodes.all()
    return [await _row(store, each, workers[each.name], nodes) for each in found]


async def show_job(store: Store, name: str) -> JobRow:
    async with open_cluster(store) as cluster:
        found = await _find(cluster, name)
        workers = (await cluster.workers.of([name]))[name]
        nodes = await cluster.nodes.all()
    return await _row(store, found, workers, nodes)


async def _row(store: Store, each: Job, workers: Iterable[Worker], nodes: Sequence[Node]) -> JobRow:
    live = [worker.status for worker in workers if not worker.is_lost]
    stats, has_ended = await _look_into(store, each.name)
    return JobRow(
        each.name,
        FINISHED if has_ended else each.state,
        workers=len(live),
        buckets=sum(status.buckets for status in live),
        queued=stats.queued + stats.parked,
        done=stats.done,
        failed=stats.failed,
        pages_per_s=sum(status.pages_per_s for status in live),
        failures=_failures(_node_jobs(nodes, each.name)),
    )


async def _look_into(store: Store, name: str) -> tuple[Stats, bool]:
    try:
        async with open_frontier(store, name, is_read_only=True) as frontier:
            return await frontier.stats(), await frontier.is_finished()
    except StoreMissingError:  # no worker has begun yet
        return Stats(), False


def _node_jobs(nodes: Iterable[Node], name: str) -> dict[str, NodeJobStatus]:
    """The state of a job on the nodes that are not lost."""
    return {
        node.name: node.status.jobs[name]
        for node in nodes
        if not node.is_lost and name in node.status.jobs
    }


def _failures(node_jobs: dict[str, NodeJobStatus]) -> dict[str, str]:
    return {
        node: status.reason
        for node, status in node_jobs.items()
        if status.state is NodeJobState.FAILED
    }


async def start_job(
    store: Store, name: str, work: Work, *, before: Callable[[], Awaitable[None]] | None = None
) -> StartedJob:
    """Return when all running nodes have begun or failed. A running job is restarted with the new
    work.

    `before`: called after all workers have ended and before new ones start; it starts over."""
    async with open_cluster(store) as cluster:
        if before is not None:
            await _end_workers(cluster, name)
            await before()
        starts = await cluster.jobs.start(name, work)
        return await _wait_until_begun(cluster, name, starts)


async def _wait_until_begun(cluster: Cluster, name: str, starts: int) -> StartedJob:
    async def look() -> dict[str, NodeJobStatus | None]:
        nodes = await _live_nodes(cluster)
        node_jobs = _node_jobs(nodes, name)
        return {node.name: node_jobs.get(node.name) for node in nodes}

    def has_begun(status: NodeJobStatus | None) -> bool:
        if status is None or status.starts < starts:
            return False
        return status.state not in (NodeJobState.STARTING, NodeJobState.STOPPING)

    seen, _ = await wait_for(look, lambda seen: all(map(has_begun, seen.values())))
    begun = {node: status for node, status in seen.items() if status and has_begun(status)}
    failures = _failures(begun)
    return StartedJob(name, len(seen), len(begun) - len(failures), failures)


async def pause_job(store: Store, name: str) -> int:
    """Return when nothing is sent any more, with the number of waiting workers."""
    async with open_cluster(store) as cluster:
        await _find(cluster, name)
        await cluster.jobs.set_state(name, JobState.PAUSED)
        paused = await _wait_for_workers(cluster, name, lambda state: state == JobState.PAUSED)
    return len(paused)


async def resume_job(store: Store, name: str) -> ResumedJob:
    async with open_cluster(store) as cluster:
        found = await _find(cluster, name)
        await cluster.jobs.set_state(name, JobState.RUNNING)
        running = await _wait_for_workers(cluster, name, lambda state: state != JobState.PAUSED)
        nodes = await _live_nodes(cluster) if found.work else []
    return ResumedJob(name, len(running), len(nodes))


async def stop_job(store: Store, name: str) -> None:
    """Return when the job has no workers left. Nothing is lost: `resume_job` continues."""
    async with open_cluster(store) as cluster:
        await _find(cluster, name)
        await _end_workers(cluster, name)


async def let_run(store: Store, name: str) -> None:
    """Let a paused or stopped job run again, with or without nodes."""
    async with open_cluster(store) as cluster:
        await cluster.jobs.let_run(name)


async def _live_nodes(cluster: Cluster) -> list[Node]:
    return [node for node in await cluster.nodes.all() if node.state is NodeState.RUNNING]


async def _end_workers(cluster: Cluster, name: str) -> None:
    await cluster.jobs.set_state(name, JobState.STOPPED)
    await _wait_for_workers(cluster, name, lambda state: False)


async def _wait_for_workers(
    cluster: Cluster, name: str, is_done: Callable[[str], bool]
) -> list[Worker]:
    """Wait until `is_done` holds for the states of all live workers; return these workers."""

    async def look() -> list[Worker]:
        workers = (await cluster.workers.of([name]))[name]
        return [worker for worker in workers if not worker.is_lost]

    def late(workers: Iterable[Worker]) -> list[Worker]:
        return [worker for worker in workers if not is_done(worker.state)]

    seen, _ = await wait_for(look, lambda workers: not late(workers))
    if rest := late(seen):
        names = ", ".join(f"{each.status.host}:{each.status.pid}" for each in rest)
        workers = "1 worker" if len(rest) == 1 else f"{len(rest):,} workers"
        raise NotObeyedError(
            f"the order stands, but was not obeyed yet by {workers} of {name}: {names}; "
            "see `weft nodes`"
        )
    return seen


async def _find(cluster: Cluster, name: str) -> Job:
    names = await cluster.jobs.names()
    if name not in names:
        known = ", ".join(names) or "none"
        raise NotThereError(f"there is no job {name} in {cluster.place}; there are: {known}")
    return await cluster.jobs.get(name)

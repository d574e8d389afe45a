"""The machines that crawl together: list them; drain, resume and stop one."""

import msgspec

from weft.cluster.nodes import Node, NodeCommand, NodeState
from weft.cluster.workers import Worker
from weft.errors import LostNodeError, NotThereError
from weft.frontier import Store
from weft.services.cluster import Cluster, open_cluster, wait_for

#: How long a lost worker is listed.
SHOW_LOST_MS = 60_000


class JobWorker(msgspec.Struct, frozen=True):
    job: str
    worker: Worker


class NodesReport(msgspec.Struct, frozen=True):
    nodes: list[Node]
    #: Including those that were started by hand.
    workers: list[JobWorker]


class SteeredNode(msgspec.Struct, frozen=True):
    """A node that got a command, as it was last seen."""

    node: Node
    #: False: it takes longer; the command remains.
    has_obeyed: bool


async def list_nodes(store: Store) -> NodesReport:
    async with open_cluster(store) as cluster:
        by_job = await cluster.workers.of(await cluster.jobs.names())
        workers = [
            JobWorker(job, each)
            for job, found in by_job.items()
            for each in found
            if each.heard_ago_ms < SHOW_LOST_MS
        ]
        return NodesReport(await cluster.nodes.all(), workers)


async def drain_node(store: Store, name: str) -> SteeredNode:
    """Let it finish what is in progress and start nothing new until it is resumed."""
    async with open_cluster(store) as cluster:
        await _find_live(cluster, name)
        await cluster.nodes.tell(name, NodeCommand.DRAIN)
        return await _wait_for_state(cluster, name, NodeState.DRAINED)


async def resume_node(store: Store, name: str) -> SteeredNode:
    """Let it work again."""
    async with open_cluster(store) as cluster:
        await _find_live(cluster, name)
        await cluster.nodes.withdraw(name)
        return await _wait_for_state(cluster, name, NodeState.RUNNING)


async def stop_node(store: Store, name: str) -> SteeredNode:
    """Drain it and end its agent."""
    async with open_cluster(store) as cluster:
        last = await _find_live(cluster, name)
        await cluster.nodes.tell(name, NodeCommand.STOP)
        seen, has_stopped = await wait_for(
            cluster.nodes.all, lambda nodes: last.instance not in {node.instance for node in nodes}
        )
    if has_stopped:
        return SteeredNode(last, has_obeyed=True)
    return SteeredNode(next(each for each in seen if each.instance == last.instance), False)


async def _wait_for_state(cluster: Cluster, name: str, state: NodeState) -> SteeredNode:
    seen, is_done = await wait_for(lambda: _find(cluster, name), lambda node: node.state is state)
    return SteeredNode(seen, is_done)


async def _find(cluster: Cluster, name: str) -> Node:
    found = await cluster.nodes.all()
    for each in found:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in found) or "none"
    raise NotThereError(f"there is no node {name} in {cluster.place}; there are: {known}")


async def _find_live(cluster: Cluster, name: str) -> Node:
    found = await _find(cluster, name)
    if found.is_lost:
        raise LostNodeError(
            f"the node {name} is lost: it was last heard from {describe_age(found.heard_ago_ms)} "
            f"ago and cannot be reached; if {found.status.host} is up, check `weft worker` there"
        )
    return found


def describe_age(age_ms: int) -> str:
    """`3.2 s`, `5 min`, `3 h`."""
    seconds = age_ms / 1000
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"

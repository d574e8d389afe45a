"""`weft worker`, `weft nodes` and `weft node`: machines that crawl together."""

import asyncio
import re
import socket
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from weft.cli import INTERRUPTED
from weft.cli.cluster import Cluster, open_cluster, wait_for
from weft.cli.options import AsJson, SharedStoreUrl, shared_store
from weft.cli.output import count, results, say, show, show_logs, warn
from weft.cluster.jobs import Worker
from weft.cluster.nodes import DutyState, Node, NodeOrder, NodeState
from weft.cluster.weights import LEAST, MOST
from weft.errors import ConfigError
from weft.frontier import Store
from weft.node.agent import Agent
from weft.node.duties import NodeConfig
from weft.node.machine import can_steer, usable_cores

#: A worker that is lost is listed for so long.
SHOW_LOST_MS = 60_000

node = typer.Typer(no_args_is_help=True, help="Steer a node.")

NodeName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the node.")]


class JobWorker(msgspec.Struct, frozen=True):
    job: str
    worker: Worker


def worker(
    store: SharedStoreUrl,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Worker processes for each running job. Default: one for each core.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of this node, unlike those of all others. Default: that of the machine.",
            show_default=False,
        ),
    ] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            min=LEAST,
            max=MOST,
            help="How much work each of its workers takes beside those of other nodes. "
            "Default: by the speed that is measured.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make this machine a node: it works on all jobs that `weft job start` has started.

        weft worker --store redis://crawl.example:6379/0

    Spiders, and files that items go to, are looked for in the directory where this is run. Ctrl-C
    or SIGTERM drains it: its workers finish what is under way. A second one kills them.
    """
    if not can_steer():
        raise ConfigError(
            "this system lacks the signals that the workers of a node are steered with; make a "
            "Linux or macOS machine a node, or run `weft crawl` with the same --store here"
        )
    config = NodeConfig(shared_store(store), _node_name(name), processes or usable_cores(), weight)
    show_logs("WARNING")
    sys.exit(0 if asyncio.run(_run(config)) else INTERRUPTED)


async def _run(config: NodeConfig) -> bool:
    each = count(config.processes, "worker")
    warn(f"Node {config.name}: {each} for each running job in {config.store.place}")
    is_ended = await Agent(config, warn).run()
    warn(f"Node {config.name} has ended" if is_ended else "Stopped at once; nothing is lost.")
    return is_ended


def _node_name(name: str | None) -> str:
    found = socket.gethostname() if name is None else name
    if not re.fullmatch(r"[\w.-]+", found):
        raise ConfigError(
            f"--name {found!r}: a node is named with letters, digits, dots, dashes, underscores"
        )
    return found


# weft nodes


def nodes(store: SharedStoreUrl, as_json: AsJson = False) -> None:
    """The nodes and their workers: state, last sign of life, load, buckets, pages.

    A node or worker that was not heard of for ten seconds is lost.
    """
    found, workers = asyncio.run(_look(shared_store(store)))
    if as_json:
        told = {"nodes": [_as_data(each) for each in found], "workers": [*map(_as_row, workers)]}
        results.print_json(msgspec.json.encode(told).decode())
        return
    if not found and not workers:
        say(f"There is no node; `weft worker --store {shared_store(store).place}` starts one.")
        return
    show(_table(found, workers))
    for each in found:
        for line in _troubles(each):
            say(line)


async def _look(store: Store) -> tuple[list[Node], list[JobWorker]]:
    async with open_cluster(store) as cluster:
        by_job = await cluster.jobs.workers(await cluster.jobs.names())
        workers = [
            JobWorker(job, each)
            for job, found in by_job.items()
            for each in found
            if each.heard_ago_ms < SHOW_LOST_MS
        ]
        return await cluster.nodes.all(), workers


def _as_data(each: Node) -> dict[str, object]:
    own = {"name": each.name, "instance": each.instance, "heard_ago_ms": each.heard_ago_ms}
    fields = {name: getattr(each.status, name) for name in each.status.__struct_fields__}
    return own | fields | {"state": each.state}


def _as_row(each: JobWorker) -> dict[str, object]:
    found = each.worker
    own = {"name": found.name, "job": each.job, "heard_ago_ms": found.heard_ago_ms}
    fields = {name: getattr(found.status, name) for name in found.status.__struct_fields__}
    return own | fields | {"state": found.state}


def _table(found: Sequence[Node], workers: Iterable[JobWorker]) -> Table:
    table = Table("node", "state", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("heard", justify="right")
    table.add_column("job")
    for name in ("buckets", "weight", "CPU", "memory", "pages", "pages/s", "errors"):
        table.add_column(name, justify="right")
    by_node: dict[str, list[JobWorker]] = defaultdict(list)
    for each in workers:
        # Those that were started by hand belong to no node, but to a machine.
        by_node[each.worker.status.node or each.worker.status.host].append(each)
    known = {each.name: each for each in found}
    for name in [*known, *sorted(by_node.keys() - known.keys())]:
        own = by_node[name]
        table.add_row(*(_node_row(known[name], own) if name in known else [name]))
        for each in own:
            table.add_row(*_worker_row(each))
        table.add_section()
    return table


def _node_row(each: Node, workers: Sequence[JobWorker]) -> list[str]:
    status = each.status
    return [
        each.name,
        each.state,
        _age(each.heard_ago_ms),
        count(len(status.jobs), "job"),
        str(sum(own.worker.status.buckets for own in workers)),
        "",
        f"{status.cpu_share:.0%} of {status.cores}",
        _size(status.memory_bytes),
        f"{status.pages:,}",
        f"{status.pages_per_s:,.1f}",
        f"{status.errors:,}",
    ]


def _worker_row(each: JobWorker) -> list[str]:
    status = each.worker.status
    return [
        f"  pid {status.pid}",
        each.worker.state,
        _age(each.worker.heard_ago_ms),
        each.job,
        str(status.buckets),
        f"{status.weight:g}",
        f"{status.cpu_share:.0%}",
        _size(status.memory_bytes),
        f"{status.pages:,}",
        f"{status.pages_per_s:,.1f}",
        f"{status.errors:,}",
    ]


def _troubles(each: Node) -> list[str]:
    failed = {
        job: duty.reason for job, duty in each.status.jobs.items() if duty.state is DutyState.FAILED
    }
    return [f"{each.name} has given up {job}: {reason}" for job, reason in failed.items()]


def _size(number: int) -> str:
    return f"{number / 1e6:.0f} MB" if number < 1e9 else f"{number / 1e9:.1f} GB"


def _age(age_ms: int) -> str:
    seconds = age_ms / 1000
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


# weft node


@node.command()
def drain(name: NodeName, store: SharedStoreUrl) -> None:
    """Let a node finish what is under way and start nothing new, until it is resumed."""
    asyncio.run(_drain(shared_store(store), name))


@node.command()
def resume(name: NodeName, store: SharedStoreUrl) -> None:
    """Let a node that was drained work again."""
    asyncio.run(_resume(shared_store(store), name))


@node.command()
def stop(name: NodeName, store: SharedStoreUrl) -> None:
    """Drain a node and end its agent, as SIGTERM does."""
    asyncio.run(_stop(shared_store(store), name))


async def _drain(store: Store, name: str) -> None:
    async with open_cluster(store) as cluster:
        await _find_live(cluster, name)
        await cluster.nodes.tell(name, NodeOrder.DRAIN)
        seen, is_done = await wait_for(
            lambda: _find(cluster, name), lambda node: node.state is NodeState.DRAINED
        )
    if not is_done:
        _tell_slow(seen, "drained")
    say(f"{name} is drained; `weft node resume {name}` lets it work again.")


async def _resume(store: Store, name: str) -> None:
    async with open_cluster(store) as cluster:
        await _find_live(cluster, name)
        await cluster.nodes.withdraw(name)
        seen, is_done = await wait_for(
            lambda: _find(cluster, name), lambda node: node.state is NodeState.RUNNING
        )
    if not is_done:
        _tell_slow(seen, "running")
    say(f"{name} is running.")


async def _stop(store: Store, name: str) -> None:
    async with open_cluster(store) as cluster:
        instance = (await _find_live(cluster, name)).instance
        await cluster.nodes.tell(name, NodeOrder.STOP)
        seen, is_done = await wait_for(
            cluster.nodes.all, lambda nodes: instance not in {node.instance for node in nodes}
        )
    if not is_done:
        _tell_slow(next(node for node in seen if node.instance == instance), "stopped")
    say(f"{name} has stopped.")


def _tell_slow(node: Node, wanted: str) -> None:
    """It takes longer; the order stands."""
    workers = count(sum(duty.workers for duty in node.status.jobs.values()), "worker")
    warn(f"{node.name} is not {wanted} yet: it is {node.state}, with {workers}; see `weft nodes`")
    raise typer.Exit(1)


async def _find(cluster: Cluster, name: str) -> Node:
    found = await cluster.nodes.all()
    for each in found:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in found) or "none"
    raise ConfigError(f"there is no node {name} in {cluster.place}; there are: {known}")


async def _find_live(cluster: Cluster, name: str) -> Node:
    found = await _find(cluster, name)
    if found.is_lost:
        raise ConfigError(
            f"the node {name} is lost: it was last heard of {_age(found.heard_ago_ms)} ago, and "
            f"hears nothing; if {found.status.host} runs, look at `weft worker` there"
        )
    return found

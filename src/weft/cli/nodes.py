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
from weft.cli.options import AsJson, SharedStoreUrl
from weft.cli.output import count, results, say, show, show_logs, warn
from weft.cluster.nodes import Node, NodeJobState
from weft.cluster.weights import LEAST, MOST
from weft.errors import ConfigError
from weft.node.agent import Agent
from weft.node.config import NodeConfig
from weft.node.machine import can_steer, usable_cores
from weft.services.nodes import (
    JobWorker,
    SteeredNode,
    describe_age,
    drain_node,
    list_nodes,
    resume_node,
    stop_node,
)
from weft.services.stores import shared_store

node = typer.Typer(no_args_is_help=True, help="Control a node.")

NodeName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the node.")]


def worker(
    store: SharedStoreUrl,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Worker processes per running job. Default: one per core.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of this node; it must be unique. Default: the host name of the machine.",
            show_default=False,
        ),
    ] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            min=LEAST,
            max=MOST,
            help="How much work each of its workers takes, relative to workers of other nodes. "
            "Default: based on their measured speed.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make this machine a node that works on the jobs of a store.

    Jobs are started by `weft job start`.

        weft worker --store redis://crawl.example:6379/0

    Spiders are looked up, and files with items are written, in the directory where this is run.
    Ctrl-C or SIGTERM drains it: its workers finish what is in progress. A second one kills them.
    """
    if not can_steer():
        raise ConfigError(
            "this system lacks the signals that control the workers of a node; use a Linux or "
            "macOS machine as a node, or run `weft crawl` with the same --store here"
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
            f"--name {found!r}: use only letters, digits, dots, dashes and underscores"
        )
    return found


# weft nodes


def nodes(store: SharedStoreUrl, as_json: AsJson = False) -> None:
    """List the nodes and their workers: state, load, buckets, pages.

    A node or worker that has not been heard from for ten seconds is lost.
    """
    found = asyncio.run(list_nodes(shared_store(store)))
    if as_json:
        told = {"nodes": [*map(_as_data, found.nodes)], "workers": [*map(_as_row, found.workers)]}
        results.print_json(msgspec.json.encode(told).decode())
        return
    if not found.nodes and not found.workers:
        say(f"There is no node; `weft worker --store {shared_store(store).place}` starts one.")
        return
    show(_table(found.nodes, found.workers))
    for each in found.nodes:
        for line in _troubles(each):
            say(line)


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
        # Workers started by hand belong to a machine, not to a node.
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
        describe_age(each.heard_ago_ms),
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
        describe_age(each.worker.heard_ago_ms),
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
        job: node_job.reason
        for job, node_job in each.status.jobs.items()
        if node_job.state is NodeJobState.FAILED
    }
    return [f"{each.name} gave up on {job}: {reason}" for job, reason in failed.items()]


def _size(number: int) -> str:
    return f"{number / 1e6:.0f} MB" if number < 1e9 else f"{number / 1e9:.1f} GB"


# weft node


@node.command()
def drain(name: NodeName, store: SharedStoreUrl) -> None:
    """Let a node finish what is in progress and start nothing new until it is resumed."""
    _check(asyncio.run(drain_node(shared_store(store), name)), "drained")
    say(f"{name} is drained; `weft node resume {name}` lets it work again.")


@node.command()
def resume(name: NodeName, store: SharedStoreUrl) -> None:
    """Let a drained node work again."""
    _check(asyncio.run(resume_node(shared_store(store), name)), "running")
    say(f"{name} is running.")


@node.command()
def stop(name: NodeName, store: SharedStoreUrl) -> None:
    """Drain a node and stop its agent, as SIGTERM does."""
    _check(asyncio.run(stop_node(shared_store(store), name)), "stopped")
    say(f"{name} has stopped.")


def _check(steered: SteeredNode, wanted: str) -> None:
    """End the command with an error if the node has not obeyed yet."""
    if steered.has_obeyed:
        return
    node = steered.node
    workers = count(sum(job.workers for job in node.status.jobs.values()), "worker")
    warn(f"{node.name} is not {wanted} yet: it is {node.state}, with {workers}; see `weft nodes`")
    raise typer.Exit(1)

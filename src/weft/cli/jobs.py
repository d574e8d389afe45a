"""`weft jobs` and `weft job`: crawls that the nodes of a store work on."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from weft.cli.cluster import Cluster, open_cluster, wait_for
from weft.cli.crawl import check_outputs, find_crawl, is_finished, log_level, tell_finished
from weft.cli.options import (
    Arguments,
    AsJson,
    Concurrency,
    Delay,
    Depth,
    Fresh,
    NewJobName,
    Outputs,
    Pairs,
    QueueOrder,
    SharedStoreUrl,
    TableSchema,
    Targets,
    WorkersPerHost,
    check_shared,
    read_overrides,
    read_pairs,
    shared_store,
)
from weft.cli.output import count, results, say, show, warn
from weft.cluster.jobs import Job, Worker
from weft.cluster.nodes import DutyState, DutyStatus, Node, NodeState
from weft.cluster.status import JobState, Work
from weft.engine.delivery import make_delivery
from weft.engine.run import read_job
from weft.engine.settings import JobConfig, job_name
from weft.engine.target import Target, find_target
from weft.errors import ConfigError, StoreError, StoreMissingError
from weft.frontier import Store, open_frontier
from weft.records import Stats

job = typer.Typer(no_args_is_help=True, help="Start and steer jobs, which nodes work on.")

JobName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the job.")]


class JobRow(msgspec.Struct, frozen=True):
    """A job, for people."""

    name: str
    #: running, paused, stopped or finished.
    state: str
    workers: int
    buckets: int
    queued: int
    done: int
    failed: int
    pages_per_s: float
    #: Why nodes have given it up, by node.
    failures: dict[str, str]


# weft jobs


def jobs(store: SharedStoreUrl, as_json: AsJson = False) -> None:
    """The jobs of a store: state, workers, what is queued and done."""
    place = shared_store(store)
    rows = asyncio.run(_look(place))
    if as_json:
        results.print_json(msgspec.json.encode(rows).decode())
    elif rows:
        _show(rows)
    else:
        say(f"There is no job in {place.place}; `weft job start` starts one.")


def _show(rows: Sequence[JobRow]) -> None:
    table = Table("job", "state", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("workers", "buckets", "queued", "done", "failed", "pages/s"):
        table.add_column(name, justify="right")
    for row in rows:
        numbers = (row.workers, row.buckets, row.queued, row.done, row.failed)
        told = (f"{number:,}" for number in numbers)
        table.add_row(row.name, row.state, *told, f"{row.pages_per_s:,.1f}")
    show(table)
    for row in rows:
        for node, reason in row.failures.items():
            say(f"{node} has given up {row.name}: {reason}")


async def _look(store: Store) -> list[JobRow]:
    async with open_cluster(store) as cluster:
        found = await cluster.jobs.all()
        workers = await cluster.jobs.workers([each.name for each in found])
        nodes = await cluster.nodes.all()
    return [await _row(store, each, workers[each.name], nodes) for each in found]


async def _row(store: Store, each: Job, workers: Iterable[Worker], nodes: Sequence[Node]) -> JobRow:
    live = [worker.status for worker in workers if not worker.is_lost]
    stats, has_ended = await _look_into(store, each.name)
    return JobRow(
        each.name,
        "finished" if has_ended else each.state,
        workers=len(live),
        buckets=sum(status.buckets for status in live),
        queued=stats.queued + stats.parked,
        done=stats.done,
        failed=stats.failed,
        pages_per_s=sum(status.pages_per_s for status in live),
        failures={
            name: duty.reason
            for name, duty in _duties(nodes, each.name).items()
            if duty.state is DutyState.FAILED
        },
    )


async def _look_into(store: Store, name: str) -> tuple[Stats, bool]:
    try:
        async with open_frontier(store, name, is_read_only=True) as frontier:
            return await frontier.stats(), await frontier.is_finished()
    except StoreMissingError:  # nobody has begun yet
        return Stats(), False


def _duties(nodes: Iterable[Node], name: str) -> dict[str, DutyStatus]:
    """How the nodes that are there get on with a job."""
    return {
        node.name: node.status.jobs[name]
        for node in nodes
        if not node.is_lost and name in node.status.jobs
    }


# weft job start


@job.command()
def start(
    targets: Targets,
    output: Outputs = None,
    schema: TableSchema = None,
    order: QueueOrder = None,
    depth: Depth = None,
    delay: Delay = None,
    concurrency: Concurrency = None,
    workers_per_host: WorkersPerHost = None,
    setting: Pairs = None,
    argument: Arguments = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The store that nodes share: redis://HOST:PORT/DB. Default: WEFT_STORE of the "
            "project.",
            show_default=False,
        ),
    ] = None,
    job: NewJobName = None,
    fresh: Fresh = False,
) -> None:
    """Start a crawl that all nodes of a store work on, now and whenever one joins.

        weft job start https://example.org/ --store redis://crawl.example:6379/0

    A spider, and what it needs, must be on each node, in the directory where `weft worker` runs;
    that is also where files with items are written. A job that is running is started again with
    the new options, and goes on where it was.
    """
    overrides = read_overrides(
        setting,
        output=output,
        schema=schema,
        order=order,
        depth=depth,
        delay=delay,
        concurrency=concurrency,
        workers_per_host=workers_per_host,
        store=store,
        job=job,
    )
    target = find_target(targets, read_pairs(argument, "-a"))
    place, name = find_crawl(target, overrides)
    check_shared(place)
    overrides |= {"WEFT_STORE": place.url, "WEFT_JOB": name}
    config = _check(target, overrides)
    if not fresh and is_finished(place, name):
        check_outputs(config, config.job_dir)
        tell_finished(place, name, config.job_dir)
        return
    asyncio.run(_start(place, name, _work(target, overrides), config if fresh else None))


def _check(target: Target, overrides: dict[str, Any]) -> JobConfig:
    """Read the settings as a worker would, so that mistakes are told here and now."""
    config = read_job(target, overrides)
    make_delivery(config)  # tells what is no sink, or has to be installed
    return config


def _work(target: Target, overrides: dict[str, Any]) -> Work:
    """What workers are to do, wherever they are: each node knows its own way to the store."""
    own = {name: value for name, value in overrides.items() if name not in _OF_NODE}
    own |= {"WEFT_FRESH": False, "WEFT_RERUN": False}
    return Work(target.words, dict(target.given), own, log_level(target, overrides))


_OF_NODE = {"WEFT_STORE", "WEFT_JOB", "WEFT_NODE"}


async def _start(store: Store, name: str, work: Work, fresh: JobConfig | None) -> None:
    async with open_cluster(store) as cluster:
        if fresh is not None:
            await _end_workers(cluster, name)
            await _forget(fresh)
        starts = await cluster.jobs.start(name, work)
        if not await _live_nodes(cluster):
            say(
                f"Started {name}. No node is there to work on it yet: "
                f"`weft worker --store {store.place}`, on any machine, makes it one."
            )
            return
        await _tell_begun(cluster, name, starts)


async def _forget(config: JobConfig) -> None:
    """Forget an earlier crawl, and the items that are within reach of this machine."""
    delivery = make_delivery(config)

    async def forget_items() -> None:
        try:
            await delivery.open(is_patient=False)
            await delivery.clear()
        finally:
            await delivery.close()

    async with open_frontier(config.store, config.job, config.frontier) as frontier:
        await frontier.begin(is_fresh=True, is_rerun=False, also_forget=forget_items)


async def _live_nodes(cluster: Cluster) -> list[Node]:
    return [node for node in await cluster.nodes.all() if node.state is NodeState.RUNNING]


async def _tell_begun(cluster: Cluster, name: str, starts: int) -> None:
    """Wait until all nodes have begun, or have failed to."""

    async def look() -> dict[str, DutyStatus | None]:
        nodes = await _live_nodes(cluster)
        duties = _duties(nodes, name)
        return {node.name: duties.get(node.name) for node in nodes}

    def has_begun(duty: DutyStatus | None) -> bool:
        if duty is None or duty.starts < starts:
            return False
        return duty.state not in (DutyState.STARTING, DutyState.STOPPING)

    seen, _ = await wait_for(look, lambda seen: all(map(has_begun, seen.values())))
    begun = {node: duty for node, duty in seen.items() if duty and has_begun(duty)}
    failed = {node: duty for node, duty in begun.items() if duty.state is DutyState.FAILED}
    say(f"Started {name} on {count(len(begun) - len(failed), 'node')} of {len(seen)}.")
    for node, duty in failed.items():
        warn(f"{node} has given up {name}: {duty.reason}", "red")
    if failed:
        raise typer.Exit(1)


# weft job pause, resume, stop


@job.command()
def pause(name: JobName, store: SharedStoreUrl) -> None:
    """Let all workers of a job wait: they stay, and send nothing."""
    asyncio.run(_pause(shared_store(store), job_name(name)))


@job.command()
def resume(name: JobName, store: SharedStoreUrl) -> None:
    """Let a job that was paused or stopped go on."""
    asyncio.run(_resume(shared_store(store), job_name(name)))


@job.command()
def stop(name: JobName, store: SharedStoreUrl) -> None:
    """End all workers of a job, wherever they are. Nothing is lost: `resume` goes on."""
    asyncio.run(_stop(shared_store(store), job_name(name)))


async def _pause(store: Store, name: str) -> None:
    async with open_cluster(store) as cluster:
        await _find(cluster, name)
        await cluster.jobs.set_state(name, JobState.PAUSED)
        paused = await _wait_for_workers(cluster, name, lambda state: state == JobState.PAUSED)
    say(f"{name} is paused: {count(len(paused), 'worker')}, and nothing is sent.")


async def _resume(store: Store, name: str) -> None:
    async with open_cluster(store) as cluster:
        found = await _find(cluster, name)
        await cluster.jobs.set_state(name, JobState.RUNNING)
        running = await _wait_for_workers(cluster, name, lambda state: state != JobState.PAUSED)
        nodes = await _live_nodes(cluster) if found.work else []
    if running:
        say(f"{name} goes on: {count(len(running), 'worker')}.")
    elif nodes:
        say(f"{name} goes on: {count(len(nodes), 'node')} will start workers.")
    else:
        say(f"{name} may go on, but nobody works on it: start a node, or run `weft crawl`.")


async def _stop(store: Store, name: str) -> None:
    async with open_cluster(store) as cluster:
        await _find(cluster, name)
        await _end_workers(cluster, name)
    say(f"{name} is stopped: it has no worker. `weft job resume {name}` lets it go on.")


async def _end_workers(cluster: Cluster, name: str) -> None:
    await cluster.jobs.set_state(name, JobState.STOPPED)
    await _wait_for_workers(cluster, name, lambda state: False)


async def _wait_for_workers(
    cluster: Cluster, name: str, is_done: Callable[[str], bool]
) -> list[Worker]:
    """Wait until this is true of the states of all workers that are there; these workers."""

    async def look() -> list[Worker]:
        workers = (await cluster.jobs.workers([name]))[name]
        return [worker for worker in workers if not worker.is_lost]

    def late(workers: Iterable[Worker]) -> list[Worker]:
        return [worker for worker in workers if not is_done(worker.state)]

    seen, _ = await wait_for(look, lambda workers: not late(workers))
    if rest := late(seen):
        names = ", ".join(f"{each.status.host}:{each.status.pid}" for each in rest)
        raise StoreError(
            f"the order stands, but {count(len(rest), 'worker')} of {name} did not obey yet: "
            f"{names}; see `weft nodes`"
        )
    return seen


async def _find(cluster: Cluster, name: str) -> Job:
    names = await cluster.jobs.names()
    if name not in names:
        known = ", ".join(names) or "none"
        raise ConfigError(f"there is no job {name} in {cluster.place}; there are: {known}")
    return await cluster.jobs.get(name)

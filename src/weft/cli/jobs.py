"""`weft jobs` and `weft job`: crawls that the nodes of a store work on."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

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
    Watch,
    WorkersPerHost,
    read_overrides,
    read_pairs,
)
from weft.cli.output import count, results, say, show, warn
from weft.cli.summary import tell_finished
from weft.config import job_name
from weft.services.crawls import plan_crawl, start_crawl
from weft.services.jobs import JobRow, list_jobs, pause_job, resume_job, stop_job
from weft.services.stores import shared_store

job = typer.Typer(no_args_is_help=True, help="Start and control jobs that nodes work on.")

JobArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the job.")]


# weft jobs


def jobs(store: SharedStoreUrl, as_json: AsJson = False) -> None:
    """List the jobs of a store: state, workers, pages queued and done."""
    place = shared_store(store)
    rows = asyncio.run(list_jobs(place))
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
            say(f"{node} gave up on {row.name}: {reason}")


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
    watch: Watch = False,
    fresh: Fresh = False,
) -> None:
    """Start a crawl that all nodes of a store work on, now and whenever one joins.

        weft job start https://example.org/ --store redis://crawl.example:6379/0
        weft job start boards --watch --store redis://crawl.example:6379/0

    The spider, and everything it needs, must be on each node, in the directory where `weft worker`
    runs. That is also where files with items are written. A job that is already running is
    restarted with the new options and continues where it was.
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
        watch=watch,
    )
    crawl = plan_crawl(targets, read_pairs(argument, "-a"), overrides)
    started = asyncio.run(start_crawl(crawl, is_fresh=fresh))
    if started is None:
        tell_finished(crawl)
        return
    if not started.nodes:
        say(
            f"Started {started.name}. There is no node to work on it yet: run "
            f"`weft worker --store {crawl.home.store.place}` on any machine."
        )
        return
    say(f"Started {started.name} on {count(started.begun, 'node')} of {started.nodes}.")
    for node, reason in started.failures.items():
        warn(f"{node} gave up on {started.name}: {reason}", "red")
    if started.failures:
        raise typer.Exit(1)


# weft job pause, resume, stop


@job.command()
def pause(name: JobArgument, store: SharedStoreUrl) -> None:
    """Pause all workers of a job: they keep running, but send nothing."""
    workers = asyncio.run(pause_job(shared_store(store), job_name(name)))
    say(f"{job_name(name)} is paused: {count(workers, 'worker')}, nothing is sent.")


@job.command()
def resume(name: JobArgument, store: SharedStoreUrl) -> None:
    """Continue a job that was paused or stopped."""
    resumed = asyncio.run(resume_job(shared_store(store), job_name(name)))
    if resumed.workers:
        say(f"{resumed.name} continues: {count(resumed.workers, 'worker')}.")
    elif resumed.nodes:
        say(f"{resumed.name} continues: {count(resumed.nodes, 'node')} will start workers.")
    else:
        say(f"{resumed.name} is running, but has no workers: start a node, or run `weft crawl`.")


@job.command()
def stop(name: JobArgument, store: SharedStoreUrl) -> None:
    """Stop all workers of a job, wherever they are. Nothing is lost: `resume` continues it."""
    name = job_name(name)
    asyncio.run(stop_job(shared_store(store), name))
    say(f"{name} is stopped: it has no workers. `weft job resume {name}` continues it.")

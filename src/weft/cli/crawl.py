"""`weft crawl`"""

import asyncio
import os
import sys
from typing import Annotated

import msgspec
import typer

from weft.cli import INTERRUPTED
from weft.cli.options import (
    Arguments,
    Concurrency,
    Delay,
    Depth,
    Fresh,
    NewJobName,
    Outputs,
    Pairs,
    QueueOrder,
    TableSchema,
    Targets,
    Watch,
    WorkersPerHost,
    read_overrides,
    read_pairs,
)
from weft.cli.output import errors, show_logs, warn
from weft.cli.progress import make_display
from weft.cli.summary import exit_code, summarize, tell_finished, tell_job, tell_past
from weft.cli.workers import run_workers, spare_workers
from weft.node.spares import Spares
from weft.node.supervisor import Crew
from weft.services.crawls import (
    PlannedCrawl,
    PreparedCrawl,
    check_outputs,
    plan_crawl,
    put_boards,
    read_past,
)
from weft.services.homes import check_workers, forget_other_home, open_home
from weft.services.stores import has_server
from weft.sinks import has_left_items


def crawl(
    targets: Targets,
    output: Outputs = None,
    schema: TableSchema = None,
    order: QueueOrder = None,
    depth: Depth = None,
    max_pages: Annotated[
        int | None,
        typer.Option(
            min=1, help="Stop after this many pages, counting all workers of this command."
        ),
    ] = None,
    delay: Delay = None,
    concurrency: Concurrency = None,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            "-w",
            min=1,
            metavar="N",
            help="Number of worker processes on this machine. Without a shared store they use a "
            "private Redis or Valkey server, which keeps its data in the job's directory.",
        ),
    ] = 1,
    workers_per_host: WorkersPerHost = None,
    setting: Pairs = None,
    argument: Arguments = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where the job lives: rocks:///DIR, or redis://HOST:PORT/DB, which any number of "
            "workers can share. Default: its own directory in .weft.",
        ),
    ] = None,
    job: NewJobName = None,
    watch: Watch = False,
    fresh: Fresh = False,
) -> None:
    """Crawl a site, run a Scrapy spider or crawl boards, without losing anything.

    Stop it with Ctrl-C or in any other way: the same command continues where it stopped. When the
    crawl is finished, the same command says so; `--fresh` starts over.

        weft crawl https://example.org/ -o pages.jsonl
        weft crawl myspider.py --max-pages 100
        weft crawl spider_of_this_project -a category=books
        weft crawl news.yaml -o news.jsonl
        weft crawl boards --watch

    With a shared store, the same command in another terminal or on another machine joins in:

        weft crawl https://example.org/ --store redis://localhost:6379/0

    Several processes on a single machine need no shared store. Each host is served by one of them:

        weft crawl https://example.org/ https://example.com/ --workers 4
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
    if max_pages is not None:
        overrides |= {"WEFT_MAX_PAGES": max_pages}
    with spare_workers(workers) as spares:
        crawl = plan_crawl(targets, read_pairs(argument, "-a"), overrides)
        sys.exit(crawl_and_report(crawl, is_fresh=fresh, workers=workers, spares=spares))


def crawl_and_report(
    crawl: PlannedCrawl,
    *,
    is_fresh: bool,
    workers: int = 1,
    spares: Spares | None = None,
    continues: bool = True,
) -> int:
    """Run a crawl with its progress on the screen; return the exit code. `continues`: whether the
    same command goes on with it."""
    # Imported here because it loads Scrapy.
    from weft.engine.run import run_crawl

    store, job = crawl.home.store, crawl.home.job
    if workers > 1:
        check_workers(store, is_named=crawl.has_named_store, is_fresh=is_fresh)
    # One worker continues where several have stopped.
    has_crew = workers > 1 or (has_server(store) and not is_fresh)
    if is_fresh:
        asyncio.run(forget_other_home(store, job, has_crew=has_crew))
    with open_home(store, job, has_crew=has_crew) as there:
        prepared = crawl.prepare(there, is_fresh=is_fresh)
        home = msgspec.structs.replace(crawl.home, store=there)
        if not is_fresh:
            past = asyncio.run(read_past(home, prepared.config))
            if past.is_finished and not crawl.is_of_boards:
                check_outputs(prepared.config)
                if not has_left_items(home.job_dir):
                    tell_finished(crawl)
                    return 0
            tell_past(crawl, past.stats)
        if crawl.is_of_boards:
            for name in asyncio.run(put_boards(crawl, prepared.config)):
                warn(f"The board {name} is paused; `weft board resume {name}` continues it.")
        if store.is_shared:
            from weft.services.jobs import let_run  # here, for it loads the Redis client

            asyncio.run(let_run(store, job))
        show_logs(crawl.log_level)
        with make_display() as display:
            report = (
                run_workers(_crew(crawl, prepared, workers), display, spares)
                if has_crew
                else run_crawl(crawl.target, prepared.overrides, display)
            )
    if report is None:
        warn(f"Stopped at once{'; run the same command to continue' if continues else ''}.")
        errors.file.flush()
        os._exit(INTERRUPTED)  # anything still running would only delay us
    summarize(report, continues=continues)
    tell_job(crawl)
    return exit_code(report)


def _crew(crawl: PlannedCrawl, prepared: PreparedCrawl, number: int) -> Crew:
    config = prepared.config
    work = crawl.work(prepared.overrides)
    return Crew(number, work, max_pages=config.max_pages, is_fresh=config.is_fresh)

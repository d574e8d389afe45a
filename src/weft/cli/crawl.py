"""`weft crawl`"""

import asyncio
import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli import INTERRUPTED
from weft.cli.home import check_workers, forget_other_home, open_home
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
    WorkersPerHost,
    read_overrides,
    read_pairs,
)
from weft.cli.output import errors, say, show_logs, warn
from weft.cli.progress import make_display
from weft.cli.store import ask, has_server, place_of
from weft.cli.summary import exit_code, summarize
from weft.cli.workers import run_workers
from weft.cluster.status import Work
from weft.config import default_job_dir
from weft.engine.delivery import make_delivery
from weft.engine.run import read_job, run_crawl
from weft.engine.settings import DEFAULT_ITEMS, JobConfig, job_name
from weft.engine.target import Target, find_target
from weft.errors import ConfigError, StoreMissingError
from weft.frontier import Store, parse_store
from weft.node.supervisor import Crew
from weft.reports import Report
from weft.sinks import has_left_items
from weft.sinks.outputs import describe, listed, read_outputs


def crawl(
    targets: Targets,
    output: Outputs = None,
    schema: TableSchema = None,
    order: QueueOrder = None,
    depth: Depth = None,
    max_pages: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many pages, of all workers of this command."),
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
            help="Crawl with so many processes on this machine. Without a shared store they have "
            "a private Redis or Valkey server, with its data in the job's directory.",
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
            "workers can share. Default: a directory of its own in .weft.",
        ),
    ] = None,
    job: NewJobName = None,
    fresh: Fresh = False,
) -> None:
    """Crawl a site, or run a Scrapy spider, and lose nothing.

    Stop it with Ctrl-C, or in any other way: the same command goes on where it stopped. When the
    crawl is finished, the same command says so; `--fresh` starts over.

        weft crawl https://example.org/ -o pages.jsonl
        weft crawl myspider.py --max-pages 100
        weft crawl spider_of_this_project -a category=books

    With a shared store the same command in another terminal, or on another machine, joins in:

        weft crawl https://example.org/ --store redis://localhost:6379/0

    Several processes on this machine alone need no store; each host is served by one of them:

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
    )
    if max_pages is not None:
        overrides |= {"WEFT_MAX_PAGES": max_pages}
    target = find_target(targets, read_pairs(argument, "-a"))
    sys.exit(crawl_and_report(target, overrides, is_fresh=fresh, workers=workers))


def crawl_and_report(
    target: Target, overrides: dict[str, Any], *, is_fresh: bool, workers: int = 1
) -> int:
    """Run a crawl with its progress on the screen; the exit code."""
    store, job = find_crawl(target, overrides)
    if workers > 1:
        is_named = bool(_chosen("WEFT_STORE", target, overrides))
        check_workers(store, is_named=is_named, is_fresh=is_fresh)
    # One worker goes on where several have stopped.
    has_crew = workers > 1 or (has_server(store) and not is_fresh)
    if is_fresh:
        forget_other_home(store, job, has_crew=has_crew)
    with open_home(store, job, has_crew=has_crew) as home:
        job_dir = _job_dir(target, overrides, store, job)
        overrides |= {"WEFT_FRESH": is_fresh, "WEFT_RERUN": False}
        overrides |= {"WEFT_STORE": home.url, "WEFT_JOB": job}
        config = read_job(target, overrides)
        make_delivery(config)  # tells what is no sink, or has to be installed
        if not is_fresh and is_finished(home, job):
            check_outputs(config, job_dir)
            if not has_left_items(job_dir):
                tell_finished(store, job, job_dir)
                return 0
        if store.is_shared:
            asyncio.run(_let_run(store, job))
        crew = _crew(target, overrides, store, workers) if has_crew else None
        report = _run(target, overrides, crew)
    if report is None:
        warn("Stopped at once; the same command goes on.")
        errors.file.flush()
        os._exit(INTERRUPTED)  # whatever is still running would only hold us up
    summarize(report)
    return exit_code(report)


def _run(target: Target, overrides: dict[str, Any], crew: Crew | None) -> Report | None:
    show_logs(log_level(target, overrides))
    with make_display() as display:
        return run_workers(crew, display) if crew else run_crawl(target, overrides, display)


def _job_dir(target: Target, overrides: dict[str, Any], store: Store, job: str) -> Path:
    """What the job keeps on this machine."""
    return store.directory or Path(_chosen("JOBDIR", target, overrides) or default_job_dir(job))


async def _let_run(store: Store, job: str) -> None:
    # Here, for an embedded store needs no Redis client.
    from weft.cluster.jobs import Jobs
    from weft.redis.client import SHORT_PATIENCE_S, Client

    async with Client(store.url, patience_s=SHORT_PATIENCE_S) as client:
        await Jobs(client).let_run(job)


def check_outputs(config: JobConfig, job_dir: Path) -> None:
    """Of a crawl that is finished: raises ConfigError for outputs that would stay empty."""
    known = read_outputs(job_dir)
    wanted = describe(config.job, config.sinks, config.archives, job_dir)
    # Where nothing is said about items, nothing is asked for.
    new = wanted.known() - {DEFAULT_ITEMS} - (known.known() if known else set())
    if known is None or not new:
        return
    raise ConfigError(
        f"this crawl is finished, and its items are in {listed(known.sinks)}: nothing would go to "
        f"{', '.join(sorted(new))}. `weft items --job {config.job}` reads them back, and --fresh "
        "crawls again"
    )


def tell_finished(store: Store, job: str, job_dir: Path) -> None:
    place = place_of(store, job)
    say(f"Nothing to do: this crawl is finished. Its job is {place}; --fresh starts over.")
    if (outputs := read_outputs(job_dir)) and outputs.sinks:
        say(f"Items are in {listed(outputs.sinks)}")


def is_finished(store: Store, job: str) -> bool:
    """Whether the crawl of this job has ended by itself."""
    try:
        return ask(store, job, lambda frontier: frontier.is_finished())
    except StoreMissingError:
        return False


def find_crawl(target: Target, overrides: dict[str, Any]) -> tuple[Store, str]:
    """The store that the user names, or the project's, or one of its own; and the job in it."""
    name, own_dir, url = (
        _chosen(setting, target, overrides) for setting in ("WEFT_JOB", "JOBDIR", "WEFT_STORE")
    )
    job_dir = own_dir or (default_job_dir(name) if name else target.job_dir)
    store = parse_store(url or f"rocks://{job_dir}")
    return store, job_name(name or target.job_dir.name)


def _chosen(setting: str, target: Target, overrides: dict[str, Any]) -> str:
    """What the user says, or else the spider or its project."""
    return str(overrides.get(setting) or target.settings_of_spider().get(setting) or "")


def _crew(target: Target, overrides: dict[str, Any], store: Store, number: int) -> Crew:
    """The workers of a job that lives in `store`, or in its directory."""
    job_dir = store.directory
    if job_dir is not None and job_dir != default_job_dir(overrides["WEFT_JOB"]):
        overrides |= {"JOBDIR": str(job_dir)}
    level = log_level(target, overrides)
    return Crew(
        number,
        Work(target.words, dict(target.given), overrides, level),
        max_pages=_max_pages(target, overrides),
        is_fresh=overrides["WEFT_FRESH"],
    )


def _max_pages(target: Target, overrides: dict[str, Any]) -> int:
    """No limit if the setting cannot be read: the workers tell that."""
    try:
        return max(0, int(float(_chosen("WEFT_MAX_PAGES", target, overrides) or 0)))
    except (OverflowError, ValueError):
        return 0


def log_level(target: Target, overrides: dict[str, Any]) -> str:
    """What the user or the project says, or else warnings only."""
    settings = target.settings_of_spider()
    is_set = (settings.getpriority("LOG_LEVEL") or 0) > 0
    level = overrides.get("LOG_LEVEL") or (settings["LOG_LEVEL"] if is_set else "WARNING")
    if str(level).upper() not in logging.getLevelNamesMapping():
        raise ConfigError(f"LOG_LEVEL is {level!r}; choose DEBUG, INFO, WARNING, ERROR or CRITICAL")
    return str(level).upper()

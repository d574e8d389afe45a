"""`weft crawl`"""

import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli import INTERRUPTED
from weft.cli.output import count, errors, say, show_logs, warn
from weft.cli.progress import make_display
from weft.cli.store import ask
from weft.engine.jobfile import JobFile
from weft.engine.run import Report, run_crawl
from weft.engine.settings import DEFAULT_CONCURRENT_REQUESTS, store_path
from weft.engine.target import Target, find_target
from weft.errors import ConfigError, StoreMissingError
from weft.records import Order


def crawl(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET",
            help="URLs (their sites are crawled), a spider file, or a spider of this project.",
            show_default=False,
        ),
    ],
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where items go: FILE.jsonl or FILE.db; may be given several times. "
            "Default: items.db in the job's directory.",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        Order | None,
        typer.Option(
            help="Order of each host's queue. Default: bfs for URLs, priority for spiders.",
            show_default=False,
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(min=0, help="Follow links so many steps deep; 0: no limit."),
    ] = None,
    max_pages: Annotated[int | None, typer.Option(min=1, help="Stop after so many pages.")] = None,
    delay: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="SECONDS", help="Time between two requests to one host."),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Requests to one host at the same time; default: 8."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="Set a Scrapy or Weft setting."),
    ] = None,
    argument: Annotated[
        list[str] | None,
        typer.Option("-a", metavar="NAME=VALUE", help="Give the spider an argument."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where the job lives: rocks:///DIR. Default: a directory of its own in .weft.",
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Forget an earlier crawl and its items, the output too; start over."
        ),
    ] = False,
) -> None:
    """Crawl a site, or run a Scrapy spider, and lose nothing.

    Stop it with Ctrl-C, or in any other way: the same command goes on where it stopped. When the
    crawl is finished, the same command says so; `--fresh` starts over.

        weft crawl https://example.org/ -o pages.jsonl
        weft crawl myspider.py --max-pages 100
        weft crawl spider_of_this_project -a category=books
    """
    overrides: dict[str, Any] = _pairs(setting, "-s")
    options = {
        "WEFT_OUTPUT": output,
        "WEFT_ORDER": order and str(order),
        "DEPTH_LIMIT": depth,
        "WEFT_MAX_PAGES": max_pages,
        "DOWNLOAD_DELAY": delay,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "CONCURRENT_REQUESTS": concurrency and max(concurrency, DEFAULT_CONCURRENT_REQUESTS),
        "WEFT_STORE": store,
    }
    overrides |= {name: value for name, value in options.items() if value is not None}
    target = find_target(targets, _pairs(argument, "-a"))
    sys.exit(crawl_and_report(target, overrides, is_fresh=fresh))


def crawl_and_report(target: Target, overrides: dict[str, Any], *, is_fresh: bool) -> int:
    """Run a crawl with its progress on the screen; the exit code."""
    job_dir = _job_dir(target, overrides)
    if not is_fresh and _is_finished(job_dir):
        say(f"Nothing to do: this crawl is finished. Its job is {job_dir}; --fresh starts over.")
        return 0
    overrides |= {"WEFT_FRESH": is_fresh, "WEFT_RERUN": False}
    overrides.setdefault("WEFT_STORE", f"rocks://{job_dir}")
    show_logs(_log_level(target, overrides))
    with make_display() as display:
        report = run_crawl(target, overrides, display)
    if report is None:
        warn("Stopped at once; the same command goes on.")
        errors.file.flush()
        os._exit(INTERRUPTED)  # whatever is still running would only hold us up
    summarize(report)
    return exit_code(report)


def _is_finished(job_dir: Path) -> bool:
    try:
        stats = ask(job_dir, lambda frontier: frontier.stats())
    except StoreMissingError:
        return False
    return JobFile(job_dir).is_finished(stats.added)


def _job_dir(target: Target, overrides: dict[str, Any]) -> Path:
    """The store that the user names, or the project's, or one of its own."""
    settings = target.settings_of_spider()
    if store := overrides.get("WEFT_STORE") or settings.get("WEFT_STORE"):
        return store_path(store)
    job_dir = overrides.get("JOBDIR") or settings.get("JOBDIR")
    return Path(job_dir) if job_dir else target.job_dir


def _log_level(target: Target, overrides: dict[str, Any]) -> str:
    """What the user or the project says, or else warnings only."""
    settings = target.settings_of_spider()
    is_set = (settings.getpriority("LOG_LEVEL") or 0) > 0
    level = overrides.get("LOG_LEVEL") or (settings["LOG_LEVEL"] if is_set else "WARNING")
    if str(level).upper() not in logging.getLevelNamesMapping():
        raise ConfigError(f"LOG_LEVEL is {level!r}; choose DEBUG, INFO, WARNING, ERROR or CRITICAL")
    return str(level).upper()


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs = {}
    for text in given or []:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise ConfigError(f"{option} {text}: write {option} NAME=VALUE")
        pairs[name] = value
    return pairs


def summarize(report: Report) -> None:
    progress = report.progress
    rate = progress.pages / progress.elapsed_s if progress.elapsed_s else 0.0
    say(
        f"{count(progress.pages, 'page')} and {count(progress.items, 'item')} "
        f"in {progress.elapsed_s:,.1f} s ({rate:,.1f} pages/s)"
    )
    for kind, number in report.failures.items():
        say(f"  {count(number, 'request')} failed: {kind}")
    if report.item_errors:
        say(f"  {count(report.item_errors, 'item')} failed in a pipeline, see the log")
    if report.refused:
        say(f"  {count(report.refused, 'request')} refused, as by robots.txt")
    _tell_what_is_left(report)
    if report.outputs and progress.items:
        say(f"Items are in {', '.join(report.outputs)}")


def _tell_what_is_left(report: Report) -> None:
    stats = report.progress.stats
    if stats.held:
        say(
            f"  {count(stats.held, 'request')} kept for hosts that do not exist; "
            "the same command tries them again after an hour"
        )
    left = stats.queued - stats.held
    if left > 0:
        say(
            f"Not finished ({report.reason}): {count(left, 'request')} left. "
            "The same command goes on."
        )


def exit_code(report: Report) -> int:
    """0 only if the crawl did what it was told."""
    if report.error is not None:
        raise report.error
    if report.reason == "shutdown":
        return INTERRUPTED
    has_met_trouble = report.failures or report.refused or report.progress.stats.held
    is_fruitless = report.progress.pages == 0 and has_met_trouble
    has_faults = "spider error" in report.failures or report.item_errors
    if is_fruitless:
        warn("weft: not a single page could be fetched", "red")
    return 1 if is_fruitless or has_faults or report.reason == "start_error" else 0

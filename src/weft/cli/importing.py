"""`weft frontier import-scrapy-redis`"""

import asyncio
import sys
from typing import Annotated, Any

import typer

from weft.cli.options import read_pairs
from weft.cli.output import count, errors, say, warn
from weft.clock import monotonic_s
from weft.scrapyredis.result import MAX_REASONS, Dupefilter, TransferResult
from weft.services import importing as services
from weft.services.importing import ImportPlan

#: Time between two progress lines.
PROGRESS_S = 5.0


def import_scrapy_redis(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="The spider that the requests belong to: a file, or a spider of this project.",
            show_default=False,
        ),
    ],
    source: Annotated[
        str,
        typer.Option(
            "--from", metavar="URL", help="The Redis of scrapy-redis: redis://HOST:PORT/DB."
        ),
    ],
    queue_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Key of its queue. Default: SCHEDULER_QUEUE_KEY, or SPIDER:requests.",
        ),
    ] = None,
    dupefilter_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Key of its dupefilter. Default: SCHEDULER_DUPEFILTER_KEY, or SPIDER:dupefilter.",
        ),
    ] = None,
    lifo: Annotated[
        bool,
        typer.Option(
            "--lifo",
            help="The queue is a LifoQueue. Not needed if SCHEDULER_QUEUE_CLASS still says so.",
        ),
    ] = False,
    queue_only: Annotated[
        bool, typer.Option("--queue-only", help="Do not import the dupefilter.")
    ] = False,
    give_up_skipped: Annotated[
        bool,
        typer.Option(
            "--give-up-skipped",
            help="Import the dupefilter even if some entries of the queue cannot be read. Those "
            "will then never be fetched.",
        ),
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Where the job lives, as in `weft crawl`. Default: in .weft."
        ),
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the job. Default: the name of the spider."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="Set a Scrapy or Weft setting."),
    ] = None,
    argument: Annotated[
        list[str] | None,
        typer.Option("-a", metavar="NAME=VALUE", help="Pass an argument to the spider."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read everything, but write nothing.")
    ] = False,
) -> None:
    """Move a crawl from scrapy-redis to Weft: its queue and its dupefilter.

    Stop the old crawl first, and start `weft crawl` afterwards. Nothing is removed from the old
    Redis, no pickled code is run, and the command can be repeated.

        weft frontier import-scrapy-redis myspider --from redis://old/0 --store redis://new/0
    """
    overrides: dict[str, Any] = read_pairs(setting, "-s")
    options = {"WEFT_STORE": store, "WEFT_JOB": job}
    overrides |= {name: value for name, value in options.items() if value}
    plan = ImportPlan(
        target,
        read_pairs(argument, "-a"),
        overrides,
        source,
        queue_key=queue_key,
        dupefilter_key=dupefilter_key,
        is_lifo=lifo,
        is_queue_only=queue_only,
        is_giving_up=give_up_skipped,
        is_dry=dry_run,
    )
    done = asyncio.run(services.import_scrapy_redis(plan, _Watch()))
    _tell(done.result, "" if dry_run else str(done.home))
    sys.exit(1 if done.result.skipped else 0)


class _Watch:
    """Prints a progress line now and then."""

    def __init__(self) -> None:
        self._told_s = monotonic_s()

    def __call__(self, result: TransferResult) -> None:
        if monotonic_s() - self._told_s >= PROGRESS_S:
            self._told_s = monotonic_s()
            warn(f"{result.read:,} of {count(result.total, 'request')}")


def _tell(result: TransferResult, where: str) -> None:
    """`where` they went; empty for a dry run."""
    known = f", {result.known:,} were already there" if result.known else ""
    verb, end = ("imported", f": {where}") if where else ("would be imported", "")
    say(f"{count(result.queued, 'request')} {verb}{known}{end}")
    _tell_dupefilter(result, "are" if where else "would be")
    if not result.skipped:
        return
    errors.print()
    warn(f"weft: {_entries(result.skipped)} skipped:", "red")
    for reason in result.reasons:
        warn(f"  {reason}")
    if result.skipped > MAX_REASONS:
        warn(f"  … and {result.skipped - MAX_REASONS:,} more")


def _entries(number: int) -> str:
    return "1 entry was" if number == 1 else f"{number:,} entries were"


def _tell_dupefilter(result: TransferResult, verb: str) -> None:
    match result.dupefilter:
        case Dupefilter.LEARNED:
            pages = f"{count(result.learned, 'page')} that scrapy-redis had fetched"
            say(f"{pages} {verb} marked as known")
        case Dupefilter.EMPTY:
            say("There is no dupefilter: pages are fetched again if found again")
        case Dupefilter.NOT_WANTED:
            say("The dupefilter was left out: pages are fetched again if found again")
        case Dupefilter.LEFT_OUT:
            say(
                "The dupefilter was left out, because it contains the skipped entries: fix or "
                "delete them and run this again, or give them up with --give-up-skipped"
            )

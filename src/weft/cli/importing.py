"""`weft frontier import-scrapy-redis`"""

import asyncio
import sys
from contextlib import closing
from typing import Annotated, Any

import typer

from weft.cli.crawl import find_crawl
from weft.cli.options import read_pairs
from weft.cli.output import count, errors, say, warn
from weft.cli.store import place_of
from weft.clock import monotonic_s
from weft.engine.hostkeys import make_keys
from weft.engine.scrapyredis.packing import Packing
from weft.engine.scrapyredis.source import Source, find_keys
from weft.engine.scrapyredis.transfer import MAX_REASONS, Dupefilter, Result, Transfer
from weft.engine.settings import check_host_key
from weft.engine.target import Target, find_target
from weft.errors import ConfigError
from weft.frontier import Store, open_frontier, parse_store

#: Time between two lines about the progress.
PROGRESS_S = 5.0


def import_scrapy_redis(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="The spider whose requests these are: a file, or a spider of this project.",
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
            help="The queue is a LifoQueue; not needed if SCHEDULER_QUEUE_CLASS still says so.",
        ),
    ] = False,
    queue_only: Annotated[
        bool, typer.Option("--queue-only", help="Leave the dupefilter out.")
    ] = False,
    give_up_skipped: Annotated[
        bool,
        typer.Option(
            "--give-up-skipped",
            help="Bring the dupefilter along though entries of the queue cannot be read; these "
            "will never be fetched then.",
        ),
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Where the job is to live, as in `weft crawl`; default: in .weft."
        ),
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the job. Default: that of the spider."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="Set a Scrapy or Weft setting."),
    ] = None,
    argument: Annotated[
        list[str] | None,
        typer.Option("-a", metavar="NAME=VALUE", help="Give the spider an argument."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read everything, write nothing.")
    ] = False,
) -> None:
    """Move a crawl from scrapy-redis to Weft: its queue and its dupefilter.

    Stop the old crawl first, and start `weft crawl` afterwards. Nothing is removed from the old
    Redis, no pickled code is run, and the command may be run again.

        weft frontier import-scrapy-redis myspider --from redis://old/0 --store redis://new/0
    """
    overrides: dict[str, Any] = read_pairs(setting, "-s")
    options = {"WEFT_STORE": store, "WEFT_JOB": job}
    overrides |= {name: value for name, value in options.items() if value}
    found = _find_spider(target, read_pairs(argument, "-a"))
    place, name = find_crawl(found, overrides)
    packing = Packing(found, overrides | {"WEFT_STORE": place.url, "WEFT_JOB": name})
    keys = find_keys(packing.settings, packing.spider_name, queue_key, dupefilter_key, is_lifo=lifo)
    transfer = Transfer(
        packing, is_queue_only=queue_only, is_giving_up=give_up_skipped, watch=_Watch()
    )
    result = asyncio.run(_import(transfer, packing, Source(_address(source), keys), dry_run))
    _tell(result, "" if dry_run else place_of(place, name))
    sys.exit(1 if result.skipped else 0)


def _find_spider(target: str, arguments: dict[str, str]) -> Target:
    if "://" in target:
        raise ConfigError(f"{target} is no spider; name the spider whose requests these are")
    return find_target([target], arguments)


def _address(source: str) -> Store:
    store = parse_store(source)
    if not store.is_shared:
        raise ConfigError(
            f"--from {source}: scrapy-redis lives in a Redis; write redis://HOST:PORT/DB"
        )
    return store


async def _import(transfer: Transfer, packing: Packing, source: Source, is_dry: bool) -> Result:
    config = packing.config
    async with source:
        await transfer.check(source)
        if is_dry:
            return await transfer.run(source, None)
        async with open_frontier(config.store, config.job, config.frontier) as frontier:
            await frontier.begin(is_fresh=False, is_rerun=False)
            check_host_key(frontier, config)
            with closing(make_keys(frontier)) as keys:
                return await transfer.run(source, frontier, keys)


class _Watch:
    """A line about the progress now and then."""

    def __init__(self) -> None:
        self._told_s = monotonic_s()

    def __call__(self, result: Result) -> None:
        if monotonic_s() - self._told_s >= PROGRESS_S:
            self._told_s = monotonic_s()
            warn(f"{result.read:,} of {count(result.total, 'request')}")


def _tell(result: Result, where: str) -> None:
    """`where` they went; empty for a rehearsal."""
    known = f", {result.known:,} were there already" if result.known else ""
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


def _tell_dupefilter(result: Result, verb: str) -> None:
    match result.dupefilter:
        case Dupefilter.LEARNED:
            say(f"{count(result.learned, 'page')} that scrapy-redis had fetched {verb} known")
        case Dupefilter.EMPTY:
            say("There is no dupefilter: pages are fetched again where they are found")
        case Dupefilter.NOT_WANTED:
            say("The dupefilter was left out: pages are fetched again where they are found")
        case Dupefilter.LEFT_OUT:
            say(
                "The dupefilter was left out, for the entries that were skipped are in it: put "
                "them right or delete them and run this again, or give them up with "
                "--give-up-skipped"
            )

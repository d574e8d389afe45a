"""Options that several commands share, and the settings that they set."""

from typing import Annotated, Any

import typer

from weft.errors import ConfigError
from weft.records import Order
from weft.services.options import CrawlOptions, overrides_of
from weft.sinks.base import Schema

Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET",
        help="URLs (their sites are crawled), a spider file, a spider of this project, board "
        "files (.yaml), or the word boards: those that were added with `weft board add`.",
        show_default=False,
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="SINK",
        help="Where items go: FILE.jsonl, .json, .csv, .xml, .parquet or .db, "
        "mongodb://HOST/DB/COLLECTION, mysql:// or postgresql://HOST/DB/TABLE, "
        "sqlite:///FILE.db/TABLE, ftp://HOST/FILE, s3://BUCKET/PREFIX; warc://DIR for raw pages. "
        "Can be repeated. Default: items.db in the job's directory.",
        show_default=False,
    ),
]
TableSchema = Annotated[
    Schema | None,
    typer.Option(
        "--schema",
        help="What to do about new fields: add columns to tables (open, the default), or refuse "
        "the items (strict).",
        show_default=False,
    ),
]
QueueOrder = Annotated[
    Order | None,
    typer.Option(
        help="Order of each host's queue. Default: bfs for URLs, priority for spiders.",
        show_default=False,
    ),
]
Depth = Annotated[
    int | None, typer.Option(min=0, help="Follow links up to this many steps deep; 0: no limit.")
]
Delay = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="SECONDS", help="Time between two requests to one host."),
]
Concurrency = Annotated[
    int | None, typer.Option(min=1, help="Concurrent requests to one host; default: 8.")
]
WorkersPerHost = Annotated[
    int | None,
    typer.Option(min=1, help="Workers that may fetch from one host concurrently; default: 1."),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="NAME=VALUE", help="Set a Scrapy or Weft setting."),
]
Arguments = Annotated[
    list[str] | None,
    typer.Option("-a", metavar="NAME=VALUE", help="Pass an argument to the spider."),
]
NewJobName = Annotated[
    str | None,
    typer.Option(
        "--job",
        metavar="NAME",
        help="Name of the job, in .weft or in a shared store. Default: the name of the spider, "
        "with a digest of its arguments if it has any; or one derived from the URLs.",
        show_default=False,
    ),
]
Fresh = Annotated[
    bool,
    typer.Option(
        "--fresh", help="Start over: forget an earlier crawl and its items, including the output."
    ),
]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Go on when nothing is left, and visit pages again when they are due, until stopped.",
    ),
]
SharedStoreUrl = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store that nodes share: redis://HOST:PORT/DB.",
        show_default=False,
    ),
]
JobName = Annotated[
    str | None,
    typer.Option(
        "--job",
        help="Name of a job, in .weft or in the store; not needed if there is only one.",
        metavar="NAME",
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Where the job lives: rocks:///DIR or redis://HOST:PORT/DB.",
        metavar="URL",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def read_overrides(
    pairs: list[str] | None,
    *,
    output: list[str] | None,
    schema: Schema | None,
    order: Order | None,
    depth: int | None,
    delay: float | None,
    concurrency: int | None,
    workers_per_host: int | None,
    store: str | None,
    job: str | None,
    watch: bool = False,
) -> dict[str, Any]:
    """The settings that the options of a crawl stand for; they override those given with `-s`."""
    options = CrawlOptions(
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
    return overrides_of(options, read_pairs(pairs, "-s"))


def read_pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """The pairs given as NAME=VALUE, any number of times."""
    pairs = {}
    for text in given or []:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise ConfigError(f"{option} {text}: write {option} NAME=VALUE")
        pairs[name] = value
    return pairs

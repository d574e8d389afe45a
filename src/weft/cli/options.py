"""Options that several commands have, and the settings that they stand for."""

from typing import Annotated, Any

import typer

from weft.engine.settings import DEFAULT_CONCURRENT_REQUESTS
from weft.errors import ConfigError
from weft.frontier import Store, parse_store
from weft.records import Order
from weft.sinks.base import Schema

Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET",
        help="URLs (their sites are crawled), a spider file, or a spider of this project.",
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
        "May be given several times. Default: items.db in the job's directory.",
        show_default=False,
    ),
]
TableSchema = Annotated[
    Schema | None,
    typer.Option(
        "--schema",
        help="Whether tables get columns for new fields (open, the default), or items that have "
        "them are refused (strict).",
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
    int | None, typer.Option(min=0, help="Follow links so many steps deep; 0: no limit.")
]
Delay = Annotated[
    float | None,
    typer.Option(min=0.0, metavar="SECONDS", help="Time between two requests to one host."),
]
Concurrency = Annotated[
    int | None, typer.Option(min=1, help="Requests to one host at the same time; default: 8.")
]
WorkersPerHost = Annotated[
    int | None,
    typer.Option(min=1, help="Workers that may fetch from one host at the same time; default: 1."),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="NAME=VALUE", help="Set a Scrapy or Weft setting."),
]
Arguments = Annotated[
    list[str] | None,
    typer.Option("-a", metavar="NAME=VALUE", help="Give the spider an argument."),
]
NewJobName = Annotated[
    str | None,
    typer.Option(
        "--job",
        metavar="NAME",
        help="Name of the job, in .weft or in a shared store. Default: that of the spider, or "
        "one made of the URLs.",
        show_default=False,
    ),
]
Fresh = Annotated[
    bool,
    typer.Option(
        "--fresh", help="Forget an earlier crawl and its items, the output too; start over."
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
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]


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
) -> dict[str, Any]:
    """The settings that the options of a crawl stand for, above those that `-s` sets."""
    options = {
        "WEFT_SINKS": output,
        "WEFT_SCHEMA": schema and str(schema),
        "WEFT_ORDER": order and str(order),
        "DEPTH_LIMIT": depth,
        "DOWNLOAD_DELAY": delay,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "CONCURRENT_REQUESTS": concurrency and max(concurrency, DEFAULT_CONCURRENT_REQUESTS),
        "WEFT_WORKERS_PER_HOST": workers_per_host,
        "WEFT_STORE": store,
        "WEFT_JOB": job,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return read_pairs(pairs, "-s") | given


def read_pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """What was given as NAME=VALUE, any number of times."""
    pairs = {}
    for text in given or []:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise ConfigError(f"{option} {text}: write {option} NAME=VALUE")
        pairs[name] = value
    return pairs


def check_shared(store: Store) -> Store:
    """Raises ConfigError for a store that only one process can have."""
    if not store.is_shared:
        raise ConfigError(
            f"{store.place} is an embedded store, which only one process can have; name one that "
            "nodes can share: --store redis://HOST:PORT/DB"
        )
    return store


def shared_store(url: str) -> Store:
    """The store that `--store` names."""
    return check_shared(parse_store(url))

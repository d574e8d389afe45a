"""`weft items`: read items back from where a crawl has put them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.itemformats import write_csv, write_json_lines, write_table
from weft.cli.when import parse_moment
from weft.clock import SystemClock
from weft.config import DEFAULT_JOBS_DIR, default_job_dir
from weft.engine.settings import DEFAULT_ITEMS
from weft.errors import ConfigError, StoreMissingError
from weft.sinks import Sink, SinkConfig, make_sink
from weft.sinks.conditions import Condition, parse_condition
from weft.sinks.reading import Query, ReadableSink, StoredItem
from weft.urls import without_password

#: Items that a table shows, unless more are asked for.
TABLE_ITEMS = 50


class Format(StrEnum):
    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"


def items(
    sink: Annotated[
        str | None,
        typer.Argument(
            metavar="[SINK]",
            help="What the crawl was given with -o. Default: items.db in the job's directory.",
            show_default=False,
        ),
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name of a job, in .weft or in the sink; not needed if there is only one.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="Only items whose fields are so: price<10, author.name=Ann, title~bread "
            "(contains). Also != <= > >=. May be given several times: all must hold.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Only items of pages that were fetched since then: 2026-11-01, "
            "2026-11-01T12:00, 30m, 3h, 2d.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help=f"At most so many items. Default: {TABLE_ITEMS} in a table, else all.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write them.")] = Format.TABLE,
    has_all: Annotated[
        bool,
        typer.Option("--all", help="Also key, job, page and time of each item, as _key, _job …"),
    ] = False,
) -> None:
    """Read items back, from the sink that a crawl has put them into.

        weft items --where 'price<10' --format csv > cheap.csv

    Works while the crawl is running.
    """
    conditions = [parse_condition(text) for text in where or []]
    since_ms = max(1, parse_moment(since, SystemClock().now_ms())) if since is not None else 0
    if sink:
        found, query = _readable(sink, _job_dir(job)), Query(job or "", since_ms)
    else:  # all that is there is of one job
        path = _only_database(job)
        found, query = _readable(str(path), path.parent), Query("", since_ms)
    chosen = _choose(found.read(query), conditions)
    asyncio.run(_write(chosen, form, limit, has_all=has_all))


async def _write(
    chosen: AsyncIterator[StoredItem], form: Format, limit: int | None, *, has_all: bool
) -> None:
    match form:
        case Format.TABLE:
            await write_table(chosen, limit or TABLE_ITEMS, has_all=has_all)
        case Format.JSONL:
            await write_json_lines(_first(chosen, limit), has_all=has_all)
        case Format.CSV:
            await write_csv(_first(chosen, limit), has_all=has_all)


async def _choose(
    found: AsyncIterator[StoredItem], conditions: Sequence[Condition]
) -> AsyncIterator[StoredItem]:
    async for item in found:
        if all(condition.holds(item.fields) for condition in conditions):
            yield item


async def _first(found: AsyncIterator[StoredItem], limit: int | None) -> AsyncIterator[StoredItem]:
    given = 0
    async for item in found:
        yield item
        given += 1
        if given == limit:
            return


def _readable(output: str, job_dir: Path) -> ReadableSink:
    sink: Sink = make_sink(output, SinkConfig(job_dir))
    if not isinstance(sink, ReadableSink):
        raise ConfigError(
            f"items cannot be read back from {without_password(output)}; read them with a tool of "
            "its own, or let crawls also write into a database: -o items.db"
        )
    return sink


def _job_dir(job: str | None) -> Path:
    """Some sinks keep what can be read there: the job's, which need not be named if it is alone."""
    if job:
        return default_job_dir(job)
    found = [path for path in DEFAULT_JOBS_DIR.glob("*") if path.is_dir()]
    return found[0] if len(found) == 1 else DEFAULT_JOBS_DIR


def _only_database(job: str | None) -> Path:
    """The items of the job that is meant, where nothing was said about where they go."""
    if job:
        path = default_job_dir(job) / DEFAULT_ITEMS
        if not path.exists():
            raise StoreMissingError(f"there is no {path}; {_elsewhere()}")
        return path
    found = sorted(DEFAULT_JOBS_DIR.glob(f"*/{DEFAULT_ITEMS}"))
    if not found:
        raise StoreMissingError(
            f"there is no {DEFAULT_ITEMS} of a job in {DEFAULT_JOBS_DIR.absolute()}; {_elsewhere()}"
        )
    if len(found) > 1:
        names = ", ".join(path.parent.name for path in found)
        raise ConfigError(f"there are several jobs here: {names}; name one with --job")
    return found[0]


def _elsewhere() -> str:
    return "go where you crawled, or name what the crawl was given with -o: weft items SINK"

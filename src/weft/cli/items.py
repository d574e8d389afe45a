"""`weft items`: read items back from where a crawl has put them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.itemformats import write_csv, write_json_lines, write_table
from weft.cli.output import warn
from weft.cli.when import parse_moment
from weft.clock import SystemClock
from weft.config import DEFAULT_JOBS_DIR, default_job_dir
from weft.engine.settings import DEFAULT_ITEMS
from weft.engine.target import project_sinks
from weft.errors import ConfigError, StoreMissingError
from weft.sinks import JsonLinesSink, Sink, SinkConfig, make_sink
from weft.sinks.conditions import Condition, parse_condition
from weft.sinks.outputs import Output, listed, read_outputs, without_secrets
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
            help="What the crawl was given with -o. Default: where the job has put its items.",
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
        found, name = _readable(sink, _job_dir(job)), job or ""
    else:
        found, name = _put_by(_job_with_items(job))
    chosen = _choose(found.read(Query(name, since_ms)), conditions)
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


def _job_with_items(job: str | None) -> Path:
    """The directory of the job that is meant, which tells where its items are."""
    if job:
        path = default_job_dir(job)
        if not _has_items(path):
            raise StoreMissingError(f"there is no {path / DEFAULT_ITEMS}; {_elsewhere()}")
        return path
    found = sorted(filter(_has_items, DEFAULT_JOBS_DIR.glob("*")))
    if not found:
        raise StoreMissingError(
            f"there is no {DEFAULT_ITEMS} of a job in {DEFAULT_JOBS_DIR.absolute()}; {_elsewhere()}"
        )
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ConfigError(f"there are several jobs here: {names}; name one with --job")
    return found[0]


def _has_items(job_dir: Path) -> bool:
    return (job_dir / DEFAULT_ITEMS).exists() or read_outputs(job_dir) is not None


def _elsewhere() -> str:
    return "go where you crawled, or name what the crawl was given with -o: weft items SINK"


# Where a job has put its items


def _put_by(job_dir: Path) -> tuple[ReadableSink, str]:
    """The sink of a job, and the job to ask it for; empty: it has the items of no other."""
    outputs = read_outputs(job_dir)
    if outputs is None:  # by an older Weft
        return _readable(str(job_dir / DEFAULT_ITEMS), job_dir), ""
    if not outputs.sinks:
        raise StoreMissingError(f"the job {outputs.job} keeps no items: its WEFT_SINKS is empty")
    if outputs.earlier:
        warn(f"Earlier items of this job are in {listed(outputs.earlier)}: weft items SINK")
    output = min(outputs.sinks, key=_needs_secret)  # all of them have all items
    address = _with_secret(output) if _needs_secret(output) else output.found_from(job_dir)
    found = _readable(address, job_dir)
    is_own = isinstance(found, JsonLinesSink) or (
        output.is_file and job_dir in Path(address).parents
    )
    return found, "" if is_own else outputs.job


def _needs_secret(output: Output) -> bool:
    """What goes to FTP and S3 is read from the job's directory."""
    return output.lacks_secret and not output.address.startswith(("ftp:", "s3:"))


def _with_secret(output: Output) -> str:
    """The whole address, as the project has it."""
    for address in project_sinks():
        if without_secrets(address, Path()) == output:
            return address
    example = output.address.replace("@", ":PASSWORD@", 1)
    raise ConfigError(
        f"the items are in {output.address}, whose password is not kept; name the whole address: "
        f"weft items '{example}'"
    )

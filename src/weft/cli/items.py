"""`weft items`: reads back items from where a crawl stored them."""

import asyncio
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Annotated

import typer

from weft.cli.itemformats import write_csv, write_json_lines, write_table
from weft.cli.output import warn
from weft.cli.when import parse_moment
from weft.clock import SystemClock
from weft.services.items import IS_UNIQUE, find_items, read_items
from weft.sinks.conditions import parse_condition
from weft.sinks.outputs import listed
from weft.sinks.readback import StoredItem

#: Items in a table, unless the user asks for more.
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
            help="The sink given to the crawl with -o. Default: where the job stored its items.",
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
            help="Only items whose fields match: price<10, author.name=Ann, title~bread "
            "(contains). Also != <= > >=. Can be repeated: all conditions must hold.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Only items of pages fetched since then: 2026-11-01, "
            "2026-11-01T12:00, 30m, 3h, 2d.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help=f"At most this many items. Default: {TABLE_ITEMS} in a table, otherwise all.",
            show_default=False,
        ),
    ] = None,
    is_unique: Annotated[
        bool,
        typer.Option(
            "--unique",
            help="Leave out articles that repeat an earlier one: those with a duplicate_of.",
        ),
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TABLE,
    has_all: Annotated[
        bool,
        typer.Option("--all", help="Add the key, job, page and time of each item, as _key, _job …"),
    ] = False,
) -> None:
    """Read back items from the sink where a crawl stored them.

        weft items --where 'price<10' --format csv > cheap.csv

    Works while the crawl is running.
    """
    conditions = [parse_condition(text) for text in where or []]
    if is_unique:
        conditions.append(IS_UNIQUE)
    since_ms = max(1, parse_moment(since, SystemClock().now_ms())) if since is not None else 0
    found = find_items(sink, job)
    if found.earlier:
        warn(f"Earlier items of this job are in {listed(found.earlier)}: weft items SINK")
    # A table reads one more, to see whether there are more.
    most = None if form is Format.TABLE else limit
    chosen = read_items(found, conditions, since_ms=since_ms, limit=most)
    asyncio.run(_write(chosen, form, limit or TABLE_ITEMS, has_all=has_all))


async def _write(
    chosen: AsyncIterator[StoredItem], form: Format, rows: int, *, has_all: bool
) -> None:
    match form:
        case Format.TABLE:
            await write_table(chosen, rows, has_all=has_all)
        case Format.JSONL:
            await write_json_lines(chosen, has_all=has_all)
        case Format.CSV:
            await write_csv(chosen, has_all=has_all)

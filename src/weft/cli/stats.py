"""`weft stats`: what a job has crawled, by day and hour."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from weft.cli.options import AsJson, JobName, StoreUrl
from weft.cli.output import results, say, show
from weft.services.frontiers import choose_home
from weft.services.statistics import Span, StatsPeriod, count_pages


def stats(
    job: JobName = None,
    store: StoreUrl = None,
    by: Annotated[Span, typer.Option(help="The period to add up.")] = Span.DAY,
    last: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Only the last N days or hours in which something was finished.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the pages, items and failures of a job by day or hour.

    Times are local. Works while the crawl is running. A page counts once, when it is finished, with
    its items.
    """
    asyncio.run(_show(job, store, by, last, as_json=as_json))


async def _show(
    job: str | None, store: str | None, by: Span, last: int | None, *, as_json: bool
) -> None:
    home = await choose_home(job, store)
    report = await count_pages(home, by, last)
    if as_json:
        results.print_json(msgspec.json.encode(report).decode())
    elif report.total is None:
        say(f"Nothing has been finished yet: {home}.")
    else:
        show(_table(report.periods, report.total, by))


def _table(periods: Sequence[StatsPeriod], total: StatsPeriod, by: Span) -> Table:
    table = Table(by.value, box=SIMPLE_HEAD)
    for name in ("pages", "items", "failed", "pages/s"):
        table.add_column(name, justify="right")
    for period in periods:
        table.add_row(_tell_start(period, by), *_tell_numbers(period))
    table.add_section()
    table.add_row("total", *_tell_numbers(total))
    return table


def _tell_start(period: StatsPeriod, by: Span) -> str:
    start = datetime.fromisoformat(period.start)
    offset = f"{start:%z}"
    form = "%Y-%m-%d %H:%M" if by is Span.HOUR else "%Y-%m-%d"
    return f"{start:{form}} UTC{offset[:3]}:{offset[3:5]}"


def _tell_numbers(period: StatsPeriod) -> list[str]:
    numbers = (period.pages, period.items, period.failed)
    return [*(f"{number:,}" for number in numbers), f"{period.pages_per_s:,.2f}"]
